"""Corpus cases as tests: which files are, when, and what a failure shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof

pytest_plugins = ["pytester"]

RIGHT = "four-block-fused-qkv-tp2"
WRONG = "dest-collision-columns"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite with a corpus of two cases, a map that states no answer, and a test file."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    cases = pytester.mkdir("cases")
    (cases / "deeper").mkdir()
    for name, folder in ((RIGHT, cases), (WRONG, cases / "deeper")):
        (folder / f"{name}.json").write_text((CORPUS / "maps" / f"{name}.json").read_text())
    (cases / "manifest.json").write_text('{"logical_shape": []}')
    pytester.mkdir("tests").joinpath("test_plain.py").write_text("def test_plain(): pass\n")
    return pytester


def ini(suite: pytest.Pytester, *lines: str) -> None:
    suite.makeini("\n".join(["[pytest]", *lines]))


def ran(suite: pytest.Pytester, *arguments: str | Path) -> pytest.RunResult:
    return suite.runpytest_inprocess("-p", "no:cacheprovider", *arguments)


def spoil(suite: pytest.Pytester, verdict: str, *codes: str) -> Path:
    """Let the wrong map state another answer."""
    path = suite.path / "cases" / "deeper" / f"{WRONG}.json"
    document = json.loads(path.read_text())
    document["expect"] = {"verdict": verdict, "codes": list(codes)}
    path.write_text(json.dumps(document))
    return path


def test_nothing_is_collected_unless_the_option_is_set(suite: pytest.Pytester) -> None:
    ini(suite)
    ran(suite).assert_outcomes(passed=1)
    ran(suite, "cases").assert_outcomes()


def test_every_file_that_states_an_answer_is_a_test(suite: pytest.Pytester) -> None:
    ini(suite, "shardproof_corpus = cases")
    found = ran(suite, "-v")
    found.assert_outcomes(passed=3)
    found.stdout.fnmatch_lines_random(
        [f"cases/{RIGHT}.json::{RIGHT} PASSED*", f"cases/deeper/{WRONG}.json::{WRONG} PASSED*"]
    )


@pytest.mark.parametrize(
    ("lines", "arguments", "passed"),
    [
        (["testpaths = tests"], [], 3),
        (["testpaths = tests cases"], [], 3),
        (["testpaths = tests cases/deeper"], [], 3),
        ([], ["tests"], 1),
        ([], ["cases/deeper"], 1),
        ([], [f"cases/{RIGHT}.json::{RIGHT}"], 1),
        ([], ["-k", "columns"], 1),
    ],
)
def test_the_corpus_is_part_of_all_tests_and_of_no_selection(
    suite: pytest.Pytester, lines: list[str], arguments: list[str], passed: int
) -> None:
    ini(suite, "shardproof_corpus = cases", *lines)
    deselected = 2 if "-k" in arguments else 0
    ran(suite, *arguments).assert_outcomes(passed=passed, deselected=deselected)


def test_several_corpora_and_one_inside_the_other(suite: pytest.Pytester) -> None:
    ini(suite, "testpaths = tests", "shardproof_corpus = cases/deeper cases")
    ran(suite).assert_outcomes(passed=3)


def test_a_directory_that_is_not_there_stops_the_run(suite: pytest.Pytester) -> None:
    ini(suite, "shardproof_corpus = casse")
    stopped = ran(suite)
    assert stopped.ret == pytest.ExitCode.USAGE_ERROR
    stopped.stderr.fnmatch_lines(["*shardproof_corpus: there is no directory*casse*"])


def test_a_failure_shows_the_terminal_message_alone(suite: pytest.Pytester) -> None:
    ini(suite, "shardproof_corpus = cases")
    path = spoil(suite, "proved")
    failed = ran(suite, "cases")
    failed.assert_outcomes(passed=1, failed=1)
    shown = failed.stdout.str()
    name = path.relative_to(suite.path)
    assert f"{name}: expected proved, got refuted (SM201)\n\nerror[SM201] overlapping-write" in shown
    assert f"--> {name}:1:" in shown
    assert "Traceback" not in shown
    assert "pytest_plugin.py" not in shown
    printed = shardproof("audit", name, "--format", "text").out
    without_help = [line for line in printed.splitlines() if "help: piece 1" not in line]
    assert set(without_help) <= set(shown.splitlines())


def test_another_code_is_another_answer(suite: pytest.Pytester) -> None:
    ini(suite, "shardproof_corpus = cases")
    spoil(suite, "refuted", "SM301")
    failed = ran(suite, "cases")
    failed.assert_outcomes(passed=1, failed=1)
    assert "expected refuted (SM301), got refuted (SM201)" in failed.stdout.str()


def test_a_broken_file_is_not_lost(suite: pytest.Pytester) -> None:
    ini(suite, "shardproof_corpus = cases")
    (suite.path / "cases" / "broken.json").write_text('{"expect": ')
    failed = ran(suite, "cases")
    failed.assert_outcomes(passed=2, failed=1)
    assert "broken.json: expected a case file with an expected verdict, got unreadable (SM001)" in (
        failed.stdout.str()
    )


def test_a_test_that_changes_the_directory_does_not_hurt(suite: pytest.Pytester) -> None:
    ini(suite, "shardproof_corpus = cases")
    (suite.path / "cases" / "test_away.py").write_text("import os\ndef test(): os.chdir('/')\n")
    ran(suite, "cases").assert_outcomes(passed=3)


def test_cases_run_on_several_processes(suite: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    ini(suite, "shardproof_corpus = cases")
    ran(suite, "-n", "2").assert_outcomes(passed=3)
