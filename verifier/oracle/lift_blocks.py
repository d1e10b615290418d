"""Pairs of addresses as few strided blocks.

A run of pairs that go on by the same two steps is a block of one axis; a run of like blocks that go on by the
same two steps is a block of one axis more, and so on. Runs are first looked for along the axes of the shard
or of the parameter, one after the other, which finds boxes, and then anywhere. Whatever was found is written
out again and compared, pair by pair, so that it may be clumsy and cannot be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verifier.geometry.strided import MOST_AXES, StridedView, row_major
from verifier.oracle.lift_errors import TooLargeError

Integers = NDArray[np.int64]

MOST_BLOCKS = 2**16
"""Of one rank; cells that fall apart into more follow no rule that a map would show."""
FEW_BOXES = 8
"""So many boxes are easier to read than fewer blocks that are none."""

_Axis = tuple[int, int, int]
"""(extent, step in the shard, step in the parameter)."""
_Columns = tuple[Integers, Integers, Integers]
_Kind = tuple[int, tuple[_Axis, ...]]
"""Blocks of one kind differ in where they begin only."""


@dataclass(frozen=True, slots=True)
class Block:
    """Pairs of a source and a dest address: those that one index reaches in either view.

    Attributes:
        label: what the caller gave all pairs of the block.
    """

    source: StridedView
    dest: StridedView
    label: int


def blocks_of(
    source: Integers,
    dest: Integers,
    labels: Integers,
    *,
    logical_shape: Sequence[int],
    shard_shape: Sequence[int],
) -> list[Block]:
    """Blocks that hold exactly the given pairs, each once, and one label each; by rising dest address.

    No stride is negative, since torch has no such view.

    Args:
        source: parameter addresses, (count,).
        dest: shard addresses, (count,), each at most once.
        labels: (count,); pairs of different labels never share a block.
        logical_shape: of the parameter; a guess at the axes, like ``shard_shape``.
        shard_shape: of the shard.

    Raises:
        TooLargeError: there are too many.
    """
    chosen = _Blocks.single(source, dest, labels).plainest(logical_shape, shard_shape)
    if len(chosen) > MOST_BLOCKS:
        raise TooLargeError(None, f"the cells of one rank fall apart into {len(chosen)} blocks")
    found = [_plainer(block, logical_shape, shard_shape) for block in chosen.blocks()]
    _require_same(found, source, dest, labels)
    return found


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], Integers]:
    """The different values, ascending, and for each place the number of its own: often there is but one."""
    if len(values) and (values == values[0]).all():
        return values[:1], np.zeros(len(values), dtype=np.int64)
    known, number = np.unique(values, return_inverse=True)
    return known, number.reshape(-1).astype(np.int64)


def addresses(view: StridedView) -> Integers:
    """The addresses of a view in row-major order of its indices: (numel,)."""
    reached = np.full(view.shape, view.offset, dtype=np.int64)
    for axis, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        steps = np.arange(extent, dtype=np.int64) * stride
        reached += steps.reshape([-1 if a == axis else 1 for a in range(len(view.shape))])
    return reached.reshape(-1)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Many blocks in columns: where each begins on both sides, and which of ``kinds`` it is."""

    source: Integers
    dest: Integers
    kind: Integers
    kinds: tuple[_Kind, ...]

    def __len__(self) -> int:
        return len(self.dest)

    @classmethod
    def single(cls, source: Integers, dest: Integers, labels: Integers) -> _Blocks:
        known, kind = distinct(labels)
        return cls(source, dest, kind, tuple([(int(label), ()) for label in known]))

    def swapped(self) -> _Blocks:
        kinds = tuple([(label, tuple([(n, s, d) for n, d, s in axes])) for label, axes in self.kinds])
        return _Blocks(self.dest, self.source, self.kind, kinds)

    def plainest(self, logical_shape: Sequence[int], shard_shape: Sequence[int]) -> _Blocks:
        """Those single cells as boxes, or as blocks that are no boxes where these are far fewer."""
        in_shard = self.along(shard_shape)
        if len(in_shard) == 1:  # nothing is plainer, and the other ways cost as much again
            return in_shard
        in_parameter = self.swapped().along(logical_shape).swapped()
        boxes = min(in_shard, in_parameter, key=len)
        merged = min(self.anywhere(), in_shard.anywhere(), in_parameter.anywhere(), key=len)
        return boxes if len(boxes) <= max(FEW_BOXES, 2 * len(merged)) else merged

    def along(self, shape: Sequence[int]) -> _Blocks:
        """Runs along each axis of the dest side, the last axis first."""
        found = self
        for extent, stride in reversed(list(zip(shape, row_major(shape), strict=True))):
            if extent > 1 and len(found) > 1:
                slab = found.dest // (stride * extent)
                found = found.merged(slab * stride + found.dest % stride)
        return found

    def anywhere(self) -> _Blocks:
        """Runs of blocks of one kind, as long as there are any."""
        found = self
        while True:
            larger = found.merged(np.zeros_like(found.dest))
            if len(larger) == len(found) or max(len(axes) for _, axes in larger.kinds) > MOST_AXES:
                return found
            found = larger

    def merged(self, lane: Integers) -> _Blocks:
        """Runs of blocks of one kind in one lane that go on by the same steps, each as one block."""
        if len(self) < 2:
            return self
        order = np.lexsort((self.source, self.dest, self.kind, lane))
        source, dest, kind = self.source[order], self.dest[order], self.kind[order]
        by_dest, by_source = np.diff(dest), np.diff(source)
        linked = (np.diff(lane[order]) == 0) & (np.diff(kind) == 0) & (by_source >= 0) & (by_dest > 0)
        first, count, link = _runs(linked, by_dest, by_source)
        rows = np.stack((kind[first], count, by_dest[link], by_source[link]), axis=1)
        rows[count == 1, 2:] = 0
        distinct, number = np.unique(rows, axis=0, return_inverse=True)
        kinds = tuple([self._kind(*row) for row in distinct.tolist()])
        return _Blocks(source[first], dest[first], number.reshape(-1).astype(np.int64), kinds)

    def _kind(self, kind: int, count: int, by_dest: int, by_source: int) -> _Kind:
        label, axes = self.kinds[kind]
        return (label, axes) if count == 1 else (label, ((count, by_dest, by_source), *axes))

    def blocks(self) -> list[Block]:
        """All of them, by rising dest address."""
        order = np.lexsort((self.source, self.dest))
        columns = zip(
            self.source[order].tolist(), self.dest[order].tolist(), self.kind[order].tolist(), strict=True
        )
        return [self._block(*column) for column in columns]

    def _block(self, source: int, dest: int, kind: int) -> Block:
        label, axes = self.kinds[kind]
        shape = tuple([extent for extent, _, _ in axes])
        return Block(
            StridedView(source, shape, tuple([by_source for _, _, by_source in axes])),
            StridedView(dest, shape, tuple([by_dest for _, by_dest, _ in axes])),
            label,
        )


