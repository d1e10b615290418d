"""The printed test runs as it is: it fails on the wrong constructor and passes on the repaired one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.gate.judged import gated
from tests.gate.plans import CUT_COLUMNS
from verifier import Expectation, Sizes, fixed, size
from verifier.audit.check import Settings
from verifier.gate.declared import Declaration, declared_by
from verifier.gate.gating import gate
from verifier.gate.loading import Loaded, load
from verifier.gate.written_test import test_name as name_of_test
from verifier.layouts import Cut, Whole

DOMAIN = Sizes(rows=size(), columns=size(), ranks=[3])


def run(folder: Path, text: str, name: str = "test_it.py") -> subprocess.CompletedProcess[str]:
    """The test, in a process of its own, in the scratch folder."""
    (folder / name).write_text(text, encoding="ascii")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("where", ["plans.py:cut_columns", "plans_of_a_scratch:cut_columns"])
def test_it_fails_until_the_constructor_is_right(scratch: Path, where: str) -> None:
    if not where.startswith("plans.py"):
        (scratch / "plans_of_a_scratch.py").write_text((scratch / "plans.py").read_text())
    text = gated(where, DOMAIN).test
    assert text is not None
    compile(text, "test", "exec")
    wrong = run(scratch, text)
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert "1 failed" in wrong.stdout
    assert "SM101" in wrong.stdout
    (scratch / place_file(where)).write_text(CUT_COLUMNS)
    right = run(scratch, text)
    assert right.returncode == 0, right.stdout + right.stderr
    assert "1 passed" in right.stdout


def place_file(where: str) -> str:
    source = where.partition(":")[0]
    return source if source.endswith(".py") else f"{source}.py"


def test_it_finds_its_file_wherever_pytest_is_started(scratch: Path, tmp_path: Path) -> None:
    text = gated("plans.py:cut_columns", DOMAIN).test
    assert text is not None
    (scratch / "tests" / "deep").mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = run(elsewhere, text, str(scratch / "tests" / "deep" / "test_it.py"))
    assert (ran.returncode, "SM101" in ran.stdout) == (1, True), ran.stdout


def test_a_reference_stands_in_it(scratch: Path) -> None:
    text = gated("forms.py:exchanged", Sizes(rows=size()), load("forms.py:halves")).test
    assert text is not None
    assert "reference=reference(**SIZES)" in text
    assert "SM50" in run(scratch, text).stdout
    repaired = (
        (scratch / "forms.py")
        .read_text()
        .replace('0: made["ranks"][1], 1: made["ranks"][0]', '**made["ranks"]')
    )
    (scratch / "forms.py").write_text(repaired)
    assert run(scratch, text).returncode == 0


def test_a_reference_named_by_the_decorator_is_found_again(scratch: Path) -> None:
    (scratch / "decorated.py").write_text(
        "from verifier import Sizes, constructor, size\n"
        "from verifier.layouts import split\n\n"
        "def reference(rows): return split((rows,), 2)\n\n"
        "@constructor(over=Sizes(rows=size()), reference=reference)\n"
        "def mine(rows): return split((rows,), 2, rule='floor_last')\n"
    )
    loaded = load("decorated.py:mine")
    declaration = declared_by(loaded.call)
    assert declaration is not None
    text = gate(loaded, declaration, Settings()).test
    assert text is not None
    assert "reference = load_beside('decorated.py:reference', __file__).call" in text
    assert run(scratch, text).returncode == 1


def test_arguments_that_are_dataclasses_are_imported(scratch: Path) -> None:
    (scratch / "wraps.py").write_text(
        "from verifier.layouts import segmented\n\n"
        "def wraps(rows, segments):\n"
        "    made = segmented((rows,), segments, 2)\n"
        "    return made if rows < 5 else None\n"
    )
    over = Sizes(rows=size(least=5), segments=fixed([Cut([1, 2]), Whole(2)]), where=lambda rows: rows == 5)
    text = gated("wraps.py:wraps", over).test
    assert text is not None
    assert "from verifier.layouts.fused import Cut" in text
    assert "segments=[Cut(widths=[1, 2]), Whole(size=2)]" in text
    assert run(scratch, text).returncode == 1


def test_a_waiver_stands_in_it(scratch: Path) -> None:
    (scratch / "beyond.py").write_text(
        "from forms import entry\n\n"
        "def beyond(rows):\n"
        "    made = entry(rows)\n"
        "    made['ranks'][0]['pieces'][0]['dest'] = [1, [1]]\n"
        "    return made\n"
    )
    declaration = Declaration(Sizes(rows=size()), None, Expectation(cover=False))
    text = gate(load("beyond.py:beyond"), declaration, Settings()).test
    assert text is not None
    assert "expectation=replace(made.expectation, cover=False)" in text
    assert run(scratch, text).returncode == 1


def test_arguments_that_cannot_be_written_leave_no_test(scratch: Path) -> None:
    (scratch / "odd.py").write_text("def odd(rows, stand): return None\n")
    found = gated("odd.py:odd", Sizes(rows=size(), stand=object()))
    assert found.subject.verdict == "refuted"
    assert found.test is None
    assert "<object>" in found.subject.findings[0].headline
    assert not found.subject.findings[0].helps


def nested() -> Callable[..., object]:
    def inside(rows: int) -> None:
        """No map."""

    return inside


def no_map(rows: int, ranks: int) -> None:
    """No map."""


@pytest.mark.parametrize(
    ("where", "constructor"),
    [
        ("test_written_test:nested.<locals>.inside", nested()),
        ("test_written_test:<lambda>", lambda rows: None),
        ("test_written_test:no_map", partial(no_map, ranks=2)),
    ],
    ids=["nested", "lambda", "partial"],
)
def test_what_no_import_leads_to_has_no_test(where: str, constructor: Callable[..., object]) -> None:
    loaded = Loaded(f"tests.gate.{where}", constructor, frozenset({"tests"}), "", Path.cwd())
    found = gate(loaded, Declaration(Sizes(rows=size())), Settings())
    assert found.subject.verdict == "refuted"
    assert found.test is None
    (finding,) = found.subject.findings
    assert finding.witness["test"] is None
    assert not any("test below" in text for text in finding.helps)
    assert finding.place is not None
    assert finding.place.file == "tests/gate/test_written_test.py"


def test_names_of_files() -> None:
    assert name_of_test("a/b/plans.py:cut.rows") == "test_gate_plans_cut_rows.py"
    assert name_of_test("pkg.plans:cut") == "test_gate_pkg_plans_cut.py"
