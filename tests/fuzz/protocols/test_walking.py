"""The runs that define what a protocol does: few programs whose ends are known."""

from __future__ import annotations

import random

import pytest

from fuzz.protocols.blocks import blocks, with_block
from fuzz.protocols.drawing import draw_protocol
from fuzz.protocols.walking import Question, WalkEnd, all_walks, rules_by_walks, rules_of, walk
from verifier.contracts.protocols.language import (
    Agree,
    Collective,
    Commit,
    IfLocal,
    IfUniform,
    Local,
    Protocol,
    RaiseIfAgreed,
    Repeat,
    Step,
    Try,
    Vote,
)

DATA = Collective("world", "all_reduce", "data")


def ends(*steps: Step, yes: tuple[Question, ...] = ()) -> list[tuple[str, bool]]:
    protocol = Protocol(name="p", steps=steps)
    return [(end.how, end.mutated) for end in walk(protocol, 2, lambda question: question in yes)]


def test_an_error_is_recorded_voted_on_and_raised_by_all() -> None:
    steps = (Try((Local("a"),)), Vote("world"), RaiseIfAgreed(), Commit())
    assert ends(*steps) == [("returned", True)] * 2
    assert ends(*steps, yes=(Question("raises", "a", 1),)) == [("raised", False)] * 2


def test_an_error_that_is_not_recorded_strands_the_other() -> None:
    assert ends(Local("a"), DATA, yes=(Question("raises", "a", 0),)) == [
        ("raised", False),
        ("stranded", False),
    ]


def test_rounds_decide_for_themselves_and_uniform_choices_once() -> None:
    body = (Repeat(2, (IfUniform("c", (Commit(),)), IfLocal("d", (DATA,)))),)
    assert ends(*body, yes=(Question("holds", "c#1"),)) == [("returned", True)] * 2
    assert ends(*body, yes=(Question("holds", "d#1", 0),)) == [("stranded", False), ("returned", False)]


def test_different_collectives_are_a_mismatch_and_an_agreement_fails_for_all() -> None:
    either = IfLocal("c", (DATA,), (Vote("world"),))
    assert ends(either, yes=(Question("holds", "c", 0),)) == [("mismatched", False)] * 2
    assert ends(Agree("world", "x"), yes=(Question("differs", "x"),)) == [("raised", False)] * 2


@pytest.mark.parametrize(
    ("ways", "rules"),
    [
        ("returned returned", ""),
        ("returned raised", "S3"),
        ("stranded raised", "S1"),
        ("stranded mismatched", "S2"),
    ],
)
def test_rules_of_an_end(ways: str, rules: str) -> None:
    assert rules_of([WalkEnd(way, False) for way in ways.split()]) == set(rules.split())
    also = {"S4"} if rules == "S3" else set()
    assert rules_of([WalkEnd(way, True) for way in ways.split()]) == set(rules.split()) | also


def test_all_decisions_are_tried() -> None:
    protocol = Protocol(name="p", steps=(Try((Local("a"),)), IfUniform("c", (Local("b"),))))
    # Two outcomes of a on each rank; c holds or not; b on each rank where it does.
    assert len(list(all_walks(protocol, 2, most=1000))) == 4 * (1 + 4)
    assert rules_by_walks(protocol, 2) == {"S3"}
    assert rules_by_walks(protocol, 2, most=19) is None


def test_every_block_can_be_put_back() -> None:
    for seed in range(20):
        protocol = draw_protocol(random.Random(seed), roles=True)
        for way, block in blocks(protocol.steps):
            assert with_block(protocol, way, block) == protocol
            assert (way, ()) in blocks(with_block(protocol, way, ()).steps)
