"""The second exact engine: views as boxes of digits, boxes taken apart by clean cuts.

A tiling is proved by pigeonhole: in bounds, no visit twice, and as many visits as addresses. That shares no
step with the cancellation of generating functions, so that a disagreement of the two is a bug in one of them.

Theory: T6, T7, T8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import confirmation
from verifier.engines.pigeonhole import certain_defect, normal_forms
from verifier.geometry.cuts import Overlapping, Separated, Undivided, least_overlap, separate
from verifier.geometry.digits import (
    Box,
    Counted,
    address_of,
    digit_boxes,
    divisibility_chain,
    least_difference,
)
from verifier.geometry.strided import NormalView
from verifier.obligations.questions import Packing, Question, SameAddresses, Tiling

NAME = "boxes"

BOXES_PER_VIEW = 2**14
"""Most boxes of one view. Real views have 1 to 3; a few views must not use up what is meant for very many."""

DIGITS = 2
"""Digits that all boxes may have together, as a multiple of the budget of boxes."""

CORNERS = 1
"""Corners that may be added up to find the least defect, as a multiple of the budget of boxes."""

SWEEPS = 4
"""Boxes that may be swept along an axis in search of cuts, as a multiple of the budget of boxes."""


class BoxesEngine:
    """Exact where the strides form a divisibility chain; cost by ``budget.boxes``, whatever the extents."""

    name = NAME

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide tilings, packings and equal addresses; Unknown (SM901) for anything else."""
        match question:
            case Tiling() | Packing():
                return _decide_cover(question, budget)
            case SameAddresses():
                return _decide_same(question, budget)
            case _:
                return Unknown("SM901", f"{type(question).__name__} is no question about boxes", NAME)


@dataclass(frozen=True, slots=True)
class _Digits:
    """Views as counted boxes of the digits of one chain."""

    radices: tuple[int, ...]
    counted: tuple[tuple[Counted, ...], ...]


def _in_digits(sides: Sequence[Sequence[NormalView]], budget: Budget) -> _Digits | Unknown:
    """Several collections of views in the digits of their common chain."""
    radices = divisibility_chain(view for side in sides for view in side)
    if radices is None:
        return Unknown("SM901", "the strides form no divisibility chain", NAME)
    most = min(budget.boxes, DIGITS * budget.boxes // len(radices))
    made = 0
    counted: list[tuple[Counted, ...]] = []
    for side in sides:
        boxes: list[Counted] = []
        for view in side:
            of_view = digit_boxes(view, radices, cap=min(BOXES_PER_VIEW, most - made))
            if of_view is None:
                reason = f"more than {most} boxes of {len(radices)} digits, or {BOXES_PER_VIEW} of one view"
                return Unknown("SM902", reason, NAME)
            made += len(of_view)
            boxes += [(box, view.multiplicity) for box in of_view]
        counted.append(tuple(boxes))
    return _Digits(radices, tuple(counted))


def _run(first: int, end: int) -> list[NormalView]:
    """The addresses ``first <= a < end`` as at most one view."""
    length = end - first
    if length <= 0:
        return []
    return [NormalView(first, ((1, length),) if length > 1 else ())]


def _decide_same(question: SameAddresses, budget: Budget) -> Answer:
    digits = _in_digits([normal_forms(question.left), normal_forms(question.right)], budget)
    if isinstance(digits, Unknown):
        return digits
    if _corners(digits) > CORNERS * budget.boxes:
        return Unknown("SM902", f"more than {CORNERS * budget.boxes} corners of boxes", NAME)
    difference = _least_difference(digits)
    if difference is None:
        return Holds(confirmation(question), NAME)
    address, excess = difference
    return Fails(Defect((address,), excess, least=True), NAME)


def _least_difference(digits: _Digits) -> tuple[int, int] | None:
    left, right = digits.counted
    return least_difference(left, right, digits.radices)


def _corners(digits: _Digits) -> int:
    return sum(map(len, digits.counted)) << len(digits.radices)


def _decide_cover(question: Tiling | Packing, budget: Budget) -> Answer:
    views = normal_forms(question.views)
    defect = certain_defect(question, views)
    reach = max((view.highest for view in views), default=-1)
    # Besides the views: the demanded range of a tiling, or the addresses that a packing must not reach.
    rest = _run(0, question.size) if isinstance(question, Tiling) else _run(question.size, reach + 1)
    digits = _in_digits([views, rest], budget)
    if isinstance(digits, Unknown):
        return digits if defect is None else Fails(defect, NAME)
    visited = digits.counted[0]
    if defect is None:
        boxes = [box for box, _ in visited]
        match separate(boxes, pairs=budget.pairs, sweeps=SWEEPS * budget.boxes):
            case Separated() | Undivided(disjoint=True):
                return Holds(confirmation(question), NAME)
            case Undivided(groups):
                largest = max(map(len, groups))
                reason = f"{largest} boxes that no cut separates were not all compared"
                return Unknown("SM902", reason, NAME)
            case Overlapping(first, second):
                shared = [max(ends) for ends in zip(boxes[first][0], boxes[second][0], strict=True)]
                defect = Defect((address_of(shared, digits.radices),), None, least=False)
    if isinstance(question, Tiling):
        return Fails(_least_of_tiling(digits, budget) or defect, NAME)
    return Fails(_least_of_packing(question, digits, budget) or defect, NAME)


def _least_of_tiling(digits: _Digits, budget: Budget) -> Defect | None:
    """The least address not visited exactly once, by corners."""
    if _corners(digits) > CORNERS * budget.boxes:
        return None
    difference = _least_difference(digits)
    if difference is None:
        raise RuntimeError("a tiling was refuted, but all corners of its boxes cancel")
    address, excess = difference
    return Defect((address,), excess, least=True)


def _least_of_packing(question: Packing, digits: _Digits, budget: Budget) -> Defect | None:
    """The least address visited too often: negative, or shared by two boxes or by a box and the outside."""
    visited, outside = digits.counted
    low = min(address_of(lows, digits.radices) for (lows, _), _ in visited)
    if low >= 0:
        boxes = [box for box, count in visited for _ in range(min(count, 2))]
        boxes += [box for box, _ in outside]
        point = least_overlap(boxes, pairs=budget.pairs, sweeps=SWEEPS * budget.boxes)
        if point is None:
            return None
        low = address_of(point, digits.radices)
    else:
        point = _digits_of(low, digits.radices)
    visits = sum(count for box, count in visited if _holds(box, point))
    allowed = 1 if 0 <= low < question.size else 0
    return Defect((low,), visits - allowed, least=True)


def _digits_of(address: int, radices: Sequence[int]) -> tuple[int, ...]:
    digits: list[int] = []
    for radix in reversed(radices):
        digit, address = divmod(address, radix)
        digits.append(digit)
    return tuple(reversed(digits))


def _holds(box: Box, point: Sequence[int]) -> bool:
    return all(low <= digit < high for low, digit, high in zip(box[0], point, box[1], strict=True))
