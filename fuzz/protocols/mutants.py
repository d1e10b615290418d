"""One defect of a disciplined protocol at a time, with the rules that it breaks.

A defect is a change of a window of steps in some block. It breaks at least one rule of ``must`` and none
beyond ``may``; where ``must`` is empty the changed protocol can do no wrong either, and an alarm is false.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from fuzz.protocols.blocks import Steps, blocks, with_block
from verifier.contracts.protocols.language import (
    Collective,
    Commit,
    IfLocal,
    IfUniform,
    Local,
    Protocol,
    RaiseIfAgreed,
    RaiseIfError,
    Step,
    Try,
    Vote,
)

Window = tuple[type, ...]
Change = Callable[[Steps], Steps | None]
"""Other steps for those of a window; None where it cannot have the defect."""
VOTED: Window = (Try, Vote, RaiseIfAgreed)
PAIR: Window = (Collective, Collective)


@dataclass(frozen=True, slots=True)
class ProtocolMutant:
    """A labelled defect.

    Attributes:
        window: the kinds of the steps that are changed, next to each other.
        change: makes the defect.
        must: of which at least one rule is broken; none when nothing is.
        may: beyond which none is.
    """

    name: str
    window: Window
    change: Change
    must: frozenset[str]
    may: frozenset[str]

    def explains(self, rules: frozenset[str]) -> bool:
        """Whether a protocol with the defect violates what it must, and nothing that it may not."""
        return rules <= self.may and bool(rules & self.must) == bool(self.must)

    def __call__(self, rng: random.Random, protocol: Protocol) -> Protocol | None:
        """The protocol with the defect at a place drawn at random; None where there is none for it."""
        made: list[Protocol] = []
        for way, block in blocks(protocol.steps):
            for at in range(len(block) - len(self.window) + 1):
                end = at + len(self.window)
                if all(isinstance(s, kind) for s, kind in zip(block[at:end], self.window, strict=True)):
                    changed = self.change(block[at:end])
                    if changed is not None:
                        made.append(with_block(protocol, way, (*block[:at], *changed, *block[end:])))
        if not made:
            return None
        return replace(rng.choice(made), name=self.name)


def _on_some(then: Steps, otherwise: Steps = ()) -> Steps:
    """Steps that each rank takes, or not, for itself."""
    return (IfLocal("on this rank", then, otherwise),)


def _body(step: Step) -> Steps:
    return step.body if isinstance(step, Try) else ()


def _group(step: Step) -> str:
    return step.group if isinstance(step, Collective) else ""


def _swapped(same_group: bool) -> Change:
    def change(steps: Steps) -> Steps | None:
        fits = (_group(steps[0]) == _group(steps[1])) == same_group
        return _on_some(steps, steps[::-1]) if fits else None

    return change


def _other(**fields: object) -> Change:
    """A collective that on some ranks has another member."""

    def change(steps: Steps) -> Steps | None:
        (step,) = steps
        if not isinstance(step, Collective):
            return None
        other: Step = replace(step, **fields)  # type: ignore[arg-type]  # fields of a collective
        return _on_some((other,), steps)

    return change


def _mutant(name: str, window: Window, change: Change, must: str, may: str = "") -> ProtocolMutant:
    musts = frozenset(must.split())
    return ProtocolMutant(name, window, change, musts, musts | frozenset(may.split()))


PROTOCOL_MUTANTS: dict[str, ProtocolMutant] = {
    mutant.name: mutant
    for mutant in (
        _mutant("no-preamble", VOTED, lambda steps: _body(steps[0]), "S1 S3", "S4"),
        _mutant("no-try", VOTED, lambda steps: (*_body(steps[0]), *steps[1:]), "S1"),
        _mutant("vote-inside-try", VOTED, lambda s: (Try((*_body(s[0]), s[1])), s[2]), "S1 S2"),
        _mutant("own-error-after-vote", VOTED, lambda s: (*s[:2], RaiseIfError()), "S1 S3", "S4"),
        _mutant("commit-before-vote", VOTED, lambda s: (Commit("early"), *s), "S4"),
        _mutant("commit-in-try", VOTED, lambda s: (Try((*_body(s[0]), Commit("early"))), *s[1:]), "S4"),
        _mutant("vote-on-some", VOTED, lambda s: (s[0], *_on_some(s[1:])), "S1 S2"),
        _mutant("preamble-on-some", VOTED, lambda s: _on_some(s), "S1 S2"),
        _mutant("collective-on-some", (Collective,), lambda s: _on_some(s), "S1 S2"),
        _mutant("raise-after-collective", (RaiseIfAgreed, Collective), lambda s: s[1:] + s[:1], ""),
        _mutant("swapped-on-some", PAIR, _swapped(same_group=True), "S2"),
        _mutant("opposite-groups", PAIR, _swapped(same_group=False), "S1"),
        _mutant("other-type", (Collective,), _other(dtype="int32"), "S2"),
        _mutant("other-shape", (Collective,), _other(shape=(2,)), "S2"),
        _mutant("other-operation", (Collective,), _other(op="max"), "S2"),
        _mutant("other-kind", (Collective,), _other(kind="broadcast"), "S2"),
        _mutant("failure-before-commit", (Commit,), lambda s: (Local("late"), *s), "S1 S3", "S4"),
        _mutant("failure-after-commit", (Commit,), lambda s: (*s, Local("late")), "S1 S3", "S4"),
        _mutant("no-raise-after-vote", VOTED, lambda s: s[:2], ""),
        _mutant("no-vote", VOTED, lambda s: (s[0], s[2]), ""),
        _mutant("second-vote", VOTED, lambda s: (*s[:2], s[1], *s[2:]), ""),
        _mutant("same-choice-everywhere", PAIR, lambda s: (IfUniform("order", s, s[::-1]),), ""),
        _mutant("nested-try", VOTED, lambda s: (Try((s[0],)), *s[1:]), ""),
        _mutant("same-on-both-ways", VOTED, lambda s: (Try(_on_some(_body(s[0]))), *s[1:]), ""),
    )
}
"""Every defect by name."""
