"""The proof of one path: every demand on its map, settled at all points or open at some.

Each open case says at which points a demand is not settled, so that a point that no open case concerns is
proved, whatever is left open elsewhere.

Theory: T20, T22.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from verifier.symbolic.cancellation import OpenCase, cancel
from verifier.symbolic.claims import Claim, is_zero, not_negative, positive
from verifier.symbolic.demands import Balance, Demand, Empty, Equal, Never, Sign
from verifier.symbolic.facts import Facts
from verifier.symbolic.grid import fills_grid
from verifier.symbolic.polynomial import Polynomial

Method = Literal["facts", "cancellation", "digits"]


@dataclass(frozen=True, slots=True)
class Settled:
    """A demand that holds at all points, by which method, and into how many cases it was split.

    ``equal`` are polynomials that are 0 at all points of some case, which the method made use of.
    """

    name: str
    method: Method
    cases: int = 1
    equal: tuple[Polynomial, ...] = ()


@dataclass(frozen=True, slots=True)
class Open:
    """A demand that is not settled at some points."""

    name: str
    cases: tuple[OpenCase, ...]

    @property
    def reason(self) -> str:
        """Why, in one line."""
        return f"it stays open whether {_claim(self.name)} ({self.cases[0].reason})"


def _claim(name: str) -> str:
    """What a demand says, by its name."""
    kind, _, rest = name.partition("/")
    match kind:
        case "parameter":
            return "every element of the parameter is held once"
        case "shard":
            return f"every address of the shard of rank {rest} is written once"
        case "holders":
            ranks, _, _ = rest.partition("/")
            return f"the ranks {ranks} hold the same elements"
        case "reference" if rest.isdecimal():
            return f"rank {rest} holds what the reference says"
    return f"{name} is as it must be"


def settle(demands: Iterable[Demand], facts: Facts) -> tuple[tuple[Settled, ...], tuple[Open, ...]]:
    """What is proved of the demands at the points of the facts, and what is not."""
    settled: list[Settled] = []
    left: list[Open] = []
    for demand in demands:
        outcome = _settle(demand, facts)
        if isinstance(outcome, Settled):
            settled.append(outcome)
        else:
            left.append(outcome)
    return tuple(settled), tuple(left)


def _settle(demand: Demand, facts: Facts) -> Settled | Open:
    match demand:
        case Balance():
            cancellation = cancel(demand, facts)
            if not cancellation.open:
                return Settled(demand.name, "cancellation", cancellation.cases, tuple(cancellation.equal))
            if fills_grid(demand, facts):
                return Settled(demand.name, "digits")
            return Open(demand.name, tuple(cancellation.open))
        case Sign(name, number, shape):
            claim = not_negative(number)
            if facts.entails(claim) or any(facts.entails(is_zero(extent)) for extent in shape):
                return Settled(name, "facts")
            return _open(name, facts, [claim.negation], f"{facts.reduced(number)} may be negative")
        case Empty(name, shape, reason):
            if any(facts.entails(is_zero(extent)) for extent in shape):
                return Settled(name, "facts")
            return _open(name, facts, [positive(extent) for extent in shape], reason)
        case Equal(name, here, there):
            claim = is_zero(here - there)
            if facts.entails(claim):
                return Settled(name, "facts", equal=(here - there,))
            return _open(name, facts, [claim.negation], f"{here}, not {there}")
        case Never(name, reason):
            return _open(name, facts, [], reason)


def _open(name: str, facts: Facts, claims: list[Claim], reason: str) -> Open:
    """Open at the points at which the claims hold."""
    return Open(name, (OpenCase(facts.assuming(*claims), reason),))
