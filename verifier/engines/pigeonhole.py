"""Tiling and Packing as many small facts: in bounds, injective, pairwise disjoint, the right count.

Theory: T8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from verifier.answers import Defect
from verifier.geometry.digits import visits_twice
from verifier.geometry.diophantine import Meet, Meeting, meeting_by, revisit_by
from verifier.geometry.equations import Solver
from verifier.geometry.strided import NormalView, StridedView, normal_form
from verifier.obligations.questions import Packing, Tiling

AXES = 16
"""Facts about fewer axes all cost the same: the work around their equations, not to reduce those."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Two views share no address; or one view, when there is no other, visits no address twice."""

    view: StridedView
    other: StridedView | None = None

    def __str__(self) -> str:
        if self.other is None:
            return f"whether {_triple(self.view)} visits an address twice"
        return f"whether {_triple(self.view)} and {_triple(self.other)} meet"

    @property
    def cost(self) -> int:
        """How many ordinary facts this one counts for, before any search.

        To reduce an equation is quadratic in its axes, and a view asks one about itself for each axis.
        """
        own = len(self.view.shape)
        if self.other is None:
            return 1 + own * (own // AXES) ** 2
        return 1 + ((own + len(self.other.shape)) // AXES) ** 2

    def decide(self, solve: Solver) -> Meeting:
        """Apart if the fact holds; Meet is its counterexample."""
        if self.other is None:
            return revisit_by(self.view, solve)
        return meeting_by(self.view, self.other, solve)


def _triple(view: StridedView) -> str:
    return f"(offset {view.offset}, shape {view.shape}, strides {view.strides})"


def nonempty(question: Tiling | Packing) -> list[StridedView]:
    """The views that touch anything."""
    return [view for view in question.views if not view.is_empty]


def normal_forms(views: Sequence[StridedView]) -> list[NormalView]:
    """The normal forms of the views that touch anything."""
    return [normal for view in views if (normal := normal_form(view)) is not None]


def facts(views: Sequence[StridedView]) -> Iterator[Fact]:
    """Every view is injective, then every two whose hulls meet are disjoint."""
    ordered = sorted(views, key=lambda view: (view.lowest, view.highest))
    yield from map(Fact, ordered)
    active: list[tuple[int, StridedView]] = []
    for view in ordered:
        low = view.lowest
        active = [(highest, other) for highest, other in active if highest >= low]
        yield from (Fact(other, view) for _, other in active)
        active.append((view.highest, view))


def defect_of(fact: Fact, meet: Meet) -> Defect:
    """The defect that a counterexample shows: an address visited more than once, not always the least."""
    return Defect((fact.view.address(meet.left),), None, least=False)


def certain_defect(question: Tiling | Packing, views: Sequence[NormalView]) -> Defect | None:
    """A defect seen without comparing views: out of bounds, repeated, out of every hull, or a wrong count.

    Args:
        question: the statement.
        views: the normal forms of its views that are not empty.

    Only the views that end there reach the outermost address, so the excess is exact out of bounds.

    Theory: T2, T8.
    """
    size = question.size
    low = min((view.offset for view in views), default=0)
    if low < 0:
        lowest = sum(view.multiplicity for view in views if view.offset == low)
        return Defect((low,), lowest, least=True)
    hulls = sorted((view.offset, view.highest) for view in views)
    high = max((reached for _, reached in hulls), default=-1)
    if high >= size:
        highest = sum(view.multiplicity for view in views if view.highest == high)
        return Defect((high,), highest, least=False)
    for view in views:
        twice = visits_twice(view)
        if twice is not None:
            return Defect((twice,), None, least=False)
    visits = sum(view.distinct for view in views)
    if isinstance(question, Tiling):
        hole = _least_gap(size, hulls)
        if hole is not None:
            return Defect((hole,), -1, least=hole == 0)
        if visits < size:
            return Defect(None, None, least=False)
    return Defect(None, None, least=False) if visits > size else None


def _least_gap(size: int, hulls: Sequence[tuple[int, int]]) -> int | None:
    """The least address of ``0..size`` that lies in no hull; the hulls are sorted."""
    end = 0
    for lowest, highest in hulls:
        if lowest > end:
            break
        end = max(end, highest + 1)
    return end if end < size else None
