"""The report on the installed DeepSpeed, on a small share of its cases."""

import re
from pathlib import Path

import pytest

from fuzz.cases import case_at
from fuzz.consumers.deepspeed_release import NotInstalledError, release
from fuzz.consumers.dossier import PARTS, exit_status, main, report
from fuzz.outcomes import DISAGREEMENT, Tally, finding
from verifier.diagnostics.report import EXIT_PROVED, EXIT_TOOL_BUG, EXIT_UNDECIDED

try:
    release("affine")
except NotInstalledError as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("dossier")
    paths = [folder / name for name in ("one.md", "two.md")]
    for jobs, path in zip("12", paths, strict=True):
        store = str(path.with_suffix(".sqlite"))
        arguments = ["--share", "0.004", "--size", "40", "-j", jobs, "--store", store]
        assert main([*arguments, "--report", str(path)]) == 0
    one, two = (path.read_text("utf-8") for path in paths)
    assert one.replace("one.md", "") == two.replace("two.md", "")
    return one


def test_every_part_is_there_with_the_command_that_runs_it_alone(written: str) -> None:
    for part in PARTS:
        assert f"## {part.title}" in written
        assert f"--layouts {part.layouts} --mutants {part.mutants} --size 40" in written


def test_what_is_silently_wrong_is_flagged_and_shown(written: str) -> None:
    assert re.search(r"operations silently wrong; shardproof refutes all of the \d+ wrong maps", written)
    examples = written.partition("## Examples")[2]
    assert examples.count("- **silently wrong**, ") >= 3
    shown = [example for example in examples.split("\n- ") if "silently wrong" in example]
    assert all("  clean `{" in example for example in shown if "  map `{" in example)


def test_the_command_of_the_report_can_be_repeated(written: str, tmp_path: Path) -> None:
    command = written.splitlines()[2]
    assert command.startswith(
        "Command: `python -m fuzz.consumers.dossier --seed 1 --size 40 --share 0.004 --report "
    )


@pytest.mark.parametrize(
    ("answers", "words", "status"),
    [
        ({"refuted": 3}, "shardproof refutes all of the 3 wrong maps behind them", EXIT_PROVED),
        ({"refuted": 2, "undecided": 1}, "refutes 2 (NOT all) of the 3 wrong maps", EXIT_UNDECIDED),
    ],
)
def test_what_is_undecided_is_not_called_refuted(answers: dict[str, int], words: str, status: int) -> None:
    total = Tally()
    for word, times in answers.items():
        total.count("prover", "with reference", word, times=times)
    assert words in report("command", [(PARTS[0], total)], 1, 40)
    assert exit_status(total) == status


def test_a_contradiction_is_a_bug_of_ours() -> None:
    case = case_at(PARTS[0].target(40).selection, 1, 0)
    total = Tally()
    total.note(finding(case, DISAGREEMENT, "key", "words"))
    assert exit_status(total) == EXIT_TOOL_BUG
