"""UnitBoundaries: does the visited set begin or end at a place inside a unit?

A boundary is an edge of some view, so each view is asked for one; only views next to it can continue it.

Theory: T9, T17.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from verifier.answers import Defect
from verifier.budget import Budget
from verifier.engines.smt.encode import member_of_any
from verifier.engines.smt.meeting import neighbours, too_many_pairs
from verifier.engines.smt.minimise import Condition, Query, least
from verifier.engines.smt.nested import Parts, contains, parts_of_all
from verifier.engines.smt.solve import Doubt, LimitedSolver
from verifier.geometry.strided import NormalView
from verifier.obligations.questions import UnitBoundaries


def boundary_defect(
    question: UnitBoundaries, views: Sequence[NormalView], solver: LimitedSolver, budget: Budget
) -> Defect | Doubt | None:
    """The least boundary inside a unit, a doubt, or None where there is none.

    Theory: T9, T17.
    """
    near = neighbours(views, budget.pairs, apart=1)
    if near is None:
        return too_many_pairs(budget.pairs)
    parts = parts_of_all(views)
    if isinstance(parts, Doubt):
        return parts
    queries = []
    for k, positions in near:
        around = [part for j in positions for part in parts[j]]
        low, high = views[k].offset, views[k].highest
        queries.append(Query(low, high, _begins(question, parts[k], around)))
        queries.append(Query(low + 1, high + 1, _ends(question, parts[k], around)))
    found = least(solver, queries)
    if found.place is None:
        return found.doubt
    # Exactly one of a boundary and the address before it is visited.
    excess = 1 if any(contains(part, found.place) for own in parts for part in own) else -1
    return Defect((found.place,), excess, least=found.doubt is None)


def _begins(question: UnitBoundaries, own: Parts, around: Parts) -> Condition:
    return lambda place: [
        *_inside_unit(question, place),
        member_of_any(own, place),
        z3.Not(member_of_any(around, place - 1)),
    ]


def _ends(question: UnitBoundaries, own: Parts, around: Parts) -> Condition:
    return lambda place: [
        *_inside_unit(question, place),
        member_of_any(own, place - 1),
        z3.Not(member_of_any(around, place)),
    ]


def _inside_unit(question: UnitBoundaries, place: z3.ArithRef) -> list[z3.BoolRef]:
    return [place % question.unit != 0, place != question.size]
