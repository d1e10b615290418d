"""Are boxes pairwise disjoint, and how can that be seen at a glance?

Question.   Boxes [low_k, high_k) of integers. Give a tree of cuts, hyperplanes that no box of their group
            lies across, that leaves every box alone; or two boxes that overlap; or the groups that no cut
            divides.
Reduction.  On one axis, sort a group by low edge: wherever the greatest high edge so far does not pass the
            next low edge, the group falls apart.
Methods.    1 sweep a group along one axis, then its parts along the next one, until a group has one box or
            no axis divides it    2 compare the pairs of an undivided group, swept along its most selective
            axis.
Cost.       n log n for one round of cuts through all groups, and one round for each change of axis. Cuts
            nested deeper than ``NESTING`` are not looked for. 2 is quadratic in the size of a group.
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
"""Most rounds of cuts inside one another. It bounds the work, and the depth of the tree by 128 + log2(n)."""

Tree = tuple[int, int, "Tree", "Tree"] | None
"""(axis, at, below, above): boxes with ``high <= at`` lie below, those with ``low >= at`` above. None is a
leaf of at most one box."""

_Split = tuple[int, list[int], range]
"""How a group was divided: axis, ascending cuts, and the numbers of the parts, one more than cuts."""


@dataclass(frozen=True, slots=True)
class Separated:
    """The boxes are disjoint, as the tree of cuts shows."""

    tree: Tree


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


def separate(boxes: Sequence[Box], *, pairs: int) -> Separated | Overlapping | Undivided:
    """Take boxes apart by clean cuts.

    Args:
        boxes: all of the same axes, at least one, and none empty.
        pairs: most pairs of boxes to compare in groups that no cut divides.

    Theory: T7.
    """
    if len(boxes) < 2:
        return Separated(None)
    edges = _edges(boxes)
    splits: list[_Split | None] = [None]
    undivided: list[list[int]] = []
    # Groups to divide: their number, their boxes, the axis to try first, the rounds of cuts around them.
    pending: list[tuple[int, list[int], int, int]] = [(0, list(range(len(boxes))), 0, 0)]
    while pending:
        number, group, first, nesting = pending.pop()
        division = _divide(group, edges, first) if nesting < NESTING else None
        if division is None:
            undivided.append(group)
            continue
        axis, cuts, starts = division
        parts = range(len(splits), len(splits) + len(starts))
        splits[number] = (axis, cuts, parts)
        splits += [None] * len(starts)
        for part, start, end in zip(parts, starts, starts[1:] + [len(group)], strict=True):
            if end - start > 1:
                pending.append((part, group[start:end], axis + 1, nesting + 1))
    if undivided:
        return _compare_pairs(boxes, undivided, pairs)
    return Separated(_tree(splits))


def _edges(boxes: Sequence[Box]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Low and high edges of all boxes, axis by axis."""
    lows, highs = zip(*boxes, strict=True)
    return list(zip(zip(*lows, strict=True), zip(*highs, strict=True), strict=True))


def _divide(
    group: list[int], edges: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], first: int
) -> tuple[int, list[int], list[int]] | None:
    """Sort a group along the first axis, in turn from ``first``, that divides it.

    Returns the axis, the cuts, and where in the sorted group each part starts; None if no axis divides it.
    """
    for turn in range(len(edges)):
        axis = (first + turn) % len(edges)
        lows, highs = edges[axis]
        group.sort(key=lows.__getitem__)
        cuts: list[int] = []
        starts = [0]
        reach = highs[group[0]]
        for position, box in enumerate(group):
            low, high = lows[box], highs[box]
            if low >= reach:
                cuts.append(low)
                starts.append(position)
            if high > reach:
                reach = high
        if cuts:
            return axis, cuts, starts
    return None


def _tree(splits: Sequence[_Split | None]) -> Tree:
    """The tree of cuts of group 0; the parts of a group have greater numbers than the group."""
    trees: list[Tree] = [None] * len(splits)
    for number in range(len(splits) - 1, -1, -1):
        split = splits[number]
        if split is not None:
            axis, cuts, parts = split
            trees[number] = _balanced(axis, cuts, trees[parts.start : parts.stop])
    return trees[0]


def _balanced(axis: int, cuts: list[int], parts: list[Tree]) -> Tree:
    """Parallel cuts in ascending order, and the parts between them, as a tree of logarithmic depth."""
    while cuts:
        # Join neighbours two by two; the cuts between the joined pairs stay.
        joined: list[Tree] = [
            (axis, cut, below, above)
            for cut, below, above in zip(cuts[::2], parts[::2], parts[1::2], strict=False)
        ]
        parts = joined + parts[2 * len(joined) :]
        cuts = cuts[1::2]
    return parts[0]


def _compare_pairs(
    boxes: Sequence[Box], groups: Sequence[Sequence[int]], pairs: int
) -> Overlapping | Undivided:
    disjoint = True
    for group in groups:
        compared = _first_overlap(boxes, group, pairs)
        if isinstance(compared, Overlapping):
            return compared
        disjoint = disjoint and compared <= pairs
        pairs -= compared
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


def least_overlap(boxes: Sequence[Box], *, pairs: int) -> tuple[int, ...] | None:
    """The least point that two boxes share, where points compare by their last axis first.

    None if they share none, or if ``pairs`` comparisons do not suffice to be certain.

    The least point of an overlap has, on every axis, the low edge of some box. The boxes that start at or
    before t overlap for every t from the sought coordinate on, so it is found by bisection, axis by axis.

    Theory: T7.
    """
    if not boxes:
        return None
    group = list(boxes)
    point: list[int] = []
    for axis in range(len(group[0][0]) - 1, -1, -1):
        lows = sorted({box[0][axis] for box in group})
        below, least = -1, len(lows)
        middle = len(lows) - 1
        while below + 1 < least:
            started = [box for box in group if box[0][axis] <= lows[middle]]
            match separate(started, pairs=pairs):
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
