"""Programs of any size are searched, given up or refused: none takes long, and none much room."""

from __future__ import annotations

import itertools

import pytest

from tests.counting import calls_at_most
from verifier.contracts.protocols import code
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.code import TooLongError, code_of, codes_of
from verifier.contracts.protocols.decoding import ProtocolError, decode_protocol
from verifier.contracts.protocols.language import (
    Commit,
    IfLocal,
    IfRole,
    IfUniform,
    Local,
    Protocol,
    RaiseIfAgreed,
    Repeat,
    Step,
    Try,
    Vote,
)
from verifier.oracle.collectives.plans import plans
from verifier.symbolic.protocols import check_formula


def program(*steps: Step, groups: int = 0) -> Protocol:
    named = {f"g{k}": tuple(range(groups)) for k in range(1)} if groups else {}
    return Protocol(name="p", steps=steps, groups={"world": None, **named})


def loops(depth: int) -> tuple[Step, ...]:
    body: tuple[Step, ...] = ()
    for _ in range(depth):
        body = (Repeat(10_000, body),)
    return body


def test_steps_that_may_fail_one_after_the_other_are_followed_once() -> None:
    tries = [Try((Local(f"check {k}"),)) for k in range(100)]
    with calls_at_most(100_000):
        found = simulate(program(*tries, Vote("world"), RaiseIfAgreed(), Commit()))
    assert (found.rules, found.complete, found.states) == ((), True, 8)


def test_the_way_to_an_error_is_one_decision_however_many_there_are() -> None:
    branches = [IfLocal(f"case {k}", ()) for k in range(20)]
    tries = [Try((Local(f"check {k}"),)) for k in range(20)]
    (violation,) = simulate(program(*branches, *tries, Local("last"))).violations
    assert violation.trace == ("rank 1: last raises",)


@pytest.mark.parametrize(
    "protocol",
    [
        program(*[IfUniform(f"case {k}", ()) for k in range(2000)]),
        program(*[Local(f"check {k}") for k in range(2000)], Vote("world")),
        program(Try((Local("a"),)), Vote("world"), groups=64),
    ],
    ids=["choices", "ends", "ranks"],
)
def test_too_much_is_given_up(protocol: Protocol) -> None:
    with calls_at_most(1_200_000):
        found = simulate(protocol, most_states=1000)
    assert not found.complete
    assert found.states <= 1000


def test_loops_around_nothing_are_too_long() -> None:
    with pytest.raises(TooLongError, match="repeat less often"):
        simulate(program(*loops(40)))
    with pytest.raises(TooLongError, match="repeat less often"):
        check_formula(program(*loops(40)))


def test_what_no_rank_can_come_to_may_be_of_any_length() -> None:
    hidden = program(IfRole("nobody", loops(40)))
    assert simulate(hidden).rules == ()
    assert check_formula(hidden).safe


def test_ranks_of_one_role_share_their_program(monkeypatch: pytest.MonkeyPatch) -> None:
    long = Protocol(name="p", steps=(Repeat(100, (Local("a"),)),), roles={0: "owner"})
    first, *others = codes_of(long, 10)
    assert all(one is others[0] for one in others)
    assert first is not others[0]
    assert first == code_of(long, 0) == code_of(long, 5)
    monkeypatch.setattr(code, "MOST_INSTRUCTIONS", 300)
    with pytest.raises(TooLongError):
        codes_of(long, 2)


def test_a_fault_is_planned_on_one_rank_of_each_role_and_each_set_of_groups() -> None:
    groups = {"world": None, "some": (1, 3)}
    protocol = Protocol(name="p", steps=(Local("a"), Vote("some")), groups=groups, roles={0: "owner"})
    assert [plan.fails and plan.fails[0] for plan in plans(protocol, 5)] == [None, 0, 1, 2]


def test_of_very_many_choices_the_first_are_planned() -> None:
    found = list(itertools.islice(plans(program(*[IfUniform(f"c{k}", ()) for k in range(200)]), 2), 600))
    assert len(found) == 500
    assert not any(found[0].uniform.values())
    assert sum(found[1].uniform.values()) == 1


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ({"program": [{"local": "x" * 251}]}, "local is longer than 250"),
        ({"program": [], "groups": {str(k): None for k in range(65)}}, "more than 64 groups"),
        ({"program": [], "roles": {"9" * 5000: "owner"}}, "in roles is no rank"),
        ({"program": [], "roles": {"01": "owner"}}, "'01' in roles is no rank"),
        ({"program": [{"collective": "world", "kind": "k", "shape": [1] * 33}]}, "more than 32 axes"),
    ],
    ids=["name", "groups", "long rank", "rank twice", "axes"],
)
def test_what_is_too_large_to_be_meant_is_refused(document: dict[str, object], complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        decode_protocol({"name": "p", **document})
