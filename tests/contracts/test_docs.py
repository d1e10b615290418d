"""docs/contracts.md is true: its documents are valid, and its commands end as it says."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.command import ROOT, shardproof
from verifier.contracts.cases import check_document, is_contract

PAGE = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
DOCUMENTS = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
COMMANDS = re.findall(r"^shardproof (contract .*?) +# exit code (\d)$", PAGE, re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if is_contract(one)])
def test_documents_are_valid(document: object) -> None:
    checked = check_document(document, "docs")
    assert (checked.verdict, checked.broken) == ("valid", ())


def test_every_kind_of_document_is_shown() -> None:
    kinds = {check_document(one, "docs").kind for one in DOCUMENTS if is_contract(one)}
    assert kinds == {"contract", "cut", "cuts", "bindings", "portable state"}


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_commands_end_as_the_page_says(command: str, code: str) -> None:
    assert shardproof(*command.split()).code == int(code)


def test_commands_of_every_kind_are_shown() -> None:
    assert {command.split()[1] for command, _ in COMMANDS} == {"check", "induce", "align", "simulate"}
