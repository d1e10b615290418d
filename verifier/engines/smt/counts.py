"""SameAddresses and SamePairs: is there a place that the two sides visit differently often?

Only places of some view can be such, so each view is asked for one, in a formula of the views near it.

Theory: T5 (pairs as single addresses), T17.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from verifier.answers import Defect
from verifier.budget import Budget
from verifier.engines.smt.encode import member_of_any, visits
from verifier.engines.smt.meeting import neighbours, too_many_pairs
from verifier.engines.smt.minimise import Condition, Query, least
from verifier.engines.smt.nested import Parts, parts_of_all, visits_at
from verifier.engines.smt.solve import Doubt, LimitedSolver
from verifier.geometry.strided import NormalView


def difference_defect(
    left: Sequence[NormalView], right: Sequence[NormalView], solver: LimitedSolver, budget: Budget
) -> Defect | Doubt | None:
    """The least place visited differently often, a doubt, or None where the sides are equal.

    Views that stand on both sides are dropped first.

    Theory: T17.
    """
    only_left = list((Counter(left) - Counter(right)).elements())
    only_right = list((Counter(right) - Counter(left)).elements())
    views = only_left + only_right
    near = neighbours(views, budget.pairs)
    if near is None:
        return too_many_pairs(budget.pairs)
    parts = parts_of_all(views)
    if isinstance(parts, Doubt):
        return parts
    queries = []
    for k, positions in near:
        ones = [part for j in positions if j < len(only_left) for part in parts[j]]
        others = [part for j in positions if j >= len(only_left) for part in parts[j]]
        queries.append(Query(views[k].offset, views[k].highest, _differs(parts[k], ones, others)))
    found = least(solver, queries)
    if found.place is None:
        return found.doubt
    visits_left, visits_right = visits_at(only_left, found.place), visits_at(only_right, found.place)
    excess = None if visits_left is None or visits_right is None else visits_left - visits_right
    return Defect((found.place,), excess, least=found.doubt is None)


def _differs(within: Parts, ones: Parts, others: Parts) -> Condition:
    """The place is one of ``within`` and is visited differently often by ``ones`` and ``others``."""
    return lambda place: [member_of_any(within, place), visits(ones, place) != visits(others, place)]
