"""The corpus, replayed; and what replay says of cases that differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof
from verifier.audit.execution import Execution
from verifier.certificates.check import Rejected
from verifier.obligations.faults import Fault

MAPS = CORPUS / "maps"


def test_every_case_of_the_corpus_agrees() -> None:
    ran = shardproof("replay", MAPS, "-j", "2")
    assert ran.code == 0, ran.out
    assert ran.out == f"all {len(list(MAPS.glob('*.json')))} cases agree\n"


def test_a_wrong_expectation_differs_and_shows_the_message(tmp_path: Path) -> None:
    case = json.loads((MAPS / "dest-collision-columns.json").read_text())
    case["expect"] = {"verdict": "proved", "codes": []}
    (tmp_path / "case.json").write_text(json.dumps(case))
    ran = shardproof("replay", tmp_path)
    assert ran.code == 1
    assert "DIFFERS" in ran.out
    assert "expected proved, got refuted (SM201)" in ran.out
    assert "error[SM201]" in ran.out
    case["expect"] = {"verdict": "refuted", "codes": ["SM301"]}
    (tmp_path / "case.json").write_text(json.dumps(case))
    assert shardproof("replay", tmp_path).code == 1


def test_nothing_to_replay_is_not_a_pass(tmp_path: Path) -> None:
    assert shardproof("replay", tmp_path).code == 4


def stated(case: dict, target: Path, **expect: object) -> Path:
    """The case with other statements about its answer, as a file."""
    case["expect"].update(expect)
    target.write_text(json.dumps(case))
    return target


def test_the_verdict_without_the_demands_is_compared_too(tmp_path: Path) -> None:
    case = json.loads((MAPS / "zero3_padding_not_removed__wrong.json").read_text())
    path = stated(case, tmp_path / "case.json", structural_verdict="proved")
    assert shardproof("replay", path).code == 0
    path = stated(case, tmp_path / "case.json", structural_verdict="refuted")
    ran = shardproof("replay", path)
    assert ran.code == 1
    assert "expected refuted (SM501), refuted without its demands" in ran.out
    assert "got refuted (SM501), proved without them" in ran.out


def test_a_case_that_cannot_be_read_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text((MAPS / "dest-collision-columns.json").read_text()[:-20])
    ran = shardproof("replay", tmp_path)
    assert ran.code == 1
    assert "got unreadable (SM001)" in ran.out


def test_a_bug_of_the_tool_is_worse_than_any_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(_: str) -> tuple[str, ...]:
        raise Rejected("on purpose")

    monkeypatch.setattr("verifier.audit.check.check_text", reject)
    ran = shardproof("replay", MAPS / "scalar__right.json")
    assert ran.code == 70
    assert ran.out.startswith("BUG ")
    assert "TB102" in ran.out


def test_a_case_that_agrees_may_still_show_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    bug = Fault(code="TB101", side="map", values={"obligation": "torch oracle", "reason": "on purpose"})
    monkeypatch.setattr("verifier.audit.oracle_notes.execute", lambda *_, **__: Execution(faults=(bug,)))
    ran = shardproof("replay", MAPS / "dest-collision-columns.json", "--oracle")
    assert ran.code == 70
    assert "BUG " in ran.out
    assert ran.out.endswith("all 1 cases agree; shardproof contradicts itself on 1\n")
    assert "real execution contradicts the verdict" in ran.out
