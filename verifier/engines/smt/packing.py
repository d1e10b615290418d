"""Tiling and Packing as satisfiability: in bounds, injective, disjoint in pairs; the rest by counting.

Theory: T8, T17.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import z3

from verifier.answers import Defect
from verifier.budget import Budget
from verifier.engines.smt.encode import index_variables, member_of_any, reached
from verifier.engines.smt.meeting import meeting, too_many_pairs
from verifier.engines.smt.minimise import Condition, Least, Query, least
from verifier.engines.smt.nested import is_nested, parts_of_all, too_many_axes, visits_at
from verifier.engines.smt.solve import Doubt, LimitedSolver
from verifier.geometry.strided import NormalView
from verifier.obligations.questions import Packing, Tiling


def packing_defect(
    question: Tiling | Packing, views: Sequence[NormalView], solver: LimitedSolver, budget: Budget
) -> Defect | Doubt | None:
    """The least defect, a doubt, or None where the question holds.

    Theory: T8, T17.
    """
    size, holes_matter = max(question.size, 0), isinstance(question, Tiling)
    pairs = meeting(views, budget.pairs)
    if pairs is None:
        found = Least(doubt=too_many_pairs(budget.pairs))
    elif (doubt := too_many_axes(views)) is not None:
        found = Least(doubt=doubt)
    else:
        outside, twice = _outside(size, views), _twice(views, pairs)
        found = least(solver, itertools.chain(outside, twice))
    total = sum(view.distinct * view.multiplicity for view in views)
    if holes_matter and (found != Least() or total != size):
        found = _with_hole(size, views, solver, found)
    if found.place is not None:
        return Defect((found.place,), _excess(size, views, found.place), least=found.doubt is None)
    if total > size or (holes_matter and total < size):
        return Defect(None, None, least=False)  # pigeonhole: somewhere, though no formula found it
    return found.doubt


def _outside(size: int, views: Iterable[NormalView]) -> Iterator[Query]:
    for view in views:
        yield Query(view.offset, min(view.highest, -1), _visit(view))
        yield Query(max(view.offset, size), view.highest, _visit(view))


def _twice(views: Sequence[NormalView], pairs: Iterable[tuple[int, int]]) -> Iterator[Query]:
    """Addresses visited twice, by one view or by two whose hulls meet."""
    for view in views:
        if view.multiplicity > 1:
            yield Query(view.offset, view.highest, _visit(view))
        elif not is_nested(view.axes):
            yield Query(view.offset, view.highest, _self_overlap(view))
    for j, k in pairs:
        common = min(views[j].highest, views[k].highest)
        yield Query(views[k].offset, common, _overlap(views[j], views[k]))


def _visit(view: NormalView) -> Condition:
    return lambda place: reached(view, index_variables(view, "i", place.ctx), place)


def _overlap(left: NormalView, right: NormalView) -> Condition:
    def condition(place: z3.ArithRef) -> list[z3.BoolRef]:
        return [
            *reached(left, index_variables(left, "i", place.ctx), place),
            *reached(right, index_variables(right, "j", place.ctx), place),
        ]

    return condition


def _self_overlap(view: NormalView) -> Condition:
    def condition(place: z3.ArithRef) -> list[z3.BoolRef]:
        one, other = (index_variables(view, tag, place.ctx) for tag in "ij")
        differ = z3.Or([i != j for i, j in zip(one, other, strict=True)])
        return [*reached(view, one, place), *reached(view, other, place), differ]

    return condition


def _with_hole(size: int, views: Sequence[NormalView], solver: LimitedSolver, found: Least) -> Least:
    """``found``, or a hole below it."""
    inside = [view for view in views if view.offset < size and view.highest >= 0]
    parts = parts_of_all(inside)
    if isinstance(parts, Doubt):
        return Least(found.place, found.doubt or parts)
    flat = list(itertools.chain.from_iterable(parts))
    unvisited = Query(0, size - 1, lambda place: [z3.Not(member_of_any(flat, place))])
    return least(solver, [unvisited], known=found)


def _excess(size: int, views: Iterable[NormalView], place: int) -> int | None:
    """Visits minus visits demanded (Tiling) or allowed (Packing); None where visits cannot be counted."""
    visits = visits_at(views, place)
    return None if visits is None else visits - (0 <= place < size)
