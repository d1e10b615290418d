"""The corpus, replayed; and what replay says of cases that differ."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import CORPUS, shardproof

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
