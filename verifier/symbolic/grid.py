"""Boxes on a symbolic grid: a second exact method for tilings, with linear queries only.

Question.   Do the views visit each address of a row-major tensor of shape (d_0, d_1, ...) exactly once?
Reduction.  Read each offset as digits on the grid: o = sum c_k R_k with R_k = d_(k+1) * d_(k+2) * .... A view
            whose strides are R_k is the box of the [c_k, c_k + n_k), if 0 <= c_k and c_k + n_k <= d_k.
Methods.    The claims on digits are linear in the sizes although the addresses are not. Two boxes are apart
            when some axis is proved to part them; which one is read off one point. The volumes add up as
            polynomials. A dimension that is a sum is given a name of its own, or products would hide it.
Cost.       One query for each pair of boxes, and two for each digit.

Theory: T22.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from verifier.symbolic.claims import is_zero, not_negative
from verifier.symbolic.demands import Balance
from verifier.symbolic.facts import Facts
from verifier.symbolic.layout import Numbers, SymbolicView
from verifier.symbolic.polynomial import ONE, ZERO, Polynomial, product

MOST_PAIRS = 2_000
"""Pairs of boxes; each may cost a query."""


@dataclass(frozen=True, slots=True)
class Box:
    """The elements low <= index < high of a grid, axis by axis."""

    low: Numbers
    high: Numbers


def fills_grid(balance: Balance, facts: Facts) -> bool:
    """True when the views of a tiling are boxes of its grid that are apart and fill it, at all points.

    False says nothing.

    Theory: T22.
    """
    if balance.size is None or len(balance.left) * (len(balance.left) - 1) // 2 > MOST_PAIRS:
        return False
    facts, grid = _named_dimensions(balance.grid, facts)
    volume = sum([product(view.shape) for view in balance.left], ZERO)
    if facts.reduced(volume - product(balance.grid)) != ZERO:
        return False
    boxes: list[Box] = []
    for view in balance.left:
        if any(facts.entails(is_zero(extent)) for extent in view.shape):
            continue
        box = _box(view, grid, facts)
        if box is None:
            return False
        boxes.append(box)
    point = facts.found().point
    if point is None:
        return facts.contradictory
    return all(_apart(one, other, facts, point) for one, other in combinations(boxes, 2))


def _named_dimensions(grid: Numbers, facts: Facts) -> tuple[Facts, Numbers]:
    """The facts with a name for each dimension that is a sum, and the dimensions as products of atoms."""
    named: list[Polynomial] = []
    for axis, dimension in enumerate(grid):
        dimension = facts.reduced(dimension)
        number, common = dimension.content()
        if len(dimension.terms) > 1 and number:
            name = f"@{axis}"
            facts = facts.naming(name, dimension.over(number, common))
            dimension = facts.reduced(dimension)
        named.append(dimension)
    return facts, tuple([facts.reduced(dimension) for dimension in named])


def _box(view: SymbolicView, grid: Numbers, facts: Facts) -> Box | None:
    """The box that a view is, None when its numbers do not say so."""
    strides = [product(grid[axis + 1 :]) for axis in range(len(grid))]
    extents = [ONE] * len(grid)
    free = list(range(len(grid)))
    for extent, stride in zip(view.shape, view.strides, strict=True):
        extent, stride = facts.reduced(extent), facts.reduced(stride)
        if extent == ONE:
            continue
        axis = next((axis for axis in free if strides[axis] == stride), None)
        if axis is None:
            return None
        free.remove(axis)
        extents[axis] = extent
    digits = _digits(facts.reduced(view.offset), strides)
    if digits is None:
        return None
    low = _borrowed(digits, grid, facts)
    high = tuple([start + extent for start, extent in zip(low, extents, strict=True)])
    inside = all(
        facts.entails(not_negative(start)) and facts.entails(not_negative(dimension - end))
        for start, end, dimension in zip(low, high, grid, strict=True)
    )
    return Box(low, high) if inside else None


def _digits(offset: Polynomial, strides: Sequence[Polynomial]) -> Numbers | None:
    """The offset divided by the strides in turn, None when something is left or a stride is a sum."""
    digits: list[Polynomial] = []
    for stride in strides:
        if len(stride.terms) != 1:
            return None
        digit = ZERO
        for term in offset.terms:
            digit += Polynomial((term,)).divided(stride) or ZERO
        digits.append(digit)
        offset -= digit * stride
    return tuple(digits) if offset == ZERO else None


def _borrowed(digits: Numbers, grid: Numbers, facts: Facts) -> Numbers:
    """The digits with none below 0 where one of the next higher digit makes up for it."""
    low = list(digits)
    for axis in range(len(low) - 1, 0, -1):
        if not facts.entails(not_negative(low[axis])):
            low[axis] += grid[axis]
            low[axis - 1] -= 1
    return tuple(low)


def _apart(one: Box, other: Box, facts: Facts, point: Mapping[str, int]) -> bool:
    """True when some axis is proved to part two boxes; which one is guessed at a point."""
    gaps = [other.low[axis] - one.high[axis] for axis in range(len(one.low))]
    gaps += [one.low[axis] - other.high[axis] for axis in range(len(one.low))]
    return any(gap.value(point) >= 0 and facts.entails(not_negative(gap)) for gap in gaps)
