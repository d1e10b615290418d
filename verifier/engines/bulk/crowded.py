"""Which points lie in several boxes, and in how many?

Question.   Boxes in groups that clean cuts leave together. Give the points that are in two or more of them as
            disjoint cells, each with the number of boxes that have it.
Reduction.  Only boxes of one group share points. Two boxes that no cut divides share the block between their
            greater low and lesser high edges. In a larger group the edges make a grid; adding up the signed
            corners over it, one running sum along each dimension, counts the boxes over each cell.
            Boxes of a group whose grid is too large are compared in pairs.
Cost.       The cells of these grids, up to (2 g)^d for a group of g boxes, or g^2: callers bound the sum.

Theory: T7, T23.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from verifier.engines.bulk.block import Boxes
from verifier.engines.bulk.cut_groups import Groups
from verifier.engines.bulk.monomials import Column

GROUP = 256
"""A group costs as much as so many cells, whatever it has."""


@dataclass(frozen=True, slots=True)
class Crowded:
    """Points in several boxes.

    Attributes:
        cells: disjoint boxes of such points.
        counts: in how many boxes the points of each cell are, at least; exactly when complete.
        complete: whether there are no other such points.
    """

    cells: Boxes
    counts: Column
    complete: bool

    @property
    def surplus(self) -> Boxes:
        """Each cell as often as its points are in a box too many."""
        return self.cells.select(np.repeat(np.arange(self.cells.count), self.counts - 1))

    def least(self) -> tuple[int, ...] | None:
        """The least point of the cells, None where there are none."""
        if not self.cells.count:
            return None
        order = np.lexsort(self.cells.lows[::-1]) if self.cells.lows else np.zeros(1, np.int64)
        return tuple([int(low[order[0]]) for low in self.cells.lows])


def crowded(boxes: Boxes, groups: Groups, *, allowance: int) -> Crowded:
    """The points that several boxes of one group share.

    Args:
        boxes: all boxes.
        groups: those that cuts leave together.
        allowance: most cells to count boxes over, pairs to compare, and cells of the surplus, in all.

    Theory: T7, T23.
    """
    sizes = groups.sizes()
    found = [_shared_by_two(boxes, groups.members, groups.starts[sizes == 2])]
    counts = [np.full(found[0].count, 2)]
    allowance -= found[0].count
    complete = True
    for start, size in zip(groups.starts[sizes > 2].tolist(), sizes[sizes > 2].tolist(), strict=True):
        if allowance < max(size, GROUP):
            complete = False
            break
        group = boxes.select(groups.members[start : start + size])
        marks = [np.unique(np.concatenate(both)) for both in zip(group.lows, group.highs, strict=True)]
        cells = math.prod(map(len, marks))
        if cells > allowance:
            rows = min(allowance // size, size)
            allowance -= rows * size
            shared = _first_shared(group, rows)
            times = np.full(shared.count, 2)
            complete = complete and rows == size and not shared.count
        else:
            shared, times = _shared_by_more(group, marks)
            allowance -= max(cells, GROUP) + int((times - 1).sum())
            if allowance < 0:
                times, complete = np.minimum(times, 2), False
        found.append(shared)
        counts.append(times)
    return Crowded(_together(found), np.concatenate(counts), complete)


def _shared_by_two(boxes: Boxes, members: Column, starts: Column) -> Boxes:
    """What the two boxes of each group share; nothing where the search for cuts was broken off."""
    one, other = boxes.select(members[starts]), boxes.select(members[starts + 1])
    lows = tuple([np.maximum(*pair) for pair in zip(one.lows, other.lows, strict=True)])
    highs = tuple([np.minimum(*pair) for pair in zip(one.highs, other.highs, strict=True)])
    meet = np.ones(one.count, np.bool_)
    for low, high in zip(lows, highs, strict=True):
        meet &= low < high
    return Boxes(one.count, lows, highs).select(meet)


def _first_shared(group: Boxes, rows: int) -> Boxes:
    """What two boxes of a group share, comparing some of them with all; nothing if these meet none."""
    for row in range(rows):
        meet = np.ones(group.count, np.bool_)
        for low, high in zip(group.lows, group.highs, strict=True):
            meet &= (low < high[row]) & (low[row] < high)
        meet[row] = False
        if meet.any():
            pair = np.array([row, int(meet.argmax())])
            return _shared_by_two(group, pair, np.zeros(1, np.int64))
    return group.select(np.zeros(0, np.int64))


def _shared_by_more(group: Boxes, marks: list[Column]) -> tuple[Boxes, Column]:
    """The cells of a group's grid that are in two or more of its boxes, and in how many."""
    lengths = [len(edges) for edges in marks]
    weights = [math.prod(lengths[k + 1 :]) for k in range(len(lengths))]
    ends = [
        (np.searchsorted(edges, low) * weight, np.searchsorted(edges, high) * weight)
        for edges, low, high, weight in zip(marks, group.lows, group.highs, weights, strict=True)
    ]
    counted = np.zeros(math.prod(lengths), np.int64)
    for corner in product((0, 1), repeat=len(ends)):
        keys = np.zeros(group.count, np.int64)
        for end, pair in zip(corner, ends, strict=True):
            keys += pair[end]
        counted += (-1) ** sum(corner) * np.bincount(keys, minlength=len(counted))
    grid = counted.reshape(lengths)
    for axis in range(len(lengths)):
        grid = grid.cumsum(axis=axis)
    counted = grid.reshape(-1)
    places = np.flatnonzero(counted > 1)
    digits = [places // weight % length for weight, length in zip(weights, lengths, strict=True)]
    lows = tuple([edges[digit] for edges, digit in zip(marks, digits, strict=True)])
    highs = tuple([edges[digit + 1] for edges, digit in zip(marks, digits, strict=True)])
    return Boxes(len(places), lows, highs), counted[places]


def _together(portions: list[Boxes]) -> Boxes:
    lows = zip(*[boxes.lows for boxes in portions], strict=True)
    highs = zip(*[boxes.highs for boxes in portions], strict=True)
    return Boxes(
        sum(boxes.count for boxes in portions),
        tuple([np.concatenate(columns) for columns in lows]),
        tuple([np.concatenate(columns) for columns in highs]),
    )
