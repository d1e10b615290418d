"""Which boxes is a view, when its addresses are written in digits?

Question.   Let 1 = r_0 | r_1 | ... | r_m. An address has the digits d_k = (address // r_k) mod (r_{k+1} / r_k);
            the highest digit is unbounded and may be negative. Give the visits of a view, whose strides are
            among the r_k, as boxes [low_k, high_k) of digits, each visit in exactly one box.
Reduction.  An axis of stride r_k moves digit k alone, until it carries. From low to high: the offset's digit,
            the carry (an interval of values) and the axes of this digit add up to an interval; one that
            crosses its radix is split into head, full middle and tail, and the number of crossings is the
            carry into the next digit.
Methods.    Two intervals longer than 1 that add up in one digit make some visits coincide: the shorter one is
            unrolled, so the boxes still count every visit.
Cost.       A view that visits no address twice becomes at most 2^m boxes, in practice 1 to 3.
Families.   Row and column cuts of row-major tensors are one box. A view that wraps a row is two or three.
References. None needed: this is addition with carry.

Addresses are ordered as their digits, read from the highest down. So the least address at which two
collections of boxes differ is the least corner that survives when all corners, with signs, are added up.

Theory: T6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, product

from verifier.geometry.strided import NormalView

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""(lows, highs): half-open intervals of digits, the digit of weight ``radices[0] == 1`` first."""

Counted = tuple[Box, int]
"""A box and how often it is visited."""


def divisibility_chain(views: Iterable[NormalView]) -> tuple[int, ...] | None:
    """The ascending radices 1 | r_1 | r_2 ... that are the strides of ``views``, or None if there are none.

    Theory: T6.
    """
    radices = sorted({1, *(stride for view in views for stride, _ in view.axes)})
    if any(high % low for low, high in pairwise(radices)):
        return None
    return tuple(radices)


def visits_twice(view: NormalView) -> int | None:
    """The least address that a view on a divisibility chain visits more than once; None if it is injective.

    Without stride-0 axes: the least strides s < t (or s == t) with extents n, .. where n * s > t make offset + t
    reachable along either axis; if there are none, every axis is a digit of its own.

    Theory: T6.
    """
    if view.multiplicity > 1:
        return view.offset
    for (stride, extent), (above, _) in pairwise(view.axes):
        if extent * stride > above:
            return view.offset + above
    return None


def digit_boxes(view: NormalView, radices: Sequence[int], *, cap: int) -> tuple[Box, ...] | None:
    """The visits of ``view`` as boxes of digits, its multiplicity apart; None if there are more than ``cap``.

    Args:
        view: its strides must be among ``radices``.
        radices: a divisibility chain that starts with 1.
        cap: most boxes to make.

    Theory: T6.
    """
    rest = view.offset
    axes = view.axes
    taken = 0
    top = len(radices) - 1
    # A partial box: the digits so far, and the carry into the next digit as [carry, carry + width).
    partial: list[tuple[tuple[int, ...], tuple[int, ...], int, int]] = [((), (), 0, 1)]
    for k, radix in enumerate(radices):
        size = radices[k + 1] // radix if k < top else None
        digit = rest
        if size is not None:
            rest, digit = divmod(rest, size)
        extents: list[int] = []
        while taken < len(axes) and axes[taken][0] == radix:
            extents.append(axes[taken][1])
            taken += 1
        grown: list[tuple[tuple[int, ...], tuple[int, ...], int, int]] = []
        for lows, highs, carry, width in partial:
            for start, length in _sums(digit + carry, width, extents, cap):
                if size is None:
                    grown.append((lows + (start,), highs + (start + length,), 0, 1))
                    continue
                for low, high, over, times in _wrapped(start, length, size):
                    grown.append((lows + (low,), highs + (high,), over, times))
            if len(grown) > cap:
                return None
        partial = grown
    return tuple((lows, highs) for lows, highs, _, _ in partial)


def _sums(start: int, length: int, extents: list[int], cap: int) -> list[tuple[int, int]]:
    """[start, start + length) plus every axis of ``extents``, as intervals (start, length) that count visits."""
    runs = [(start, length)]
    for extent in extents:
        added: list[tuple[int, int]] = []
        for first, run in runs:
            longer, shorter = max(run, extent), min(run, extent)
            added += [(first + shift, longer) for shift in range(min(shorter, cap + 1 - len(added)))]
        runs = added
    return runs


def _wrapped(start: int, length: int, size: int) -> list[tuple[int, int, int, int]]:
    """[start, start + length) modulo ``size`` as (low, high, carry, times): head, full middle, tail."""
    carry, low = divmod(start, size)
    high = low + length
    if high <= size:
        return [(low, high, carry, 1)]
    parts: list[tuple[int, int, int, int]] = []
    if low:
        parts.append((low, size, carry, 1))
        carry, high = carry + 1, high - size
    turns, tail = divmod(high, size)
    if turns:
        parts.append((0, size, carry, turns))
    if tail:
        parts.append((0, tail, carry + turns, 1))
    return parts


def address_of(digits: Sequence[int], radices: Sequence[int]) -> int:
    """The address with the given digits, lowest first."""
    return sum(digit * radix for digit, radix in zip(digits, radices, strict=True))


def least_difference(
    left: Iterable[Counted], right: Iterable[Counted], radices: Sequence[int]
) -> tuple[int, int] | None:
    """The least address that ``left`` and ``right`` do not visit equally often, with the excess of ``left``.

    None if there is none. Costs 2^len(radices) corners a box.

    A box is prod (y_k^low_k - y_k^high_k) / (1 - y_k). Multiplied by prod (1 - y_k), whose least monomial is 1,
    the difference keeps its least monomial, and is a sum of corners.

    Theory: T4, T6.
    """
    corners: dict[tuple[int, ...], int] = {}
    signs = [(-1) ** sum(ends) for ends in product((0, 1), repeat=len(radices))]
    for boxes, side in ((left, 1), (right, -1)):
        for (lows, highs), count in boxes:
            ends = zip(reversed(lows), reversed(highs), strict=True)
            for corner, sign in zip(product(*ends), signs, strict=True):
                corners[corner] = corners.get(corner, 0) + sign * side * count
    least = min((corner for corner, excess in corners.items() if excess), default=None)
    if least is None:
        return None
    return address_of(least[::-1], radices), corners[least]
