"""Protocols at random: any at all, and disciplined ones that can do no wrong."""

from __future__ import annotations

import random
from itertools import count

from verifier.contracts.protocols.language import (
    Agree,
    Collective,
    Commit,
    IfLocal,
    IfRole,
    IfUniform,
    Local,
    Protocol,
    RaiseIfAgreed,
    RaiseIfError,
    Repeat,
    Step,
    Try,
    Vote,
)

SIMPLE = ("local", "vote", "voted", "collective", "commit", "agreed", "error", "agree")
NESTED = ("try", "uniform", "branch", "repeat")


def draw_protocol(rng: random.Random, *, alike: bool = False, roles: bool = False) -> Protocol:
    """Two groups, nested tries, local and uniform branches, short loops.

    No two steps have one name, unless ``alike``: then few names are shared by many. With ``roles`` rank 0 is
    an owner, and only ranks 0 and 2 are in the second group.
    """
    body = _Drawing(rng, alike, roles).steps(0)
    preamble = (Try((Local("prepare"),)), Vote("a", "first vote"), RaiseIfAgreed())
    steps = preamble + body if rng.random() < 0.5 else body
    if roles:
        return Protocol(name="drawn", steps=steps, groups={"a": None, "b": (0, 2)}, roles={0: "owner"})
    return Protocol(name="drawn", steps=steps, groups={"a": None, "b": None})


class _Drawing:
    """One program as it is drawn."""

    def __init__(self, rng: random.Random, alike: bool, roles: bool) -> None:
        self._rng, self._alike, self._roles = rng, alike, roles
        self._numbers = count()

    def steps(self, depth: int) -> tuple[Step, ...]:
        """One to three steps."""
        return tuple([self._step(depth) for _ in range(self._rng.randint(1, 3))])

    def _step(self, depth: int) -> Step:
        number = self._rng.randrange(2) if self._alike else next(self._numbers)
        group = self._rng.choice(("a", "a", "b"))
        words = [*SIMPLE, *(NESTED if depth < 2 else ()), *(("role",) if self._roles and depth < 2 else ())]
        match self._rng.choice(words):
            case "local":
                return Local(f"step {number}")
            case "vote":
                return Vote(group, f"vote {number}")
            case "voted":
                return Try((Local(f"step {number}"),))
            case "collective":
                return Collective(group, "all_reduce", f"collective {number}")
            case "commit":
                return Commit()
            case "agreed":
                return RaiseIfAgreed()
            case "error":
                return RaiseIfError()
            case "agree":
                return Agree(group, f"value {number}")
            case word:
                return self._nested(word, number, depth + 1)

    def _nested(self, word: str, number: int, depth: int) -> Step:
        match word:
            case "try":
                return Try(self.steps(depth))
            case "uniform":
                return IfUniform(f"choice {number}", self.steps(depth), self.steps(depth))
            case "branch":
                return IfLocal(f"branch {number}", self.steps(depth), self.steps(depth))
            case "role":
                return IfRole("owner", self.steps(depth), self.steps(depth))
        return Repeat(2, self.steps(depth))


REACTIONS: tuple[tuple[Step, ...], ...] = ((), (RaiseIfAgreed(),), (RaiseIfError(),), (Commit(),))
ROLES: tuple[dict[int, str], ...] = ({}, {0: "owner"}, {0: "owner", 1: "owner"}, {0: "owner", 1: "helper"})


def draw_reacting(rng: random.Random) -> Protocol:
    """What ranks do about a vote depends on their role or choice: it may take several of a kind to go wrong.

    A rank that has failed may do as an owner does and still not as others of its kind do; and of three that
    choose, one may fail, one change state and one raise.
    """
    some, other = rng.sample(REACTIONS, 2)
    vote = Vote("a", "outcome")
    check = Try((Local("check"),))
    if rng.random() < 0.7:
        data = Collective("a", "all_reduce", "data")
        reaction = Try((IfRole("owner", some, other), data))
        steps: tuple[Step, ...] = (IfRole("owner", (), (check,)), vote, reaction)
    else:
        steps = (IfLocal("has work", (check, vote), (vote, IfLocal("is late", some, other))),)
    members = rng.choice((None, None, (0, 1), (0, 2)))
    before = _phase(rng, 0) if members is None and rng.random() < 0.3 else ()
    groups = {"a": None, "b": members}
    return Protocol(name="reacting", steps=(*before, *steps), groups=groups, roles=rng.choice(ROLES))


def draw_disciplined(rng: random.Random) -> Protocol:
    """A protocol that violates nothing: what may fail is tried and voted on, state changes at the end.

    It has at least two collectives in a row of each group somewhere, so that each of them can be damaged.
    """
    numbers = count()
    phases: list[Step] = []
    for _ in range(rng.randint(1, 2)):
        phase = _phase(rng, next(numbers))
        match rng.randrange(4):
            case 0:
                phases.append(Repeat(2, phase))
            case 1:
                phases.append(IfUniform(f"choice {next(numbers)}", phase, _phase(rng, next(numbers))))
            case _:
                phases += phase
    phases += _phase(rng, next(numbers))
    after = (Collective("a", "barrier", "done"),) if rng.random() < 0.3 else ()
    steps = (*phases, Commit(), *after)
    return Protocol(name="disciplined", steps=steps, groups={"a": None, "b": None})


def _phase(rng: random.Random, number: int) -> tuple[Step, ...]:
    """Something that may fail, the vote on it, and the collectives it was for."""
    group, other = rng.sample(("a", "b"), 2)
    tried = Try(tuple([Local(f"check {number}.{k}") for k in range(rng.randint(1, 2))]))
    agreed = (Agree(group, f"value {number}"),) if rng.random() < 0.3 else ()
    data = [Collective(group, "all_reduce", f"data {number}.{k}") for k in range(2)]
    return (
        *agreed,
        tried,
        Vote(group, f"vote {number}"),
        RaiseIfAgreed(),
        *data,
        Collective(other, "all_gather", f"parts {number}"),
    )
