"""``shardproof gate`` as people run it: what it prints, byte for byte, and its exit codes."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.command import shardproof
from tests.conftest import Golden
from tests.gate.command import gate

COLUMNS = ("--over", "rows=size, columns=size, ranks=1|2|3")
ROWS = ("--over", "rows=size")


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("proved", ("right.py:cut_columns", *COLUMNS), 0),
        ("refuted", ("plans.py:cut_columns", *COLUMNS), 1),
        ("refuted-concise", ("plans.py:cut_columns", *COLUMNS, "--format", "concise"), 1),
        ("reference", ("forms.py:exchanged", *ROWS, "--reference", "forms.py:halves"), 1),
        ("raises-unlike-reference", ("forms.py:careless", *ROWS, "--reference", "forms.py:as_dict"), 1),
        ("part", ("forms.py:row_by_row", *ROWS), 3),
        ("never", ("forms.py:never", *ROWS), 3),
        ("raises", ("forms.py:careless", *ROWS, "-v"), 0),
        ("refusals", ("forms.py:at_most_ten", *ROWS, "-v"), 0),
        ("no-map", ("forms.py:shorter", *ROWS), 1),
        ("several", ("plans.py:cut_columns", "right.py:cut_columns", *COLUMNS, "--format", "concise"), 1),
        ("hostile", ("forms.py:hostile", "--over", "widths=sizes(2)", "--arguments", "hostile", "-v"), 1),
    ],
)
def test_messages(scratch: Path, golden: Golden, name: str, arguments: tuple[str, ...], code: int) -> None:
    ran = gate(*arguments)
    assert ran.code == code, ran.err
    assert "concise" in arguments or all(len(line) <= 100 for line in ran.out.splitlines())
    golden(f"{name}.txt", ran.out)
    assert gate(*arguments).out == ran.out


def test_the_json_form_holds_the_sizes_the_test_and_the_fault_inside(scratch: Path) -> None:
    ran = gate("plans.py:cut_columns", *COLUMNS, "--format", "json")
    (subject,) = json.loads(ran.out)["subjects"]
    assert (subject["kind"], subject["verdict"]) == ("constructor", "refuted")
    (finding,) = subject["findings"]
    assert finding["witness"]["sizes"] == {"rows": 2, "columns": 7, "ranks": 3}
    assert finding["witness"]["test"].startswith('"""cut_columns fails at rows=2')
    assert finding["consequences"][0] == "SM101"
    assert finding["place"] == {"file": "plans.py", "pointer": "", "line": 4, "column": 5}


def test_tests_are_written(scratch: Path) -> None:
    ran = gate("plans.py:cut_columns", *COLUMNS, "--write-tests", "out/inner")
    assert ran.code == 1
    assert "wrote 1 test to out/inner" in ran.err
    written = (scratch / "out" / "inner" / "test_gate_plans_cut_columns.py").read_text()
    assert written in ran.out
    ran = gate("right.py:cut_columns", *COLUMNS, "--write-tests", "none")
    assert not (scratch / "none").exists()
    (scratch / "file").write_text("")
    assert gate("plans.py:cut_columns", *COLUMNS, "--write-tests", "file/inner").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("right.py:cut_columns",), "right.py:cut_columns has no domain"),
        (("right.py:cut_rows", *COLUMNS), "right.py has no 'cut_rows'"),
        (("right.py", *COLUMNS), "names no function"),
        (("right.py:cut_columns", *ROWS), "takes rows, columns, ranks, but its domain names rows"),
        (("right.py:cut_columns", "--over", "rows=sise"), "--over, column 6: sise is no value"),
        (
            ("right.py:cut_columns", *COLUMNS, "--where", "rows.x"),
            "--where, column 1: 'rows.x' is not allowed",
        ),
        (("right.py:cut_columns", *COLUMNS, "--where", "absent > 1"), "--over: where asks for absent"),
        (("right.py:cut_columns", "--where", "rows > 1"), "give both"),
        (("right.py:cut_columns", *COLUMNS, "--where", "rows < 0"), "admits no sizes at all"),
        (("right.py:cut_columns", *COLUMNS, "--reference", "absent.py:f"), "there is no file absent.py"),
        (("right.py:cut_columns", "--over", "rows=size, columns=sizes(nobody), ranks=1"), "number of sizes"),
        (("forms.py:leaves", *ROWS), "calls sys.exit(0)"),
        ((), "name a constructor, or give its domain"),
    ],
)
def test_what_could_not_run(scratch: Path, arguments: tuple[str, ...], words: str) -> None:
    ran = gate(*arguments)
    assert ran.code == 2
    said = ran.out + ran.err
    assert words in " ".join(said.split())
    assert (ran.out == "") != (ran.err == "")  # said once: of one function in the report, else as an error
    assert ("error[SM606] not-gated" in said) == bool(ran.out)


