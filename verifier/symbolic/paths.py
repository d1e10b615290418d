"""What came of the ways through a constructor that end: with a map, proved, or with an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verifier.symbolic.claims import Claim
from verifier.symbolic.facts import Facts
from verifier.symbolic.layout import SymbolicMap
from verifier.symbolic.proof import Settled
from verifier.symbolic.tracing import Decision

Choice = Mapping[str, object]
"""The concrete arguments of one run, as for numbers of ranks."""


@dataclass(frozen=True, slots=True)
class ProvedPath:
    """One way through a constructor, with the map it makes and what was proved of it.

    ``facts`` are the sizes that go this way.
    """

    choice: Choice
    decisions: tuple[Decision, ...]
    facts: Facts
    made: SymbolicMap
    reference: SymbolicMap | None
    settled: tuple[Settled, ...]

    @property
    def condition(self) -> tuple[Claim, ...]:
        """The comparisons that could have gone otherwise."""
        return condition(self.decisions)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Sizes of the domain for which the constructor raises.

    ``sizes`` are some of them, None when none were found. ``condition`` says which all are, None where only
    ``sizes`` is known.
    """

    choice: Choice
    condition: tuple[Claim, ...] | None
    error: str
    sizes: Mapping[str, object] | None


def condition(decisions: tuple[Decision, ...]) -> tuple[Claim, ...]:
    """The claims that single out a way among all."""
    return tuple(
        [
            decision.claim if decision.answer else decision.claim.negation
            for decision in decisions
            if not decision.forced
        ]
    )
