"""A parameter stored as boxes, in columns: a million blocks of one checkpoint without a million objects."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from functools import cached_property

from verifier.geometry.strided import StridedView, row_major
from verifier.model.numbers import require_shape
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

COLUMN = "q"
"""Type code of the columns: signed 64 bits, so that numpy reads them in place."""


@dataclass(frozen=True, kw_only=True)
class BoxMap:
    """Blocks that together should be one parameter, each stored once as a row-major tensor of its own.

    Box k covers ``offsets[k*d : (k+1)*d]`` up to that plus ``sizes[k*d : (k+1)*d]``, where d is the number of
    dimensions, all in elements. Offsets may be anything, sizes are not negative.

    Attributes:
        name: of the parameter.
        logical_shape: its shape, elements.
        offsets: first coordinates, box after box.
        sizes: extents, box after box.
        count: how many boxes there are; the columns cannot tell when there are no dimensions.
        origin: where the map was read, None when built in memory.
        holder: what people call the holder of one box, a singular noun such as "chunk".
        called: the name of each box, safe to print; empty where boxes are numbered.

    Raises:
        TypeError: the shape is not a tuple of plain integers, or a column no array of signed 64-bit integers.
        ValueError: the columns have other lengths than count and shape say, or a size is negative.
    """

    name: str
    logical_shape: tuple[int, ...]
    offsets: array[int]
    sizes: array[int]
    count: int
    origin: Origin | None = None
    holder: str = "chunk"
    called: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_shape("logical_shape", self.logical_shape)
        for what, column in (("offsets", self.offsets), ("sizes", self.sizes)):
            if type(column) is not array or column.typecode != COLUMN:
                raise TypeError(f"{what} is no array of signed 64-bit integers; write array('q', ...)")
            if len(column) != self.count * self.dimensions:
                raise ValueError(
                    f"{what} has {len(column)} numbers for {self.count} boxes of {self.dimensions} dimensions"
                )
        if len(self.called) not in (0, self.count):
            raise ValueError(f"{len(self.called)} names for {self.count} boxes")
        if len(self.sizes) and min(self.sizes) < 0:
            raise ValueError(f"negative size {min(self.sizes)}; write 0 for an empty box")

    @property
    def dimensions(self) -> int:
        """How many dimensions the parameter has."""
        return len(self.logical_shape)

    @cached_property
    def numel(self) -> int:
        """Elements of the parameter."""
        return math.prod(self.logical_shape)

    def box(self, position: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(offsets, sizes) of one box."""
        low, high = position * self.dimensions, (position + 1) * self.dimensions
        return tuple(self.offsets[low:high]), tuple(self.sizes[low:high])

    def to_shard_map(self, positions: tuple[int, ...] | None = None) -> ShardMap:
        """The same as a shard map in which holder k has box k; of ``positions`` only, when given.

        A box that leaves the parameter in one dimension can have addresses inside it: check boxes before.
        """
        strides = row_major(self.logical_shape)
        ranks: dict[int, RankShard] = {}
        for position in range(self.count) if positions is None else positions:
            offsets, sizes = self.box(position)
            start = sum(o * s for o, s in zip(offsets, strides, strict=True))
            source = StridedView(start, sizes, strides)
            dest = StridedView(0, sizes, row_major(sizes))
            ranks[position] = RankShard(sizes, (Piece(source, dest, (position,)),))
        return ShardMap(
            name=self.name,
            logical_shape=self.logical_shape,
            ranks=ranks,
            origin=self.origin,
            holder=self.holder,
            called={position: self.called[position] for position in ranks} if self.called else {},
        )
