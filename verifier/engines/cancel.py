"""The core engine: every question as one cancellation of generating functions.

Theory: T3, T4, T5, T9, T12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation
from verifier.geometry.hulls import components
from verifier.geometry.monomials import (
    Survivor,
    TooLarge,
    Weighted,
    least_boundary_inside,
    least_survivor,
)
from verifier.geometry.strided import NormalView, StridedView, normal_form
from verifier.obligations.pairs import fold_pairs
from verifier.obligations.questions import (
    Packing,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

NAME = "cancel"
_HOLDS = Holds(Cancellation(), NAME)


class CancelEngine:
    """Exact and deterministic, for any strides, up to ``budget.distinct_strides`` in one hull component."""

    name = NAME

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide any question; Unknown (SM902) past the budget, and for packings that leave holes (SM901)."""
        match question:
            case Tiling(size, views):
                return _tiling(size, _normal(views), budget)
            case Packing(size, views):
                return _packing(size, _normal(views), budget)
            case SameAddresses(left, right):
                return _same(_normal(left), _normal(right), budget)
            case SamePairs():
                folded = fold_pairs(question)
                answer = self.decide(folded.question, budget)
                if isinstance(answer, Fails) and answer.defect.place is not None:
                    place = folded.unfold(answer.defect.place[0])
                    return Fails(Defect(place, answer.defect.excess, answer.defect.least), NAME)
                return answer
            case UnitBoundaries(size, unit, views):
                return _unit_boundaries(size, unit, _normal(views), budget)


def _normal(views: Iterable[StridedView]) -> list[NormalView]:
    return [normal for view in views if (normal := normal_form(view)) is not None]


def _interval(low: int, high: int) -> NormalView:
    """The addresses low <= a < high as a view; low < high."""
    return NormalView(low, ((1, high - low),) if high - low > 1 else ())


def _is_run(view: NormalView) -> bool:
    """True when the view visits each address of its hull exactly once, evidently."""
    return view.multiplicity == 1 and (not view.axes or (len(view.axes) == 1 and view.axes[0][0] == 1))


def _component_survivor(
    low: int, high: int, members: Sequence[NormalView], size: int, budget: Budget
) -> Survivor | TooLarge | None:
    """Where one hull component [low, high] first differs from the part of 0..size in it."""
    if len(members) == 1 and low >= 0 and high < size and _is_run(members[0]):
        return None
    terms: list[Weighted] = [(view, 1) for view in members]
    first, last = max(low, 0), min(high + 1, size)
    if first < last:
        terms.append((_interval(first, last), -1))
    return least_survivor(terms, distinct_strides=budget.distinct_strides, monomials=budget.monomials)


def _tiling(size: int, views: Sequence[NormalView], budget: Budget) -> Answer:
    if len(views) == 1 and views[0].offset == 0 and views[0].highest == size - 1 and _is_run(views[0]):
        return _HOLDS
    settled = 0
    skipped: TooLarge | None = None
    for low, high, positions in components(views):
        if settled < min(low, size):
            return _hole(settled, skipped)
        survivor = _component_survivor(low, high, [views[k] for k in positions], size, budget)
        if isinstance(survivor, TooLarge):
            skipped = skipped or survivor
        elif survivor is not None:
            return Fails(Defect((survivor.address,), survivor.value, least=skipped is None), NAME)
        settled = max(settled, min(high + 1, size))
    if settled < size:
        return _hole(settled, skipped)
    return _HOLDS if skipped is None else Unknown("SM902", skipped.reason, NAME)


def _hole(address: int, skipped: TooLarge | None) -> Fails:
    return Fails(Defect((address,), -1, least=skipped is None), NAME)


def _packing(size: int, views: Sequence[NormalView], budget: Budget) -> Answer:
    """Packed when every component is tiled; a component with a hole is left to other engines."""
    undecided: Unknown | None = None
    for low, high, positions in components(views):
        survivor = _component_survivor(low, high, [views[k] for k in positions], size, budget)
        if isinstance(survivor, TooLarge):
            undecided = undecided or Unknown("SM902", survivor.reason, NAME)
        elif survivor is not None and survivor.value > 0:
            return Fails(Defect((survivor.address,), survivor.value, least=undecided is None), NAME)
        elif survivor is not None:
            reason = f"address {survivor.address} is not visited, so the views do not tile their hull"
            undecided = undecided or Unknown("SM901", reason, NAME)
    return undecided or _HOLDS


def _same(left: Sequence[NormalView], right: Sequence[NormalView], budget: Budget) -> Answer:
    """Views that stand on both sides cancel before anything is expanded."""
    weights = Counter(left)
    weights.subtract(Counter(right))
    terms: list[Weighted] = [(view, weight) for view, weight in weights.items() if weight]
    skipped: TooLarge | None = None
    for _, _, positions in components([view for view, _ in terms]):
        survivor = least_survivor(
            [terms[k] for k in positions],
            distinct_strides=budget.distinct_strides,
            monomials=budget.monomials,
        )
        if isinstance(survivor, TooLarge):
            skipped = skipped or survivor
        elif survivor is not None:
            return Fails(Defect((survivor.address,), survivor.value, least=skipped is None), NAME)
    return _HOLDS if skipped is None else Unknown("SM902", skipped.reason, NAME)


def _unit_boundaries(size: int, unit: int, views: Sequence[NormalView], budget: Budget) -> Answer:
    if any(view.offset < 0 or view.highest >= size for view in views):
        return Unknown("SM901", f"a view leaves the addresses 0..{size}", NAME)
    survivor = least_boundary_inside(
        views, unit, distinct_strides=budget.distinct_strides, monomials=budget.monomials
    )
    if isinstance(survivor, TooLarge):
        return Unknown("SM902", survivor.reason, NAME)
    if survivor is None or survivor.address >= size:  # the last unit may be cut by the end of the tensor
        return _HOLDS
    return Fails(Defect((survivor.address,), survivor.value, least=True), NAME)
