"""The trusted base stays small enough to be read at a sitting."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "verifier/certificates"
CHECKERS = ("check.py", "check_boxes.py", "check_sizes.py")


@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_has_fewer_than_300_lines(name: str) -> None:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) < 300


@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_imports_the_standard_library_only(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert "verifier" not in text
    imported: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {one.name for one in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert {one.partition(".")[0] for one in imported} <= sys.stdlib_module_names
