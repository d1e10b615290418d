"""Strided views in columns and in normal form.

Theory: T1, T2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from verifier.engines.bulk.block import Table
from verifier.engines.bulk.monomials import Column
from verifier.geometry.strided import StridedView

REACH = 2**61
"""No offset is larger, nor the lengths (stride times extent) of all axes of a view together."""


@dataclass(frozen=True, slots=True)
class Views:
    """Views that visit something, each with its least address as offset.

    An axis of extent 1 has the stride 0 and does not count. The others have strides of at least 1, ascending
    within a row, and extents of at least 2; adjacent ones are merged.
    """

    offsets: Column
    strides: Table
    extents: Table

    @property
    def highest(self) -> Column:
        """The greatest address of each view."""
        spans: Column = (self.strides * (self.extents - 1)).sum(axis=1)
        return self.offsets + spans


def normal_views(views: Sequence[StridedView]) -> Views | None:
    """The normal forms of the views that are not empty.

    None if a number is too large for columns, or if a view stands still along an axis: such a view needs a
    multiplicity, and is wrong in most questions.

    Theory: T1.
    """
    some = [view for view in views if 0 not in view.shape]
    axes = max((len(view.shape) for view in some), default=0)
    try:
        offsets = np.fromiter((view.offset for view in some), np.int64, len(some))
        extents = _table([view.shape for view in some], axes)
        strides = _table([view.strides for view in some], axes)
    except OverflowError:
        return None
    moving = extents > 1
    if (moving & (strides == 0)).any() or not _within_reach(offsets, strides, extents):
        return None
    strides = np.where(moving, strides, 0)
    offsets += (np.minimum(strides, 0) * (extents - 1)).sum(axis=1)
    # The last axis of a tensor is mostly the densest, so that going backwards there is nothing to sort.
    return Views(offsets, *_merged(np.abs(strides[:, ::-1]), extents[:, ::-1].copy()))


def _table(rows: list[tuple[int, ...]], axes: int) -> Table:
    """A row for each view, filled up with axes of extent 1, whose stride may be anything."""
    full = (row if len(row) == axes else row + (1,) * (axes - len(row)) for row in rows)
    numbers = np.fromiter(chain.from_iterable(full), np.int64, len(rows) * axes)
    return numbers.reshape((len(rows), axes))


def _within_reach(offsets: Column, strides: Table, extents: Table) -> bool:
    """Whether all sums of an offset and lengths of a view stay below 2^62; by division, which cannot wrap."""
    share = REACH // max(strides.shape[1], 1)
    if len(offsets) and max(-int(offsets.min()), int(offsets.max())) > REACH:
        return False
    near = (strides >= -share) & (strides <= share)
    return bool(((extents == 1) | (near & (extents <= share // np.maximum(np.abs(strides), 1)))).all())


def _merged(strides: Table, extents: Table) -> tuple[Table, Table]:
    """Axes sorted by stride, those that do not count first, and joined where one continues the one below."""
    if (strides[:, 1:] < strides[:, :-1]).any():
        order = strides.argsort(axis=1, kind="stable")
        strides, extents = np.take_along_axis(strides, order, 1), np.take_along_axis(extents, order, 1)
    for axis in range(1, strides.shape[1]):
        below, here = strides[:, axis - 1], strides[:, axis]
        joined = (below > 0) & (here == below * extents[:, axis - 1])
        if joined.any():
            strides[joined, axis] = below[joined]
            extents[joined, axis] *= extents[joined, axis - 1]
            strides[joined, axis - 1], extents[joined, axis - 1] = 0, 1
    return strides, extents
