"""A scratch folder with constructors in it, as the current directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gate import plans


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``plans.py`` with a wrong constructor, ``right.py`` with the repaired one, ``forms.py`` with many."""
    for name, text in (
        ("plans.py", plans.FULL_STRIDE),
        ("right.py", plans.CUT_COLUMNS),
        ("forms.py", plans.FORMS),
    ):
        (tmp_path / name).write_text(text, encoding="ascii")
    monkeypatch.chdir(tmp_path)
    return tmp_path
