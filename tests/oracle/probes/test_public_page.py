"""docs/public-bugs.md is true: each of its commands gives its code."""

from __future__ import annotations

import re
import shlex

import pytest
import torch

from tests.cli.command import ROOT, shardproof
from verifier.diagnostics.codes import find_code

PAGE = (ROOT / "docs" / "public-bugs.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| .* \| .* \| `(contract .*)` \| ([A-Z]{2}[0-9]{3}) \|$", PAGE, re.MULTILINE)


def test_every_row_is_read() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    without_command = [line for line in lines if line.endswith("| note |")]
    assert len(ROWS) == len(lines) - 1 - len(without_command)  # one is the head
    assert all(find_code(code) is not None for _, code in ROWS)


@pytest.mark.skipif(
    not torch.__version__.startswith("2.13."),
    reason=f"these defects were seen in torch 2.13, this is {torch.__version__}",
)
@pytest.mark.parametrize(("command", "code"), ROWS)
def test_a_command_gives_its_code(command: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    ran = shardproof(*shlex.split(command), "--format", "concise")
    assert (ran.code, ran.err) == (1, "")
    assert f"error[{code}]" in ran.out
