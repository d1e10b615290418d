"""What is wrong with boxes that do not tile: elements in several of them, elements in none, and how many.

Corners know the least wrong element only. Clean cuts leave the boxes that overlap in small groups, whose
shared points are counted; then what is covered, less what is covered too often, says how much is not.

Theory: T7, T23.
"""

from __future__ import annotations

import math

from verifier.budget import Budget
from verifier.engines.bulk.answers import Overlap, Uncovered
from verifier.engines.bulk.block import Block
from verifier.engines.bulk.corners import Wrong, least_wrong
from verifier.engines.bulk.crowded import Crowded, crowded
from verifier.engines.bulk.cut_groups import undivided
from verifier.obligations.faults import Count

SWEEPS = 64
"""Boxes that may be sorted in search of cuts, as a multiple of the budget of boxes."""


def faulty(block: Block, wrong: Wrong | None, budget: Budget) -> Overlap | Uncovered | None:
    """What is wrong, given the least wrong point if it is known; None if nothing was found without it."""
    groups = undivided(block.boxes, sweeps=SWEEPS * budget.boxes)
    crowd = crowded(block.boxes, groups, allowance=budget.boxes)
    uncovered = _uncovered(block, wrong, crowd)
    point = wrong.point if wrong is not None and wrong.excess > 0 else crowd.least()
    if point is None:
        return uncovered
    rows = block.boxes.holding(point)
    first, second = block.positions[rows[:2]].tolist()
    shared = block.thickness * max(sum(crowd.cells.numels()), 1)
    return Overlap(
        first,
        second,
        block.element(point),
        least=crowd.complete or (wrong is not None and wrong.excess > 0),
        count=Count(shared, exact=crowd.complete),
        uncovered=uncovered,
    )


def _uncovered(block: Block, wrong: Wrong | None, crowd: Crowded) -> Uncovered | None:
    """What is in no box. Where not all shared points are known, there is more of it than can be told.

    Theory: T23.
    """
    surplus = sum(
        n * (times - 1) for n, times in zip(crowd.cells.numels(), crowd.counts.tolist(), strict=True)
    )
    visits = sum(block.boxes.numels())
    number = math.prod(block.extents) - visits + surplus
    point = wrong.point if wrong is not None and wrong.excess < 0 else None
    if point is None and number <= 0:
        return None
    if point is None and wrong is not None and crowd.complete:
        found = least_wrong(block, crowd.surplus)
        point = found.point if isinstance(found, Wrong) else None
    element = None if point is None else block.element(point)
    return Uncovered(element, Count(block.thickness * max(number, 1), exact=crowd.complete))
