"""The report on contracts and protocols: tiny numbers, and what a wrong checker does to it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuzz.contracts import differential, judged
from fuzz.contracts.malformed import Malformed, malformed
from fuzz.contracts.report import main
from fuzz.protocols import judged as judged_protocols
from fuzz.protocols import judged_in_worlds, judged_on_gloo, on_gloo
from tests.cli.command import CORPUS
from verifier.contracts.induced import Induced
from verifier.contracts.protocols.checker import Simulation
from verifier.contracts.protocols.language import Protocol
from verifier.diagnostics.report import EXIT_TOOL_BUG
from verifier.oracle.collectives.judging import Observation

TINY = [
    *("--pairs", "60", "--defects", "1", "--programs", "8", "--worlds", "20", "--mutants", "1"),
    *("--seed", "3"),
]


PATIENCE = 200
"""By how much waits are prolonged here where a difference may be that of a busy machine."""


def nothing_done(done: int, more: int) -> None:
    pass


def without_time(text: str) -> str:
    return text.split("## Voted phases")[0]


def test_the_command_reports_everything_and_is_the_same_twice(tmp_path: Path) -> None:
    written = [tmp_path / name for name in ("a.md", "b.md")]
    for path in written:
        assert main([*TINY, "--gloo", "0", "--report", str(path)]) == 0
    first, second = (without_time(path.read_text(encoding="utf-8")) for path in written)
    assert first == second
    assert "**0 surprises.**" in first
    assert "| a field name that is a number | R37 | error | R37 |" in first
    assert "| names of their own | 8 | 8 | 0 | 0 | 8 | 0 | 0 |" in first
    assert "| reactions by role or choice | 10 |" in first
    text = written[0].read_text(encoding="utf-8")
    assert "| search | 601 states |" in text
    assert "--programs 8 --worlds 20 --mutants 1 --seed 3" in text.splitlines()[-1]


def test_without_a_file_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TINY, "--gloo", "0"]) == 0
    assert capsys.readouterr().out.startswith("# Contracts and protocols\n")


def test_recorded_protocols_on_gloo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    monkeypatch.setattr(judged_on_gloo, "PATIENCE", PATIENCE)
    for name in ("early_return", "step_group_voted"):
        text = (CORPUS / "contracts" / "protocols" / f"{name}.json").read_text(encoding="utf-8")
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    part = judged_on_gloo.corpus(0.3, nothing_done, tmp_path)
    assert part.surprises == []
    assert part.sections[0].rows == (
        ("early_return", 2, 4, "S1", "something", "S1", 2),
        ("step_group_voted", 2, 16, "none", "nothing", "none", 4),
    )
    assert "after 0.3 s" in part.sections[0].words


def test_an_answer_that_is_not_recorded_is_a_surprise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"name": "p", "program": [{"local": "a"}], "expect": ["S1"]}
    (tmp_path / "p.json").write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setattr(judged_on_gloo, "observe", lambda *asked, **more: Observation((), 1))
    assert judged_on_gloo.corpus(0.3, nothing_done, tmp_path).surprises == [
        "p: search ('S3',), z3 something, gloo ()"
    ]


def test_random_protocols_on_gloo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    monkeypatch.setattr(on_gloo, "PATIENCE", PATIENCE)
    monkeypatch.setattr(judged_on_gloo, "PROTOCOL_MUTANTS", {})
    part = judged_on_gloo.on_gloo(4, 1, 0.2, nothing_done)
    assert part.surprises == []
    random_row = part.sections[0].rows[1]
    assert random_row[:2] == ("random", 4)
    assert random_row[-1] == 0
    monkeypatch.setattr(judged_on_gloo, "simulate", lambda *asked: Simulation((), 1, True, 2))
    part = judged_on_gloo.on_gloo(4, 1, 0.2, nothing_done)
    assert any("gloo shows" in words for words in part.surprises)


def test_a_wrong_closed_form_is_a_surprise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    never = Induced(kind="impossible", rule="M6")
    monkeypatch.setattr(differential, "by_closed_form", lambda *asked: never)
    assert main([*TINY, "--gloo", "0"]) == EXIT_TOOL_BUG
    assert "the closed form says impossible" in capsys.readouterr().err


def test_a_search_that_overlooks_a_rule_is_a_surprise(monkeypatch: pytest.MonkeyPatch) -> None:
    right = judged_protocols.simulate

    def blind(*asked: Any, **more: Any) -> Simulation:
        found = right(*asked, **more)
        return replace(found, violations=tuple([one for one in found.violations if one.rule != "S4"]))

    monkeypatch.setattr("fuzz.protocols.differential.simulate", blind)
    monkeypatch.setattr(judged_protocols, "simulate", blind)
    part = judged_protocols.mutants(1, 1, nothing_done)
    assert any(words.startswith("1:commit-before-vote:0: none:") for words in part.surprises)
    assert any("the search finds nothing, runs S4" in words for words in part.surprises)
    programs = judged_protocols.programs(40, 1, nothing_done)
    assert any("S4" in words for words in programs.surprises)


def test_a_world_that_is_too_small_is_a_surprise(monkeypatch: pytest.MonkeyPatch) -> None:
    least = Protocol.least_ranks.fget
    assert least is not None
    monkeypatch.setattr(Protocol, "least_ranks", property(lambda protocol: max(2, least(protocol) - 1)))
    part = judged_in_worlds.worlds(200, 1, nothing_done)
    assert any("two nothing, three S1, four S1" in words for words in part.surprises)


def test_a_rule_that_is_asleep_is_a_surprise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.contracts.cases.broken_rules", lambda *asked: ())
    assert judged.defects(1, 1, nothing_done).surprises
    twins = [item for item in malformed() if item.what == "twins"]
    monkeypatch.setattr(judged, "malformed", lambda: twins)
    assert judged.malformed_documents(nothing_done).surprises == ["twins: N5 is not broken, but ()"]


def test_a_document_that_is_wrong_without_its_place_is_a_surprise(monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(iter(malformed()))
    wrong = Malformed("twice wrong", first.document, first.document, first.rule)
    monkeypatch.setattr(judged, "malformed", lambda: [wrong])
    (words,) = judged.malformed_documents(nothing_done).surprises
    assert words.startswith("twice wrong: right, but")
