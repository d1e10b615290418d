"""Functions by their place; what is not there is said by name."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.gate.command import gate
from verifier.gate.loading import FunctionError, NotCallableError, load, place_of


def test_a_module_and_a_file(scratch: Path) -> None:
    by_file, by_module = load("plans.py:cut_columns"), load("verifier.layouts:qkv")
    assert by_file.call.__name__ == "cut_columns"
    assert by_module.packages == {"verifier"}
    assert by_file.folder == scratch
    assert load("plans.py:cut_columns") is by_file
    assert str(scratch) not in sys.path


def test_the_same_relative_path_elsewhere_is_another_file(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = load("plans.py:cut_columns")
    (scratch / "inner").mkdir()
    (scratch / "inner" / "plans.py").write_text("def cut_columns(): return 5\n")
    monkeypatch.chdir(scratch / "inner")
    assert load("plans.py:cut_columns").call() == 5
    assert load("plans.py:cut_columns").call is not here.call


def test_an_exception_belongs_to_the_package_of_its_class_or_of_a_base(scratch: Path) -> None:
    (scratch / "own.py").write_text("class Mine(Exception): pass\nclass Other(Mine): pass\ndef f(): pass\n")
    loaded = load("own.py:f")
    other = load("own.py:Other").call
    assert loaded.owns(other)
    assert not loaded.owns(ValueError)


@pytest.mark.parametrize("where", ["f", ":f", "m:", ""])
def test_what_names_no_function(where: str) -> None:
    with pytest.raises(FunctionError, match="names no function; write module:function"):
        place_of(where)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("plans.py:cut_rows", "plans.py has no 'cut_rows'; its functions are cut_columns"),
        ("classes.py:f", "classes.py has no 'f'; its classes are Adam$"),
        ("absent.py:f", "there is no file absent.py"),
        ("no_module_of_ours:f", "cannot be imported .*No module named"),
        ("leaving.py:f", "cannot be imported .leaving.py:1: raise SystemExit.0.: SystemExit"),
    ],
)
def test_what_is_not_there(scratch: Path, where: str, words: str) -> None:
    (scratch / "leaving.py").write_text("raise SystemExit(0)\n")
    (scratch / "classes.py").write_text("from pathlib import Path\n\n\nclass Adam:\n    pass\n")
    with pytest.raises(FunctionError, match=words):
        load(where)


@pytest.mark.parametrize(
    "raised", ["SystemExit(0)", "KeyboardInterrupt", "Ended('over')", "GeneratorExit('x')"]
)
@pytest.mark.parametrize("by_file", [True, False])
def test_a_module_that_ends_programs_is_only_not_loaded(
    scratch: Path, raised: str, by_file: bool, request: pytest.FixtureRequest
) -> None:
    name = f"ending_{abs(hash(request.node.name))}"
    (scratch / f"{name}.py").write_text(f"class Ended(BaseException): pass\nraise {raised}\n")
    with pytest.raises(FunctionError, match="cannot be imported"):
        load(f"{name}{'.py' if by_file else ''}:f")
    assert name not in sys.modules
    ran = gate(f"{name}.py:f", "right.py:cut_columns", "--over", "rows=size, columns=size, ranks=2")
    assert ran.code == 2
    assert "1\n    unreadable" in ran.out


@pytest.mark.parametrize("where", ["while_loading.py:f", "while_running.py:f"])
def test_ctrl_c_stops_everything(scratch: Path, where: str) -> None:
    stop = "signal.raise_signal(signal.SIGINT)"
    (scratch / "while_loading.py").write_text(f"import signal\n{stop}\n")
    (scratch / "while_running.py").write_text(f"import signal\ndef f(rows): {stop}\n")
    # A shell starts what runs in the background with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ran = gate(where, "right.py:cut_columns", "--over", "rows=size")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (ran.code, ran.out, ran.err) == (130, "", "\ninterrupted\n")


def test_a_module_may_refuse_to_give_a_name(scratch: Path) -> None:
    (scratch / "lazy.py").write_text("def __getattr__(name): raise OSError('no network')\n")
    with pytest.raises(FunctionError, match=r"lazy.py does not give 'f' \(OSError: no network\)"):
        load("lazy.py:f")


def test_what_cannot_be_called(scratch: Path) -> None:
    (scratch / "numbers_only.py").write_text("NUMBER = 4\n")
    with pytest.raises(NotCallableError, match=r"numbers_only.py:NUMBER is a int, no function"):
        load("numbers_only.py:NUMBER")


def test_a_file_that_cannot_be_imported_is_named_with_its_line(scratch: Path) -> None:
    (scratch / "bad.py").write_text("from verifier import size\n\nX = size(1, 2)\ndef f(): pass\n")
    (scratch / "worse.py").write_text("import bad\ndef f(): pass\n")
    (scratch / "ours.py").write_text("from verifier import size\nX = size('one')\ndef f(): pass\n")
    (scratch / "torn.py").write_text("def f(:\n")
    line = r"cannot be imported \(bad.py:3: X = size\(1, 2\): TypeError: size\(\) takes"
    for where in ("bad.py:f", "worse.py:f", "worse:f"):
        with pytest.raises(FunctionError, match=line):
            load(where)
    with pytest.raises(FunctionError, match=r"ours.py:2: X = size\('one'\): DomainError: a size from 'one'"):
        load("ours.py:f")
    with pytest.raises(FunctionError, match=r"SyntaxError: .*torn.py, line 1"):
        load("torn.py:f")


def test_what_a_file_imports_is_not_what_it_has(scratch: Path) -> None:
    (scratch / "own.py").write_text(
        "from collections import OrderedDict\nfrom verifier import constructor, size\ndef cut_rows(): pass\n"
    )
    with pytest.raises(FunctionError, match=r"no 'cut_row'; its functions are cut_rows$"):
        load("own.py:cut_row")
