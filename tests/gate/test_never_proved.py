"""Constructors that are wrong at rare sizes and look at more than their sizes: none of them is ever proved.

Each was proved once, or its kind was, before code was watched while it runs on symbolic sizes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command import CORPUS
from tests.gate.command import gate
from verifier import check_map
from verifier.gate.loading import load
from verifier.gate.returned import returned_map

FILES = sorted(path for path in (CORPUS / "constructors").glob("*.py") if path.stem != "halves")
_HEADER = re.compile(r"# (domain|reference|wrong at): (.*)")


def header(path: Path) -> dict[str, str]:
    return dict(_HEADER.findall(path.read_text(encoding="utf-8")))


def test_there_are_many() -> None:
    assert len(FILES) >= 74


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_wrong_and_not_proved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    stated = header(path)
    if re.search("numpy|torch", path.read_text(encoding="utf-8")):
        pytest.importorskip("torch" if "torch" in path.read_text(encoding="utf-8") else "numpy")
    arguments = ["--reference", f"{path.name}:{stated['reference']}"] if "reference" in stated else []
    assert is_wrong(path, stated)
    ran = gate(f"{path.name}:ctor", "--over", stated["domain"], *arguments)
    assert ran.code in (1, 3), ran.out


def is_wrong(path: Path, stated: dict[str, str]) -> bool:
    """At the sizes that the file states, with plain numbers."""
    sizes = eval(f"dict({stated['wrong at']})")
    try:
        made = load(f"{path.name}:ctor").call(**sizes)
    except Exception:  # its reference makes a map there
        return "reference" in stated
    return check_map(returned_map(made).shard_map).subjects[0].verdict == "refuted"
