"""An audit of a simple map pays neither for torch nor for a solver, whatever the verdict."""

from pathlib import Path

import pytest

from tests.bench.cold import HEAVY, modules_after_audit, small_maps


@pytest.mark.parametrize(("position", "exit_code"), [(0, 0), (1, 1)], ids=["proved", "refuted"])
def test_audit_imports_nothing_heavy(tmp_path: Path, position: int, exit_code: int) -> None:
    assert {"torch", "z3", "numpy", "rich"} <= set(HEAVY)
    path = small_maps(tmp_path)[position]
    assert modules_after_audit(path) == (exit_code, [])
