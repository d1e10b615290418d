"""The kill matrix: it counts right, says what must not be, and is the same twice."""

from pathlib import Path

import pytest

from fuzz.cases import Selection
from fuzz.documents.mutants import DOCUMENT_MUTANTS, document_text
from fuzz.kills import matrix
from fuzz.kills.matrix import ENGINES, Kills, Plan
from fuzz.kills.report import WITHOUT_REFERENCE
from fuzz.mutants import MUTANTS
from tests.fuzz.liars import Believer
from verifier.diagnostics.report import EXIT_TOOL_BUG

PLAN = Plan(cases=4, seed=3, smt_every=0)


@pytest.fixture(scope="module")
def found() -> Kills:
    return matrix.kills(PLAN)


def test_nothing_survives_and_nothing_right_is_refuted(found: Kills) -> None:
    assert found.surprises == []
    for engine in ENGINES:
        for mutant in MUTANTS:
            assert "proved" not in found.tally.row("engine", engine, "wrong", mutant)
            assert "refuted" not in found.tally.row("engine", engine, "same", mutant)


def test_the_portfolio_decides_everything(found: Kills) -> None:
    for mutant in MUTANTS:
        maps = found.tally.row("map", mutant)
        assert sum(maps.values()) >= 1
        assert found.tally.row("engine", "auto", "wrong", mutant).get("refuted", 0) == maps.get("wrong", 0)
        assert found.tally.row("engine", "auto", "same", mutant).get("proved", 0) == maps.get("same", 0)


def test_some_defects_show_only_against_a_reference(found: Kills) -> None:
    for mutant in ("permute-shard-shape", "swap-dests"):
        assert set(found.tally.row("engine", WITHOUT_REFERENCE, "wrong", mutant)) == {"proved"}


def test_every_document_is_read(found: Kills) -> None:
    assert {name for name in DOCUMENT_MUTANTS if found.tally.row("document", name)} >= {*DOCUMENT_MUTANTS} - {
        "odd-text"
    }


def test_samples_spread_over_all_layouts() -> None:
    plan = Plan(cases=42, seed=1)
    layouts = [case.layout for _, _, case in matrix.mutated(plan, "shift-dest")]
    assert len(layouts) >= 40
    assert set(layouts) == set(plan.selection.layouts)


def test_a_believer_lets_mutants_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "engine_named", lambda name: Believer())
    believed = matrix.kills(Plan(3, 1, 0, Selection(mutants=("drop-piece",), size=24, right=0.0)))
    assert any("proved, but the walk says wrong" in words for words in believed.surprises)


def test_a_document_that_is_not_refused_is_a_surprise() -> None:
    found = Kills()
    document = document_text({"logical_shape": [0], "ranks": {}})
    found.try_document(DOCUMENT_MUTANTS["truncated"], document, document, "x")
    found.try_document(DOCUMENT_MUTANTS["unknown-field"], document, b"{", "x")
    assert found.surprises == [
        "x: equal, though truncated is sure to be refused",
        "x: SM001 is no code of unknown-field",
    ]


def test_the_command_writes_the_same_report_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cases", "1", "--seed", "5", "--smt-every", "0"]
    assert matrix.main([*arguments, "--report", str(tmp_path / "one.md")]) == 0
    assert matrix.main(arguments) == 0
    written, printed = (tmp_path / "one.md").read_text("ascii"), capsys.readouterr().out
    assert written.splitlines()[:-1] == printed.splitlines()[:-1]
    assert printed.endswith("Command: `python -m fuzz.kills --cases 1 --seed 5 --smt-every 0`\n")
    assert all(f"| {name} |" in printed for name in ("cancel", "drop-piece", "bad-bytes"))


def test_a_surprise_ends_with_its_own_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(matrix, "kills", lambda plan: Kills(surprises=["1:drop-piece:0: survived"]))
    assert matrix.main(["--cases", "1"]) == EXIT_TOOL_BUG
    captured = capsys.readouterr()
    assert "1 surprises" in captured.out
    assert "survived" in captured.err
