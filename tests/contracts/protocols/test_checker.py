"""T28: the search finds what can go wrong, with a way there; two ranks show what more do."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest

from fuzz.protocols.drawing import draw_protocol
from tests.cli.command import CORPUS
from tests.counting import calls_at_most
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.decoding import decode_protocol, expected_rules
from verifier.contracts.protocols.language import (
    Agree,
    Collective,
    Commit,
    IfLocal,
    IfRole,
    Local,
    Protocol,
    RaiseIfAgreed,
    Repeat,
    Step,
    Try,
    Vote,
)
from verifier.symbolic.protocols import check_formula

CASES = sorted((CORPUS / "contracts" / "protocols").glob("*.json"))
MOST_STATES = 3000
PROGRAMS = int(os.environ.get("SHARDPROOF_PROTOCOLS", "90"))


def test_there_are_twelve_protocols() -> None:
    assert len(CASES) >= 12


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_recorded_protocol_violates_what_its_file_says(path: Path) -> None:
    document = json.loads(path.read_text())
    protocol = decode_protocol(document)
    found = simulate(protocol)
    assert found.rules == expected_rules(document)
    assert check_formula(protocol).safe is not bool(found.rules)


def test_T30_two_ranks_show_what_three_do() -> None:
    seen: Counter[tuple[str, ...]] = Counter()
    for seed in range(PROGRAMS):
        protocol = draw_protocol(random.Random(seed))
        two, three = simulate(protocol, 2), simulate(protocol, 3, most_states=MOST_STATES)
        if not (two.complete and three.complete):
            seen["incomplete",] += 1
            continue
        assert two.rules == three.rules, (seed, protocol)
        seen[two.rules] += 1
    assert seen[()] > PROGRAMS // 20
    assert {rule for rules in seen for rule in rules} >= {"S1", "S2", "S3", "S4"}
    assert seen["incomplete",] < PROGRAMS // 10


def test_T28_z3_calls_safe_what_the_search_does() -> None:
    for seed in range(PROGRAMS):
        protocol = draw_protocol(random.Random(seed))
        assert check_formula(protocol, 2).safe is (not simulate(protocol, 2).rules), (seed, protocol)


VOTED = (Vote("world"), RaiseIfAgreed(), Commit())


@pytest.mark.parametrize(
    ("steps", "rules"),
    [
        ((Try((Local("check"),)), *VOTED, Local("check")), ("S3", "S4")),
        ((Try((Agree("world", "version"),)), *VOTED, Agree("world", "version")), ("S4",)),
        ((IfLocal("slow", (Local("a"),)), IfLocal("slow", (), (Local("a"),))), ("S3",)),
    ],
    ids=["local step", "agreement", "branch"],
)
def test_two_steps_of_one_name_decide_each_for_itself(
    steps: tuple[Step, ...], rules: tuple[str, ...]
) -> None:
    protocol = Protocol(name="names", steps=steps)
    assert simulate(protocol).rules == rules
    assert check_formula(protocol).safe is False


def test_ranks_outside_of_a_group_pass_its_collectives_by() -> None:
    halves = {"low": (0, 1), "high": (2, 3)}
    steps = (Try((Local("check"),)), Vote("low"), Vote("high"), RaiseIfAgreed())
    protocol = Protocol(name="halves", steps=steps, groups=halves)
    assert simulate(protocol).rules == ("S3",)
    one = Protocol(name="one", steps=(Vote("low"), Vote("high"), Commit()), groups=halves)
    assert simulate(one).rules == ()
    assert check_formula(one).safe
    assert simulate(one, 2).rules == ()  # nobody is in the other group


def test_the_way_there_names_the_decisions() -> None:
    path = CORPUS / "contracts" / "protocols" / "own_error_after_vote.json"
    (violation,) = simulate(decode_protocol(json.loads(path.read_text()))).violations
    assert violation.trace == ("rank 1: prepare raises",)
    assert "rank 0 waits in all_reduce 'header'" in violation.message
    assert "rank 1, which has raised" in violation.message


def test_two_hundred_voted_phases_are_searched_once() -> None:
    phase = (Try((Vote("world", "inner"),)), Vote("world"), Collective("world", "all_reduce"))
    protocol = Protocol(name="long", steps=(Repeat(200, phase),))
    with calls_at_most(350_000):
        assert simulate(protocol).rules == ()


def test_those_with_a_role_may_do_the_same_and_not_something_else() -> None:
    owner = (Collective("world", "broadcast", "from the owner"),)
    protocol = Protocol(name="roles", steps=(IfRole("owner", owner, owner),), roles={0: "owner"})
    assert simulate(protocol).rules == ()
    lonely = Protocol(name="roles", steps=(IfRole("owner", owner),), roles={0: "owner"})
    assert simulate(lonely).rules == ("S1",)


def test_a_search_that_stops_at_its_limit_says_so() -> None:
    protocol = draw_protocol(random.Random(3))
    assert not simulate(protocol, 3, most_states=1).complete
