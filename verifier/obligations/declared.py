"""Declared cells that may stay unvisited: padding of a shard, elements of the parameter nobody needs.

"Exactly once, but these cells at most once" becomes plain exactness by adding one visit at every declared
cell that nothing visits.

Theory: T15.
"""

from __future__ import annotations

from collections.abc import Sequence

from verifier.geometry.diophantine import indices_at
from verifier.geometry.equations import TooHard
from verifier.geometry.strided import StridedView, intervals

NODES_PER_CELL = 100_000
"""Search nodes for one question "does this view visit this cell"; nested strides need one per axis."""


def unvisited(
    cells: Sequence[int], views: Sequence[StridedView], size: int
) -> tuple[StridedView, ...] | TooHard:
    """The declared cells inside ``0..size`` that no view visits, as runs.

    Cost: cells times views whose hull holds the cell.
    """
    if not cells:
        return ()
    hulls = [(view.lowest, view.highest, view) for view in views if not view.is_empty]
    free: list[int] = []
    for cell in cells:
        if not 0 <= cell < size:
            continue
        for lowest, highest, view in hulls:
            if lowest <= cell <= highest:
                found = indices_at(view, cell, limit=1, nodes=NODES_PER_CELL)
                if isinstance(found, TooHard):
                    return found
                if found:
                    break
        else:
            free.append(cell)
    return tuple([StridedView(low, (high - low,), (1,)) for low, high in intervals(free)])
