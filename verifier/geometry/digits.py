"""Which boxes is a view, when its addresses are written in digits?

Question.   Let 1 = r_0 | r_1 | ... | r_m. The digits of an address are d_k = (address // r_k) mod
            (r_{k+1} / r_k); the highest is unbounded and may be negative. Give the visits of a view, whose
            strides are among the r_k, as boxes [low_k, high_k) of digits, each visit in exactly one box.
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

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise, product, zip_longest

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
    """An address that a view evidently visits more than once, the least one if its strides form a chain.

    Let strides s <= t be neighbours, n the extent of s, and t a multiple of s below n * s: then offset + t
    is reached along either axis. If no neighbours are like that, a view on a chain is injective, as every
    axis is a digit of its own; off a chain, None says nothing.

    Theory: T6.
    """
    if view.multiplicity > 1:
        return view.offset
    for (stride, extent), (above, _) in pairwise(view.axes):
        if above % stride == 0 and above < extent * stride:
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
    box = _without_carry(view, radices)
    if box is not None:
        return (box,) if cap > 0 else None
    rest = view.offset
    # A partial box: the digits so far, and the carry into the next digit as [carry, carry + width).
    partial: list[tuple[tuple[int, ...], tuple[int, ...], int, int]] = [((), (), 0, 1)]
    for radix, above in zip_longest(radices, radices[1:]):
        digit = rest
        if above is not None:
            rest, digit = divmod(rest, above // radix)
        extents = [extent for stride, extent in view.axes if stride == radix]
        if sum(_copies([width, *extents]) for _, _, _, width in partial) > cap:
            return None
        grown: list[tuple[tuple[int, ...], tuple[int, ...], int, int]] = []
        for lows, highs, carry, width in partial:
            for start, length in _sums(digit + carry, width, extents):
                if above is None:
                    grown.append((lows + (start,), highs + (start + length,), 0, 1))
                    continue
                for low, high, over, times in _wrapped(start, length, above // radix):
                    grown.append((lows + (low,), highs + (high,), over, times))
            if len(grown) > cap:
                return None
        partial = grown
    return tuple((lows, highs) for lows, highs, _, _ in partial)


def _without_carry(view: NormalView, radices: Sequence[int]) -> Box | None:
    """The one box of a view in which no digit crosses its radix, or None. Most real views have one."""
    lows: list[int] = []
    highs: list[int] = []
    rest = view.offset
    axes = view.axes
    position = len(axes) - 1
    above = None
    for radix in reversed(radices):
        low, rest = divmod(rest, radix)
        high = low + 1
        if position >= 0 and axes[position][0] == radix:
            high = low + axes[position][1]
            position -= 1
        if above is not None and high * radix > above:
            return None
        lows.append(low)
        highs.append(high)
        above = radix
    if position >= 0:  # two axes of one stride
        return None
    return tuple(reversed(lows)), tuple(reversed(highs))


def _copies(lengths: Sequence[int]) -> int:
    """How many intervals ``_sums`` makes of summands of these lengths: all but the longest are unrolled."""
    return math.prod(lengths) // max(lengths)


def _sums(start: int, length: int, extents: Sequence[int]) -> list[tuple[int, int]]:
    """[start, start + length) plus every axis of ``extents``, as intervals (start, length) of visits."""
    *shorter, longest = sorted([length, *extents])
    starts = [start]
    for extent in shorter:
        starts = [first + shift for first in starts for shift in range(extent)]
    return [(first, longest) for first in starts]


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

    A box is prod (y_k^low_k - y_k^high_k) / (1 - y_k). Multiplied by prod (1 - y_k), whose least monomial is
    1, the difference keeps its least monomial, and is a sum of corners.

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
