"""The reference: list every address and count.

Nothing here is clever, so that it can be believed by reading it once. It shares only
``StridedView.address`` with the other engines; where they disagree with it, they are wrong.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import confirmation
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

Place = tuple[int, ...]
"""(address,), or (source, dest) for SamePairs."""


AXES_PER_ADDRESS = 8
"""An address is a sum over axes: one of more axes than this costs as much as several."""


@dataclass(frozen=True, slots=True)
class EnumerateEngine:
    """Decides every question whose addresses, with those of the demanded range, fit in ``budget.addresses``.

    The defect it reports is the least one, with its exact excess.
    """

    name: str = field(default="enumerate", init=False)

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide one question by listing."""
        addresses = _addresses_to_list(question)
        if addresses > budget.addresses:
            reason = f"addresses to list cost {addresses}, but the budget is {budget.addresses}"
            return Unknown("SM902", reason, self.name)
        if isinstance(question, UnitBoundaries):
            trouble = _trouble(question)
            if trouble is not None:
                return Unknown("SM901", trouble, self.name)
        excess = _excess(question)
        if not excess:
            return Holds(confirmation(question), self.name)
        place = min(excess)
        return Fails(Defect(place, excess[place], least=True), self.name)


def _addresses_to_list(question: Question) -> int:
    """How many addresses (or pairs) deciding ``question`` lists, the demanded range included."""
    match question:
        case Tiling(size, views) | Packing(size, views):
            return max(size, 0) + sum(map(_cost, views))
        case UnitBoundaries(_, _, views):
            return sum(map(_cost, views))
        case SameAddresses(left, right):
            return sum(map(_cost, left + right))
        case SamePairs(left_pairs, right_pairs):
            return sum(_cost(pair.source) for pair in left_pairs + right_pairs)


def _cost(view: StridedView) -> int:
    """The addresses of a view, each counted once for every ``AXES_PER_ADDRESS`` axes begun."""
    return view.numel * max(1, -(-len(view.shape) // AXES_PER_ADDRESS))


def _trouble(question: UnitBoundaries) -> str | None:
    """Why the question has no meaning, or None: no address is visited twice."""
    for (address,), visits in sorted(_visits(question.views).items()):
        if visits > 1:
            return f"address {address} is visited {visits} times, so the views are no set"
    return None


def _excess(question: Question) -> dict[Place, int]:
    """Every defective place with its excess."""
    match question:
        case Tiling(size, views):
            return _difference(_visits(views), _range(size))
        case Packing(size, views):
            excess = _difference(_visits(views), _range(size))
            return {place: surplus for place, surplus in excess.items() if surplus > 0}
        case SameAddresses(left, right):
            return _difference(_visits(left), _visits(right))
        case SamePairs(left_pairs, right_pairs):
            return _difference(_pair_visits(left_pairs), _pair_visits(right_pairs))
        case UnitBoundaries(size, unit, views):
            visited = _visits(views)
            one_later: Counter[Place] = Counter(
                {(address + 1,): visits for (address,), visits in visited.items()}
            )
            return {
                (address,): change
                for (address,), change in _difference(visited, one_later).items()
                if address % unit != 0 and address != size
            }


def _difference(visits: Counter[Place], demanded: Counter[Place]) -> dict[Place, int]:
    """Visits minus demanded visits, wherever the two differ."""
    places = visits.keys() | demanded.keys()
    return {place: visits[place] - demanded[place] for place in places if visits[place] != demanded[place]}


def _range(size: int) -> Counter[Place]:
    """Each address of ``0..size`` once."""
    return Counter((address,) for address in range(size))


def _visits(views: Iterable[StridedView]) -> Counter[Place]:
    """How often each address is visited."""
    return Counter((view.address(index),) for view in views for index in _indices(view))


def _pair_visits(pairs: Iterable[PairView]) -> Counter[Place]:
    """How often each (source, dest) is visited."""
    return Counter(
        (pair.source.address(index), pair.dest.address(index))
        for pair in pairs
        for index in _indices(pair.source)
    )


def _indices(view: StridedView) -> Iterable[tuple[int, ...]]:
    """Every index tuple of a view. An empty one is settled first: its other extents may be past listing."""
    return () if view.is_empty else itertools.product(*(range(extent) for extent in view.shape))
