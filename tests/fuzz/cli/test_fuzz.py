"""``shardproof fuzz`` as a person uses it: short campaigns, one case, what goes wrong."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fuzz import registry
from fuzz.campaign import Progress
from fuzz.cli.fuzz import STORE, command
from fuzz.cli.progress import described
from fuzz.outcomes import SILENT, Tally
from tests.cli.command import shardproof as as_its_entry_point
from verifier.cli.main import shardproof


@pytest.fixture(autouse=True)
def small_targets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Targets of the tests beside the real ones; every test in a folder of its own."""
    for name in ("gullible", "crashing"):
        monkeypatch.setitem(registry._TARGETS, name, f"tests.fuzz.targets_for_tests:{name.title()}")
    monkeypatch.chdir(tmp_path)


def fuzz(*arguments: str) -> Result:
    return CliRunner().invoke(shardproof, ["fuzz", *arguments])


def test_our_own_engines_have_nothing_against_them() -> None:
    result = fuzz("--target", "prover", "--cases", "42")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].endswith("42 cases, 0 disagreements")


def test_what_is_found_is_shown_and_exits_1() -> None:
    result = fuzz("--target", "gullible", "--cases", "60", "--seed", "3")
    assert result.exit_code == 1
    assert "silently wrong: " in result.stdout
    assert "takes a map with" in result.stdout


def test_a_crash_is_our_own_fault_and_exits_70() -> None:
    result = fuzz("--target", "crashing", "--cases", "30")
    assert result.exit_code == 70
    assert "disagreement: crash ZeroDivisionError" in result.stdout


def test_the_report_is_the_same_whatever_the_number_of_processes() -> None:
    for jobs in ("1", "2"):
        arguments = ("--cases", "900", "--seed", "1", "--seed", "2", "--store", f"{jobs}.sqlite")
        assert fuzz("--target", "gullible", *arguments, "-j", jobs, "--report", f"{jobs}.md").exit_code == 1
    assert Path("1.json").read_bytes() == Path("2.json").read_bytes()
    one, two = (Path(f"{jobs}.md").read_text("utf-8").splitlines() for jobs in (1, 2))
    assert one[:-1] == two[:-1]
    assert "shardproof fuzz --target gullible --cases 900 --seed 1 --seed 2" in one[2]


def test_the_second_run_finds_everything_done() -> None:
    first = fuzz("--target", "gullible", "--cases", "50")
    second = fuzz("--target", "gullible", "--cases", "50")
    assert Path(STORE).is_file()
    assert first.stdout == second.stdout


def test_one_case_shows_its_maps_and_what_came_of_it() -> None:
    fuzz("--target", "gullible", "--cases", "60", "--report", "r.md")
    found = json.loads(Path("r.json").read_text("ascii"))["findings"][0]
    result = fuzz("--target", "gullible", "--case", found["case"])
    assert result.exit_code == 1
    assert f"case {found['case']}: layout {found['layout']}, mutant {found['mutant']}" in result.stdout
    assert json.dumps(found["map"], sort_keys=True) in result.stdout
    assert f"{SILENT}: {found['key']}" in result.stdout


def test_one_case_of_ours_has_every_sample_taken() -> None:
    result = fuzz("--target", "prover", "--case", "1:30")
    assert result.exit_code == 0
    assert "engine / smt / " in result.stdout
    assert "oracle / " in result.stdout
    assert "drawing / " in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "nobody", "--cases", "1"), "no target 'nobody'; there are prover"),
        (("--target", "prover"), "say how long: --cases N or --time T"),
        (("--target", "prover", "--layouts", "rows", "--cases", "1"), "no layout 'rows'"),
        (("--target", "prover", "--mutants", "shift", "--cases", "1"), "no mutant 'shift'"),
        (("--target", "prover", "--time", "soon"), "'soon' is no duration such as 90s"),
        (("--target", "prover", "--case", "17"), "'17' is no case such as 1:17"),
        (("--target", "prover", "--cases", "1", "--store", "no/such/folder.sqlite"), "folder.sqlite"),
        (("--target", "prover", "--cases", "0"), "0 is not in the range"),
        (("--target", "nowhere.py:f", "--cases", "1"), "nowhere.py"),
        (("--target", "no.such.module:f", "--cases", "1"), "no.such.module"),
    ],
)
def test_what_cannot_run_says_why(arguments: tuple[str, ...], words: str) -> None:
    ran = as_its_entry_point("fuzz", *arguments)
    assert ran.code == 2
    assert words in ran.err


def test_a_store_that_is_none_is_left_alone() -> None:
    Path("notes.txt").write_text("dear diary, " * 100)
    result = fuzz("--target", "gullible", "--cases", "5", "--store", "notes.txt")
    assert "notes.txt" in result.output
    assert Path("notes.txt").read_text().startswith("dear diary")


def test_nothing_in_the_time_is_nothing_checked() -> None:
    assert fuzz("--target", "gullible", "--time", "0s").exit_code == 4


def test_names_are_listed() -> None:
    result = fuzz("--list")
    assert result.exit_code == 0
    for name in ("prover", "uneven-replicas", "shift-source", "path/to/file.py:FUNCTION"):
        assert name in result.stdout


def test_the_help_has_examples_that_parse() -> None:
    text = fuzz("--help").stdout
    examples = [line.strip() for line in text.splitlines() if line.strip().startswith("shardproof fuzz")]
    assert len(examples) >= 4
    for example in examples:
        command.make_context("fuzz", shlex.split(example, comments=True)[2:])


def test_progress_says_rate_and_counts() -> None:
    tally = Tally()
    tally.count("map", "right", times=1904)
    tally.count("outcome", "rebuild", "still exact", times=7)
    tally.count("finding", SILENT, "key", times=3)
    words = described(Progress(tally, cases=420, before=0), 2.0)
    assert words == "210/s  right 1,904  silently wrong 3  still exact 7"
    assert described(Progress(Tally(), cases=420, before=420), 2.0) == "-/s"


def test_without_torch_our_engines_are_fuzzed_and_a_converter_says_what_to_install() -> None:
    Path("mine.py").write_text("def check(entry):\n    return True\n")
    script = """
import sys
sys.modules["torch"] = None
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else found(name, *rest)
from verifier.cli.main import main
main()
"""

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", script, "fuzz", *arguments, "--cases", "21"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    ours, theirs = run("--target", "prover"), run("--target", "mine.py:check")
    assert ours.returncode == 0, ours.stdout + ours.stderr
    assert ours.stdout.splitlines()[-1].endswith("21 cases, 0 disagreements")
    assert theirs.returncode == 2
    assert "pip install 'shardproof[fuzz]'" in theirs.stderr
