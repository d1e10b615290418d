"""Which boxes do clean cuts leave together?

Question.   As in ``geometry/cuts.py``, for very many boxes: groups that no cut divides.
Reduction.  All groups are cut along one dimension at once: one sort by group and low edge, one running
            maximum of high edges, and a part begins wherever a low edge reaches the maximum before it. Edges
            are replaced by their ranks, so that group and edge fit into one number.
Cost.       One sort a round for the boxes that are not alone yet. A grid takes a round for each dimension,
            random guillotine cuts about 2 log2(n), a staircase one for each step: callers bound the sum.

Theory: T7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verifier.engines.bulk.block import Boxes
from verifier.engines.bulk.monomials import Column


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of at least two boxes; all other boxes are alone, and no two of different groups share a point.

    Attributes:
        members: rows of the boxes, group after group.
        starts: where in ``members`` each group begins.
    """

    members: Column
    starts: Column

    def sizes(self) -> Column:
        """How many boxes each group has."""
        return np.diff(self.starts, append=len(self.members))


def undivided(boxes: Boxes, *, sweeps: int) -> Groups:
    """The groups that no cut divides, or that were not divided by sorting ``sweeps`` boxes in all.

    Theory: T7.
    """
    ranked = [_ranks(low, high) for low, high in zip(boxes.lows, boxes.highs, strict=True)]
    members = np.arange(boxes.count)
    group = np.zeros(boxes.count, np.int64)
    axis = idle = 0
    while len(members) > 1 and idle < len(ranked) and sweeps >= len(members):
        sweeps -= len(members)
        low, high, marks = ranked[axis]
        # At most n groups and 2 n marks, so these numbers are below 2 n^2.
        keys = group * marks + low[members]
        order = keys.argsort()
        members, keys = members[order], keys[order]
        reach = np.maximum.accumulate(group[order] * marks + high[members])
        begins = np.concatenate([[True], keys[1:] >= reach[:-1]])
        idle = 0 if begins.sum() > group[-1] + 1 else idle + 1
        part = begins.cumsum() - 1
        together = np.bincount(part)[part] > 1
        members, group = members[together], begins[together].cumsum() - 1
        axis = (axis + 1) % len(ranked)
    if len(members) < 2:
        return Groups(members[:0], members[:0])
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return Groups(members, starts)


def _ranks(low: Column, high: Column) -> tuple[Column, Column, int]:
    """The rank of each edge along one dimension, and how many ranks there are."""
    marks, ranks = np.unique(np.concatenate([low, high]), return_inverse=True)
    return ranks[: len(low)], ranks[len(low) :], len(marks)