@pytest.mark.parametrize("places", [("plans.py:absent",), ("plans.py:absent", "plans.py:cut_columns")])
def test_one_that_cannot_be_gated_hides_no_other_and_is_in_every_format(
    scratch: Path, places: tuple[str, ...]
) -> None:
    files = {form: f"out.{form}" for form in ("json", "sarif", "junit", "github")}
    options = [f"--{form}-output={file}" for form, file in files.items()]
    ran = gate(*places, *COLUMNS, "--format", "concise", *options)
    assert ran.code == 2
    assert ("error[SM601]" in ran.out) == (len(places) > 1)
    assert "plans.py: error[SM606] plans.py:absent: plans.py has no 'absent'" in ran.out
    made = {form: (scratch / file).read_text() for form, file in files.items()}
    assert json.loads(made["json"])["subjects"][0]["verdict"] == "unreadable"
    (run,) = json.loads(made["sarif"])["runs"]
    (invocation,) = run["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (2, False)
    told = [one for one in invocation["toolExecutionNotifications"] if one["level"] == "error"]
    assert [one["descriptor"]["id"] for one in told] == ["SM606"]
    assert [one["ruleId"] for one in run["results"]] == ["SM601"] * (len(places) - 1)
    suite = ElementTree.fromstring(made["junit"])[0]
    assert (suite.get("tests"), suite.get("errors")) == (str(len(places)), "1")
    assert suite.find("properties/property[@name='exit-code']").get("value") == "2"  # type: ignore[union-attr]
    assert made["github"].count("title=SM606 not-gated") == 1
    assert "exit code 2" in made["github"]
    assert shardproof("render", "out.json", "--format", "sarif").code == 2


def test_bad_arguments_need_a_system_that_can_fork(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("right.py:cut_columns", *COLUMNS, "--arguments", "hostile")
    with monkeypatch.context() as windows:
        windows.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
        ran = gate(*arguments)
    monkeypatch.setattr(sys, "platform", "darwin")
    mac = gate(*arguments)
    for one in (ran, mac):
        assert (one.code, one.out) == (2, "")
        assert "run --arguments hostile on Linux" in " ".join(one.err.split())
    assert "which darwin does not offer" in " ".join(mac.err.split())


def test_all_constructors_of_pyproject(scratch: Path) -> None:
    (scratch / "pyproject.toml").write_text(
        "[tool.shardproof.gate]\n"
        '"right.py:cut_columns" = {over = {rows = "size", columns = "size", ranks = [1, 2, 4]}}\n'
        '"forms.py:exchanged" = {over = {rows = "size"}, where = "rows % 2 == 0", '
        'reference = "forms.py:halves"}\n'
    )
    ran = gate("--format", "concise")
    assert ran.code == 1
    assert "exchanged makes a wrong map at rows=2" in ran.out
    assert "2 constructors" in ran.out
    assert gate("right.py:cut_columns").code == 0


def test_a_decorated_constructor_needs_no_options(scratch: Path) -> None:
    (scratch / "decorated.py").write_text(
        "from verifier import Sizes, constructor, size\n"
        "from right import cut_columns\n\n"
        "@constructor(over=Sizes(rows=size(), columns=size(), ranks=[1, 2, 4]), reference=cut_columns)\n"
        "def mine(rows, columns, ranks): return cut_columns(rows, columns, ranks)\n"
    )
    assert gate("decorated.py:mine").code == 0


def test_what_a_constructor_prints_is_no_result(scratch: Path) -> None:
    ran = gate("forms.py:chatty", *ROWS)
    assert "building" not in ran.out
    assert "building" in ran.err


def test_help_has_examples() -> None:
    ran = gate("--help")
    assert ran.code == 0
    assert "shardproof gate plans.py:cut_rows --over" in ran.out


def test_other_hashes_the_same_bytes(scratch: Path) -> None:
    command = (
        "from verifier.cli import main; main._COMMANDS['gate'] = 'verifier.cli.gate'; import sys; "
        "sys.argv = ['shardproof', 'gate', 'plans.py:cut_columns', 'right.py:cut_columns', '--over', "
        "'rows=size, columns=size, ranks=2|3', '--format', 'json', '--arguments', 'hostile']; main.main()"
    )
    outs = {
        subprocess.run(
            [sys.executable, "-c", command], env={"PYTHONHASHSEED": seed}, capture_output=True, cwd=scratch
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outs) == 1
    assert b'"refuted"' in outs.pop()
