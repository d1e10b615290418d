"""The least place that satisfies one of many conditions: from any model down to the least one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import z3

from verifier.engines.smt.solve import Doubt, LimitedSolver

Condition = Callable[[z3.ArithRef], list[z3.BoolRef]]
"""What must hold of a place, as constraints; called only when the query is asked."""


@dataclass(frozen=True, slots=True)
class Query:
    """Is there a place with low <= place <= high that satisfies the condition?"""

    low: int
    high: int
    condition: Condition


@dataclass(frozen=True, slots=True)
class Least:
    """The least place found, if any, and the first reason why a smaller one may exist."""

    place: int | None = None
    doubt: Doubt | None = None


def least(solver: LimitedSolver, queries: Iterable[Query], known: Least | None = None) -> Least:
    """The least place over all queries and ``known``.

    Each query is only asked for places below the best so far, so all but the winner end in one unsat.
    """
    best = known or Least()
    for query in queries:
        high = query.high if best.place is None else min(query.high, best.place - 1)
        if query.low <= high:
            found = _least_of_one(solver, query, high)
            place = best.place if found.place is None else found.place
            best = Least(place, best.doubt or found.doubt)
    return best


def _least_of_one(solver: LimitedSolver, query: Query, high: int) -> Least:
    """Ask for any place, then for the lowest one alone, then halve what is left until nothing is."""
    place = z3.Int("place", solver.context)
    low = query.low
    with solver.assuming(query.condition(place)):
        best = solver.value(place, [low <= place, place <= high])
        if best is None:
            return Least()
        if isinstance(best, Doubt):
            return Least(doubt=best)
        high, middle = best - 1, low
        while low <= high:
            found = solver.value(place, [low <= place, place <= middle])
            if isinstance(found, Doubt):
                return Least(best, found)
            if found is None:
                low = middle + 1
            else:
                best, high = found, found - 1
            middle = (low + high) // 2
        return Least(best)
