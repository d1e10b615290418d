"""Are boxes pairwise disjoint, and how can that be seen at a glance?

Question.   Boxes [low_k, high_k) of integers. Do cuts, hyperplanes that no box of their group lies across,
            leave every box alone? If not, give two boxes that overlap, or the groups that no cut divides.
Reduction.  On one axis, sort a group by low edge: wherever the greatest high edge so far does not pass the
            next low edge, the group falls apart.
Methods.    1 sweep a group along one axis, then its parts along the next one, until a group has one box or
            no axis divides it    2 compare the pairs of an undivided group, swept along its most selective
            axis.
Cost.       n log n for one round of cuts through all groups, and one round for each change of axis. Cuts
            nested deeper than ``NESTING`` are not looked for. 2 is quadratic in the size of a group. Callers
            bound both, the boxes swept and the pairs compared.
Families.   A grid comes apart in one round per axis, random guillotine cuts in about 2 log2(n) rounds. Two
            overlapping boxes are left in a group of a few. Pinwheels are disjoint and have no cut; a
            staircase, where every strip ends at the next one, needs a round for each step.
References. None needed: these are the guillotine cuts of cutting-stock problems.

Theory: T7.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from verifier.geometry.digits import Box

NESTING = 128
"""Most rounds of cuts inside one another: a staircase of boxes falls apart one step a round."""

SWEEPS = 4_000_000
"""Most boxes that are swept along an axis, over all groups and axes, where a caller does not say."""


@dataclass(frozen=True, slots=True)
class Separated:
    """The boxes are disjoint: cuts leave each of them alone."""


@dataclass(frozen=True, slots=True)
class Overlapping:
    """Two positions whose boxes share a point."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Undivided:
    """Groups of positions that no cut divides. ``disjoint`` is True when all pairs in them were compared."""

    groups: tuple[tuple[int, ...], ...]
    disjoint: bool


@dataclass(slots=True)
class _Allowance:
    """What may still be done: boxes to sweep along an axis, and pairs of boxes to compare."""

    sweeps: int
    pairs: int

    def sweep(self, boxes: int) -> bool:
        """Whether so many boxes may be swept; then they are charged."""
        if self.sweeps < boxes:
            return False
        self.sweeps -= boxes
        return True


def separate(
    boxes: Sequence[Box], *, pairs: int, sweeps: int = SWEEPS
) -> Separated | Overlapping | Undivided:
    """Take boxes apart by clean cuts.

    Args:
        boxes: all of the same axes, at least one, and none empty.
        pairs: most pairs of boxes to compare in groups that no cut divides.
        sweeps: most boxes to sweep along an axis; past them a group counts as undivided.

    Theory: T7.
    """
    return _separate(boxes, _Allowance(sweeps, pairs))


def _separate(boxes: Sequence[Box], allowance: _Allowance) -> Separated | Overlapping | Undivided:
    if len(boxes) < 2:
        return Separated()
    if not allowance.sweep(len(boxes) * len(boxes[0][0])):
        return Undivided((tuple(range(len(boxes))),), disjoint=False)
    edges = _edges(boxes)
    undivided: list[list[int]] = []
    # Groups to divide: their boxes, the axis to try first, the rounds of cuts around them.
    pending: list[tuple[list[int], int, int]] = [(list(range(len(boxes))), 0, 0)]
    while pending:
        group, first, nesting = pending.pop()
        division = _divide(group, edges, first, allowance) if nesting < NESTING else None
        if division is None:
            undivided.append(group)
            continue
        axis, starts = division
        for start, end in zip(starts, starts[1:] + [len(group)], strict=True):
            if end - start > 1:
                pending.append((group[start:end], axis + 1, nesting + 1))
    return _compare_pairs(boxes, undivided, allowance) if undivided else Separated()


