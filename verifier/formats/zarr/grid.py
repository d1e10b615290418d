"""The chunk grid of an array: which keys its chunks have, and which elements."""

from __future__ import annotations

import itertools
import re
from array import array

from verifier.formats.reading.cells import Cells
from verifier.formats.zarr.array import ZarrArray
from verifier.model.box_map import COLUMN, BoxMap

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


class ChunkGrid:
    """The chunks of one array.

    Attributes:
        array: what its metadata says.
        cells: its chunks. An array without axes has one chunk, one with an axis of 0 elements has none.
    """

    __slots__ = ("array", "cells")

    def __init__(self, array: ZarrArray) -> None:
        self.array = array
        self.cells = Cells(tuple(-(-n // step) for n, step in zip(array.shape, array.chunks, strict=True)))

    def position(self, key: str) -> int | None:
        """The number of the chunk with this key, None when the grid has no such chunk."""
        indices = self._indices(key)
        return None if indices is None else self.cells.position(indices)

    def is_key(self, key: str) -> bool:
        """Whether a key has the form of a chunk key of this array, inside the grid or not."""
        return self._indices(key) is not None

    def key(self, position: int) -> str:
        """The key of a chunk."""
        parts = [str(index) for index in self.cells.indices(position)]
        if self.array.prefix:
            parts.insert(0, self.array.prefix)
        return self.array.separator.join(parts or ["0"])

    def boxes(self, name: str) -> BoxMap:
        """Every chunk as a block of the array, cut where it reaches over the end."""
        shape, chunks = self.array.shape, self.array.chunks
        starts = [range(0, n, step) for n, step in zip(shape, chunks, strict=True)]
        sizes = [
            [min(step, n - low) for low in axis] for axis, step, n in zip(starts, chunks, shape, strict=True)
        ]
        return BoxMap(
            name=name,
            logical_shape=shape,
            offsets=array(COLUMN, itertools.chain.from_iterable(itertools.product(*starts))),
            sizes=array(COLUMN, itertools.chain.from_iterable(itertools.product(*sizes))),
            count=self.cells.count,
            origin=self.array.origin,
            holder="chunk",
        )

    def words(self) -> str:
        """How many chunks there are and why."""
        shape, chunks = list(self.array.shape), list(self.array.chunks)
        chunk = "chunk" if self.cells.count == 1 else "chunks"
        return f"an array {shape} cut into {chunks} has {self.cells.words()} {chunk}"

    def _indices(self, key: str) -> tuple[int, ...] | None:
        parts = key.split(self.array.separator)
        if self.array.prefix:
            if parts[0] != self.array.prefix:
                return None
            parts = parts[1:]
        elif not self.cells.counts:
            return () if key == "0" else None
        if len(parts) != len(self.cells.counts) or not all(map(_NUMBER.fullmatch, parts)):
            return None
        return tuple(map(int, parts))
