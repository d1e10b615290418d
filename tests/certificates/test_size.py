"""The trusted base stays small enough to be read at a sitting."""

from __future__ import annotations

from pathlib import Path

CHECKER = Path(__file__).resolve().parents[2] / "verifier/certificates/check.py"


def test_the_checker_has_fewer_than_300_lines() -> None:
    lines = CHECKER.read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) < 300


def test_the_checker_imports_the_standard_library_only() -> None:
    text = CHECKER.read_text(encoding="utf-8")
    assert "verifier" not in text
    assert "import numpy" not in text