def _runs(linked: NDArray[np.bool_], by_dest: Integers, by_source: Integers) -> _Columns:
    """Maximal runs of items: the first of each, how many there are, and one link that has its steps.

    Item ``i`` and the next are linked where ``linked[i]``. Two runs of different steps may meet in one item,
    which goes to the longer one, and of equals to the one of smaller steps through the parameter.
    """
    items = len(linked) + 1
    change = np.ones(len(linked), dtype=bool)
    change[1:] = (by_dest[1:] != by_dest[:-1]) | (by_source[1:] != by_source[:-1])
    change[1:] |= linked[1:] != linked[:-1]
    start = np.flatnonzero(change & linked)
    stop = np.flatnonzero(linked & np.append((change | ~linked)[1:], True)) + 1  # the last item of each
    links = stop - start
    meets = np.zeros(len(start) + 1, dtype=bool)  # whether a run shares its first item with the one before
    meets[1:-1] = start[1:] == stop[:-1]
    later = np.zeros(len(start) + 1, dtype=bool)  # whether that item goes to the later run
    step = by_source[start]
    later[1:-1] = (links[1:] > links[:-1]) | ((links[1:] == links[:-1]) & (step[1:] < step[:-1]))
    first = start + (meets & ~later)[:-1]
    last = stop - (meets & later)[1:]
    kept = first <= last
    first, last, link = first[kept], last[kept], start[kept]
    taken = np.zeros(items + 1, dtype=np.int64)
    np.add.at(taken, first, 1)
    np.add.at(taken, last + 1, -1)
    alone = np.flatnonzero(np.cumsum(taken)[:-1] == 0)
    return (
        np.concatenate((first, alone)),
        np.concatenate((last - first + 1, np.ones_like(alone))),
        np.concatenate((link, np.zeros_like(alone))),
    )


def _plainer(block: Block, logical_shape: Sequence[int], shard_shape: Sequence[int]) -> Block:
    """The block as a box of both tensors or as one run where it is one, else as it is."""
    extents = _extents(block.source, logical_shape)
    if extents is not None and extents == _extents(block.dest, shard_shape):
        box = _reshaped(block, extents, row_major(logical_shape), row_major(shard_shape))
        if _same(_pairs([box]), _pairs([block])):
            return box
    dense = row_major(block.source.shape)
    if block.source.strides == dense and block.dest.strides == dense:
        return _reshaped(block, (block.source.numel,), (1,), (1,))
    return block


def _reshaped(block: Block, shape: tuple[int, ...], source: tuple[int, ...], dest: tuple[int, ...]) -> Block:
    return Block(
        StridedView(block.source.offset, shape, source),
        StridedView(block.dest.offset, shape, dest),
        block.label,
    )


def _extents(view: StridedView, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Extents of the box from the first to the last address of a view, None if that is no box of its size."""
    extents: list[int] = []
    first, last = view.offset, view.highest
    for stride in row_major(shape):
        low, first = divmod(first, stride) if stride else (0, first)
        high, last = divmod(last, stride) if stride else (0, last)
        extents.append(high - low + 1)
    return tuple(extents) if min(extents, default=1) > 0 and math.prod(extents) == view.numel else None


def _pairs(blocks: Iterable[Block]) -> _Columns:
    """All (source, dest, label) of some blocks, by rising dest."""
    none = np.zeros(0, dtype=np.int64)
    source, dest, labels = [none], [none], [none]
    for block in blocks:
        source.append(addresses(block.source))
        dest.append(addresses(block.dest))
        labels.append(np.full(block.source.numel, block.label, dtype=np.int64))
    columns = np.concatenate(source), np.concatenate(dest), np.concatenate(labels)
    return _sorted(*columns)


def _sorted(source: Integers, dest: Integers, labels: Integers) -> _Columns:
    if (np.diff(dest) > 0).all():
        return source, dest, labels
    order = np.lexsort((labels, source, dest))
    return source[order], dest[order], labels[order]


def _require_same(blocks: Sequence[Block], source: Integers, dest: Integers, labels: Integers) -> None:
    if not _same(_pairs(blocks), _sorted(source, dest, labels)):
        raise RuntimeError("blocks do not hold the pairs they were made of")


def _same(ours: _Columns, theirs: _Columns) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
