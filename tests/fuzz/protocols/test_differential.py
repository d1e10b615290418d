"""The checkers agree with every run and with each other; and one that is wrong is noticed."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from fuzz.protocols import differential, on_gloo
from fuzz.protocols.differential import (
    has_loop,
    least_against_more,
    others_compared,
    places_differ,
    rules_by_others,
    search_against_formula,
    search_against_walks,
    static_differences,
)
from fuzz.protocols.drawing import draw_protocol, draw_reacting
from verifier.contracts.protocols.checker import Simulation
from verifier.contracts.protocols.language import IfLocal, Local, Protocol, Repeat, Step, Vote
from verifier.oracle.collectives.plans import Plan
from verifier.oracle.collectives.running import Ended
from verifier.symbolic.protocols import FormulaAnswer

WAYS = [{}, {"alike": True}, {"roles": True}, {"alike": True, "roles": True}]


def wrong(*steps: Step) -> Protocol:
    return Protocol(name="p", steps=steps)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_T28_the_checkers_agree_on_drawn_protocols(way: dict[str, bool]) -> None:
    for seed in range(40):
        protocol = draw_protocol(random.Random(f"{way} {seed}"), **way)
        assert static_differences(protocol, protocol.least_ranks, most_walks=1000) == []


@pytest.mark.parametrize("way", [{}, {"roles": True}], ids=str)
def test_gloo_ends_as_the_runs_do(way: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    for seed in range(4):
        protocol = draw_protocol(random.Random(seed), **way)
        found = on_gloo.gloo_against_walks(protocol, protocol.least_ranks, wait_seconds=0.2)
        assert found.difference is None


def test_a_search_that_overlooks_a_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = differential.simulate

    def blind(*asked: Any, **more: Any) -> Simulation:
        found = right(*asked, **more)
        return replace(found, violations=tuple([one for one in found.violations if one.rule != "S3"]))

    monkeypatch.setattr(differential, "simulate", blind)
    words = static_differences(wrong(Local("a")))
    assert len(words) == 2
    assert words[0].startswith("the search finds nothing, runs S3")


def test_a_search_that_takes_too_small_a_world_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = differential.simulate

    def blind(protocol: Protocol, ranks: int, **more: Any) -> Simulation:
        found = right(protocol, ranks, **more)
        return replace(found, violations=found.violations if ranks > 2 else ())

    monkeypatch.setattr(differential, "simulate", blind)
    found = least_against_more(wrong(Local("a")))
    assert found.outcome == "differ"
    assert found.words.startswith("one other shows nothing, two nothing, three S3, four S3: P")


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (("", "S3", "S3 S4", "S3 S4"), "agree"),
        (("S1", "S1", "S1 S4", "S1 S4"), "differ"),
        (("", "S3", "S2 S3", "S2 S3"), "differ"),
        (("", "S3", "S3", "S3 S4"), "differ"),
        (("S1", "", "", ""), "differ"),
    ],
    ids=["S4 where S3 is", "S4 where S3 is not", "another rule", "the fourth shows it", "less with more"],
)
def test_only_S4_may_take_three_others_and_only_where_S3_is(found: tuple[str, ...], outcome: str) -> None:
    assert others_compared([frozenset(rules.split()) for rules in found]).outcome == outcome


def test_T30_two_others_show_what_more_do_whatever_the_roles() -> None:
    noticed = 0
    for seed in range(60):
        found = rules_by_others(draw_reacting(random.Random(f"others {seed}")))
        came = others_compared(found)
        assert came.outcome != "differ", (seed, came.words)
        noticed += came.outcome == "agree" and found[0] != found[1]
    assert noticed  # one other is not enough: a world that is too small would be seen


def test_a_formula_that_believes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differential, "check_formula", lambda *asked: FormulaAnswer(False, False, False))
    assert search_against_formula(wrong(Local("a")), 2).outcome == "differ"
    loop = wrong(Repeat(2, (Local("a"),)))
    assert search_against_formula(loop, 2).outcome == "differ"


def test_a_formula_that_takes_one_rule_for_another_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differential, "check_formula", lambda *asked: FormulaAnswer(True, False, False))
    assert search_against_formula(wrong(Local("a")), 2).outcome == "differ"


def test_another_end_on_gloo_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def crashed(protocol: Protocol, plan: Plan, ranks: int, *, wait_seconds: float) -> list[Ended]:
        waits.append(wait_seconds)
        return [Ended("crashed", False)] * ranks

    monkeypatch.setattr(on_gloo, "run", crashed)
    found = on_gloo.gloo_against_walks(wrong(Local("a")), 2, wait_seconds=0.1)
    assert found.difference is not None
    assert found.difference.startswith("no fault: gloo shows [('crashed', False)")
    assert waits == [0.1, 1.0]


def test_equal_collectives_at_two_places_are_a_mismatch_to_the_formula_alone() -> None:
    same = wrong(IfLocal("c", (Vote("world"),), (Vote("world"),)))
    assert not places_differ(same)
    assert search_against_formula(same, 2).outcome == "agree"
    assert differential.check_formula(same, 2).mismatch
    assert differential.rules_by_search(same, 2) == frozenset()
    assert not has_loop(same)


def test_what_is_too_long_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = draw_protocol(random.Random(1))
    assert search_against_walks(protocol, 2, most=1).outcome == "not compared"
    monkeypatch.setattr(differential, "MOST_STATES_OF_OTHERS", 1)
    assert least_against_more(protocol).outcome == "not compared"
    closed = replace(protocol, groups={"a": (0, 1), "b": (0, 1)})
    assert least_against_more(closed).words == "there are no others"
