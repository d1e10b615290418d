"""The trusted base: accepts a certificate only if the map in it meets the expectation in it.

Standard library only and nothing of this project, so that no engine vouches for itself; ``python check.py CERT``
runs it alone. All obligations are derived from the map; ``evidence`` only says how one is to be checked. Whatever
is malformed, too large or not understood is rejected. Theory: T3-T12, T14-T16.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from math import gcd, lcm, prod
from pathlib import Path
from typing import Any, NamedTuple

INT64_MAX = 2**63 - 1
MOST_WORK = 2**24  # monomials, boxes or search nodes of one obligation
MOST_STRIDES, MOST_AXES, MOST_ADDRESSES, MOST_TEXT = 20, 64, 5_000_000, 2**27
Form = Mapping[str, Any]
Box = tuple[tuple[int, int], ...]  # low and high (exclusive) of each digit


class Rejected(Exception):  # noqa: N818 - an outcome, not an error
    """The certificate proves nothing; the message names the obligation and the first wrong number."""


class Work:
    """An allowance of steps."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        """Reject once more steps are spent than allowed."""
        self.left -= steps
        if self.left < 0:
            raise Rejected("too large to check")


class View(NamedTuple):
    """``repeat`` visits of each address low + sum(i_k * stride_k): strides >= 1 ascending, extents >= 2. Theory: T1."""

    low: int
    high: int
    axes: tuple[tuple[int, int], ...]
    repeat: int


def normal(offset: int, strides: Sequence[int], shape: Sequence[int]) -> View:
    """The normal form of a view that is not empty. Theory: T1, T2."""
    axes: list[tuple[int, int]] = []
    for s, n in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if s and n > 1):
        if axes and s == axes[-1][0] * axes[-1][1]:
            axes[-1] = (axes[-1][0], axes[-1][1] * n)
        else:
            axes.append((s, n))
    low = offset + sum(s * (n - 1) for s, n in zip(strides, shape, strict=True) if s < 0)
    repeat = prod(n for s, n in zip(strides, shape, strict=True) if s == 0)
    return View(low, low + sum(s * (n - 1) for s, n in axes), tuple(axes), repeat)


def visits(views: Iterable[View]) -> int:
    """How many visits there are in all."""
    return sum(v.repeat * prod(n for _, n in v.axes) for v in views)


def components(views: Iterable[View]) -> Iterator[tuple[int, int, list[View]]]:
    """(lowest, highest, views) of each connected component of the hulls, ascending. Theory: T12."""
    group: list[View] = []
    for view in sorted(views):
        if group and view.low > high:
            yield group[0].low, high, group
            group = []
        high = max(high, view.high) if group else view.high
        group.append(view)
    if group:
        yield group[0].low, high, group


def times(terms: Mapping[int, int], factor: Mapping[int, int], work: Work) -> dict[int, int]:
    """The product of two polynomials, given as exponent -> coefficient."""
    work.spend(len(terms) * len(factor))
    product: dict[int, int] = {}
    for a, c in terms.items():
        for b, d in factor.items():
            product[a + b] = product.get(a + b, 0) + c * d
    return product


def numerator(views: Sequence[View], unit: int, work: Work) -> Mapping[int, int]:
    """The visits of all views as one polynomial times D = prod (1 - x^lcm(s, unit)) over all strides s.

    A view is x^low * prod (1 - x^(s n)) / (1 - x^s). D has constant term 1, so the least exponent that survives is
    the least address visited at all, its coefficient the number of visits. Theory: T3, T4, T9.
    """
    strides: Counter[int] = Counter()
    for view in views:
        strides |= Counter(s for s, _ in view.axes)
        if strides.total() > MOST_STRIDES:
            raise Rejected("too large to check: too many strides")
    total: Counter[int] = Counter()
    for view in views:
        own = Counter(s for s, _ in view.axes)
        terms = {view.low: view.repeat}
        for s, n in view.axes:
            terms = times(terms, {0: 1, s * n: -1}, work)
            work.spend(lcm(s, unit) // s)
            if unit > 1:  # (1 - x^lcm) / (1 - x^s)
                terms = times(terms, dict.fromkeys(range(0, lcm(s, unit), s), 1), work)
        for s in (strides - own).elements():
            terms = times(terms, {0: 1, lcm(s, unit): -1}, work)
        total.update(terms)
    return total


def solutions(target: int, axes: Sequence[tuple[int, int]], work: Work) -> int:
    """How many index tuples of ``axes`` (stride, extent) sum to ``target``. Theory: T14."""
    if not axes or target % gcd(*(s for s, _ in axes)):
        return int(not axes and target == 0)
    *below, (s, n) = axes
    reach = sum(t * (m - 1) for t, m in below)
    first, last = max(0, -((reach - target) // s)), min(n - 1, target // s)
    work.spend(max(0, last - first + 1))
    return sum(solutions(target - i * s, below, work) for i in range(first, last + 1))


def unvisited(cells: Iterable[int], views: Sequence[View], work: Work) -> list[View]:
    """One visit at each of the cells that no view visits, consecutive ones as one view. Theory: T15."""
    runs: list[tuple[int, int]] = []
    for cell in sorted(cells):
        work.spend(1 + len(views))
        if not any(v.low <= cell <= v.high and solutions(cell - v.low, v.axes, work) for v in views):
            start, length = runs.pop() if runs and sum(runs[-1]) == cell else (cell, 0)
            runs.append((start, length + 1))
    return [normal(start, (1,), (length,)) for start, length in runs]


def check_pairs(views: Sequence[View], work: Work) -> None:
    """Every view visits an address at most once, and no two views meet. Theory: T8, T14."""
    for v in views:
        differences = [(s, 2 * n - 1) for s, n in v.axes]  # of two indices; only equal ones may meet
        if v.repeat != 1 or solutions(v.high - v.low, differences, work) != 1:
            raise Rejected(f"the view from address {v.low} visits an address twice")
    ordered, meetings = sorted(views), Work(MOST_WORK // 16)
    for i, a in enumerate(ordered):
        for b in islice(ordered, i + 1, None):
            if b.low > a.high:
                break
            meetings.spend(1)
            spans: Counter[int] = Counter()
            for s, n in a.axes + b.axes:
                spans[s] += n - 1
            # They meet iff a.low + (indices of a) == b.high - (indices of b, reversed).
            if solutions(b.high - a.low, [(s, n + 1) for s, n in sorted(spans.items())], work):
                raise Rejected(f"the views from addresses {a.low} and {b.low} meet")


def listed(views: Sequence[View]) -> list[int]:
    """The address of every visit, ascending."""
    if visits(views) > MOST_ADDRESSES:
        raise Rejected("too large to check: too many addresses")
    addresses: list[int] = []
    for v in views:
        cells = [v.low] * v.repeat
        for s, n in v.axes:
            cells = [cell + s * i for cell in cells for i in range(n)]
        addresses += cells
    return sorted(addresses)


def digit_boxes(view: View, radices: Sequence[int]) -> list[Box]:
    """Boxes that together are the addresses of a view whose strides are all radices. Theory: T6."""
    extents = dict(view.axes)
    parts: list[tuple[Box, int, int]] = [((), view.low, view.low + 1)]  # digits so far, range of the rest
    for radix, above in pairwise(radices):
        width, split = above // radix, []
        for box, low, high in parts:
            high += extents.get(radix, 1) - 1
            first = min(high, -(-low // width) * width)  # low..first and last..high lie in one turn of the digit
            last = max(first, high // width * width)
            for a, b in pairwise(sorted({low, first, last, high})):
                digit = (0, width) if b - a >= width else (a % width, (b - 1) % width + 1)
                split.append(((*box, digit), a // width, (b - 1) // width + 1))
        parts = split
    return [(*box, (low, high + extents.get(radices[-1], 1) - 1)) for box, low, high in parts]


def check_tree(views: Sequence[View], radices: Sequence[int], tree: Sequence[Any], work: Work) -> None:
    """Cuts part digit space into regions that meet one view each; no view meets itself. Theory: T6, T7."""
    if radices[:1] != [1] or any(high <= low or high % low for low, high in pairwise(radices)):
        raise Rejected(f"radices {radices} are no divisibility chain from 1")
    boxes: list[tuple[int, Box]] = []
    for owner, v in enumerate(views):
        if not {s for s, _ in v.axes} <= set(radices):
            raise Rejected(f"the view from address {v.low} has a stride that is no radix")
        if v.repeat != 1 or any(s * n > above for (s, n), (above, _) in pairwise(v.axes)):
            raise Rejected(f"the view from address {v.low} visits an address twice")
        boxes += [(owner, box) for box in digit_boxes(v, radices)]
    pending = [boxes]
    for cut in tree:
        group = pending.pop() if pending else []
        work.spend(1 + len(group))
        if cut is None:
            if len({owner for owner, _ in group}) > 1:
                raise Rejected(f"a leaf holds the views from {sorted({views[owner].low for owner, _ in group})}")
            continue
        axis, at = cut
        if axis >= len(radices):
            raise Rejected(f"a cut on digit {axis} of {len(radices)}")
        for low, high in ((at, None), (0, at)):
            pending.append(...)
