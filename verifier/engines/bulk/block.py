"""Boxes of one parameter in columns, freed of what does not matter: empty boxes, dimensions nobody cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verifier.engines.bulk.answers import Element
from verifier.engines.bulk.monomials import Column
from verifier.model.box_map import BoxMap

Table = NDArray[np.int64]
"""A row for each box, a column for each dimension."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Some boxes by their edges: one column of low and one of high edges for each dimension."""

    count: int
    lows: tuple[Column, ...]
    highs: tuple[Column, ...]

    def select(self, rows: Column | NDArray[np.bool_]) -> Boxes:
        """Some of them."""
        lows, highs = tuple([c[rows] for c in self.lows]), tuple([c[rows] for c in self.highs])
        return Boxes(int(rows.sum()) if rows.dtype == np.bool_ else len(rows), lows, highs)

    def numels(self) -> list[int]:
        """How many points each box has, in exact integers."""
        if not self.lows:
            return [1] * self.count
        sizes = [(high - low).tolist() for low, high in zip(self.lows, self.highs, strict=True)]
        return [*map(math.prod, zip(*sizes, strict=True))]

    def holding(self, point: Sequence[int]) -> Column:
        """Which of them have a point."""
        inside = np.ones(self.count, np.bool_)
        for low, high, coordinate in zip(self.lows, self.highs, point, strict=True):
            inside &= (low <= coordinate) & (coordinate < high)
        return np.flatnonzero(inside)


@dataclass(frozen=True, slots=True)
class Block:
    """The boxes that have elements, along the dimensions that some box does not fill.

    All boxes are inside the parameter.

    Attributes:
        shape: of the parameter.
        dimensions: those that are cut, ascending.
        positions: of the boxes among all boxes, ascending.
        boxes: their edges along ``dimensions``.
    """

    shape: tuple[int, ...]
    dimensions: tuple[int, ...]
    positions: Column
    boxes: Boxes

    @property
    def extents(self) -> tuple[int, ...]:
        """Of the parameter along the dimensions that are cut."""
        return tuple([self.shape[dimension] for dimension in self.dimensions])

    @property
    def thickness(self) -> int:
        """Elements of the parameter at each point of the dimensions that are cut."""
        return math.prod(n for k, n in enumerate(self.shape) if k not in self.dimensions)

    def element(self, point: Sequence[int]) -> Element:
        """The least element at a point."""
        coordinates = dict(zip(self.dimensions, point, strict=True))
        return tuple([coordinates.get(dimension, 0) for dimension in range(len(self.shape))])


def columns(boxes: BoxMap) -> tuple[Table, Table]:
    """The offsets and sizes of all boxes, read in place."""
    rows = (boxes.count, boxes.dimensions)
    return np.asarray(boxes.offsets).reshape(rows), np.asarray(boxes.sizes).reshape(rows)


def block_of(shape: tuple[int, ...], offsets: Table, sizes: Table) -> Block:
    """The boxes that matter, of boxes that are all inside the parameter."""
    positions = np.flatnonzero(np.all(sizes > 0, axis=1))
    if len(positions) < len(sizes):
        offsets, sizes = offsets[positions], sizes[positions]
    # As the boxes are inside, one that is as long as a dimension fills it. An extent of 0 leaves no boxes.
    cut = tuple([k for k, extent in enumerate(shape) if extent == 0 or not (sizes[:, k] == extent).all()])
    lows = tuple([np.ascontiguousarray(offsets[:, k]) for k in cut])
    highs = tuple([low + sizes[:, k] for low, k in zip(lows, cut, strict=True)])
    return Block(shape, cut, positions, Boxes(len(positions), lows, highs))