def _edges(boxes: Sequence[Box]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Low and high edges of all boxes, axis by axis."""
    lows, highs = zip(*boxes, strict=True)
    return list(zip(zip(*lows, strict=True), zip(*highs, strict=True), strict=True))


def _divide(
    group: list[int],
    edges: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    first: int,
    allowance: _Allowance,
) -> tuple[int, list[int]] | None:
    """Sort a group along the first axis, in turn from ``first``, that divides it.

    Returns the axis, and where in the sorted group each part starts; None if no axis divides it, or past
    the allowance.
    """
    for turn in range(len(edges)):
        if not allowance.sweep(len(group)):
            return None
        axis = (first + turn) % len(edges)
        lows, highs = edges[axis]
        group.sort(key=lows.__getitem__)
        starts = [0]
        reach = highs[group[0]]
        for position, box in enumerate(group):
            low, high = lows[box], highs[box]
            if low >= reach:
                starts.append(position)
            if high > reach:
                reach = high
        if len(starts) > 1:
            return axis, starts
    return None


def _compare_pairs(
    boxes: Sequence[Box], groups: Sequence[Sequence[int]], allowance: _Allowance
) -> Overlapping | Undivided:
    disjoint = True
    for group in groups:
        if not allowance.sweep(len(group) * len(boxes[0][0])):
            disjoint = False
            break
        compared = _first_overlap(boxes, group, allowance.pairs)
        if isinstance(compared, Overlapping):
            return compared
        disjoint = disjoint and compared <= allowance.pairs
        allowance.pairs = max(allowance.pairs - compared, 0)
    return Undivided(tuple(sorted(tuple(sorted(group)) for group in groups)), disjoint)


def _first_overlap(boxes: Sequence[Box], group: Sequence[int], pairs: int) -> Overlapping | int:
    """Two overlapping boxes of a group, or how many pairs were compared: above ``pairs`` if not all."""
    axis = min(range(len(boxes[0][0])), key=lambda k: _crossings(boxes, group, k))
    compared = 0
    active: list[int] = []
    for box in sorted(group, key=lambda member: boxes[member][0][axis]):
        start = boxes[box][0][axis]
        active = [other for other in active if boxes[other][1][axis] > start]
        for other in active:
            compared += 1
            if compared > pairs:
                return compared
            if boxes_overlap(boxes[other], boxes[box]):
                return Overlapping(min(box, other), max(box, other))
        active.append(box)
    return compared


def _crossings(boxes: Sequence[Box], group: Sequence[int], axis: int) -> int:
    """How many ordered pairs of a group do not have the second wholly above the first on ``axis``."""
    lows = sorted(boxes[member][0][axis] for member in group)
    return sum(bisect_left(lows, boxes[member][1][axis]) for member in group)


def boxes_overlap(left: Box, right: Box) -> bool:
    """Whether two boxes share a point."""
    return all(
        low < right_high and right_low < high
        for low, high, right_low, right_high in zip(*left, *right, strict=True)
    )


def least_overlap(boxes: Sequence[Box], *, pairs: int, sweeps: int = SWEEPS) -> tuple[int, ...] | None:
    """The least point that two boxes share, where points compare by their last axis first.

    None if they share none, or if ``pairs`` comparisons and ``sweeps`` swept boxes, in all, do not suffice
    to be certain.

    The least point of an overlap has, on every axis, the low edge of some box. The boxes that start at or
    before t overlap for every t from the sought coordinate on, so it is found by bisection, axis by axis.

    Theory: T7.
    """
    if not boxes:
        return None
    allowance = _Allowance(sweeps, pairs)
    group = list(boxes)
    point: list[int] = []
    for axis in range(len(group[0][0]) - 1, -1, -1):
        lows = sorted({box[0][axis] for box in group})
        below, least = -1, len(lows)
        middle = len(lows) - 1
        while below + 1 < least:
            started = [box for box in group if box[0][axis] <= lows[middle]]
            match _separate(started, allowance):
                case Overlapping(first, second):
                    least = bisect_left(lows, max(started[first][0][axis], started[second][0][axis]))
                case Undivided(disjoint=False):
                    return None
                case _:
                    below = middle
            middle = (below + least) // 2
        if least == len(lows):
            return None
        point.append(lows[least])
        group = [box for box in group if box[0][axis] <= lows[least] < box[1][axis]]
    return tuple(reversed(point))
