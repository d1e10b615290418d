"""Families of all maps within stated bounds, listed completely.

A family fixes the shapes and a finite table of pieces; its maps are all multisets of up to ``most`` of them.
The order of a rank's pieces is left out, and for families whose two ranks are alike one of each pair of maps
that only trade the names of the ranks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from verifier.geometry.strided import StridedView
from verifier.model.piece import ONE, Piece, Scale
from verifier.model.shard_map import RankShard, ShardMap

Entry = tuple[int, Piece]
"""(rank, piece)."""


@dataclass(frozen=True, slots=True)
class Family:
    """All maps of up to ``most`` pieces of a table.

    Attributes:
        name: for reports.
        bounds: in words, exactly what is listed.
        shards: shard shape by rank.
        entries: the table of pieces.
        mirror: for each entry, the entry with the two ranks exchanged; empty where ranks are not exchanged.
    """

    name: str
    bounds: str
    logical_shape: tuple[int, ...]
    shards: Mapping[int, tuple[int, ...]]
    entries: tuple[Entry, ...]
    most: int
    mirror: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many multisets there are, mirrored ones included."""
        return math.comb(len(self.entries) + self.most, self.most)

    def maps(self, first: int) -> Iterator[ShardMap]:
        """The maps whose least entry is ``first``; -1 stands for the map without pieces."""
        if first < 0:
            yield self._map(())
            return
        rest = range(first, len(self.entries))
        for further in range(self.most):
            for others in itertools.combinations_with_replacement(rest, further):
                chosen = (first, *others)
                if not self.mirror or chosen <= tuple(sorted([self.mirror[k] for k in chosen])):
                    yield self._map(chosen)

    def _map(self, chosen: tuple[int, ...]) -> ShardMap:
        pieces: dict[int, list[Piece]] = {rank: [] for rank in self.shards}
        for k in chosen:
            rank, piece = self.entries[k]
            pieces[rank].append(piece)
        ranks = {rank: RankShard(shape, tuple(pieces[rank])) for rank, shape in self.shards.items()}
        return ShardMap(name=self.name, logical_shape=self.logical_shape, ranks=ranks)


def runs(size: int, extents: Iterable[int], strides: Iterable[int], *, inside: bool) -> Iterator[StridedView]:
    """One-axis views that start in 0..size; ``inside`` leaves out those that leave it."""
    steps = tuple(strides)
    for extent in extents:
        for stride in steps if extent > 1 else (1,):
            for offset in range(size):
                if not inside or offset + (extent - 1) * stride < size:
                    yield StridedView(offset, (extent,), (stride,))


def boxes(size: int, shape: tuple[int, ...]) -> Iterator[StridedView]:
    """Two-axis views inside 0..size, with any strides from 1."""
    for strides in itertools.product(range(1, size), repeat=2):
        reach = sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        for offset in range(size - reach):
            yield StridedView(offset, shape, strides)


def inside(size: int) -> tuple[StridedView, ...]:
    """All views of one or two axes inside 0..size, extents from 2 (or one single 1), strides from 1."""
    found = list(runs(size, range(1, size + 1), range(1, size), inside=True))
    for shape in itertools.product(range(2, size + 1), repeat=2):
        found += boxes(size, shape)
    return tuple(found)


def _blocks(
    sources: Iterable[StridedView], dests: Iterable[StridedView]
) -> list[tuple[StridedView, StridedView]]:
    found = list(dests)
    return [(source, dest) for source in sources for dest in found if source.shape == dest.shape]


def _entries(
    blocks: Iterable[tuple[StridedView, StridedView]],
    ranks: Iterable[int],
    locations: Iterable[tuple[int, ...]],
    scales: Iterable[Scale] = (ONE,),
) -> tuple[Entry, ...]:
    return tuple(
        (rank, Piece(source, dest, holders, scale))
        for rank, holders, scale, (source, dest) in itertools.product(
            tuple(ranks), tuple(locations), tuple(scales), tuple(blocks)
        )
    )


def _mirrored(entries: tuple[Entry, ...]) -> tuple[int, ...]:
    places = {entry: k for k, entry in enumerate(entries)}
    return tuple(
        places[1 - rank, replace(piece, locations=tuple(sorted(1 - r for r in piece.locations)))]
        for rank, piece in entries
    )


def one_rank(numel: int, shard: int) -> Family:
    """One rank, one axis, up to three pieces, in bounds or not."""
    extents, strides = range(1, 4), (1, 2)
    blocks = _blocks(runs(numel, extents, strides, inside=False), runs(shard, extents, strides, inside=False))
    bounds = (
        f"parameter ({numel},), rank 0 with shard ({shard},); up to 3 pieces of extent 1 to 3, strides "
        "1 and 2, any offset inside parameter and shard, the block itself inside or not"
    )
    name = f"one rank {numel} over {shard}"
    return Family(name, bounds, (numel,), {0: (shard,)}, _entries(blocks, (0,), ((0,),)), 3)


def two_ranks(numel: int, shard: int, most_extent: int, scales: tuple[Scale, ...], *, inner: bool) -> Family:
    """Two ranks alike, contiguous runs, any locations, up to three pieces."""
    extents = range(1, most_extent + 1)
    blocks = _blocks(runs(numel, extents, (1,), inside=inner), runs(shard, extents, (1,), inside=inner))
    entries = _entries(blocks, (0, 1), ((0,), (1,), (0, 1)), scales)
    where = "blocks inside" if inner else "any offset inside, blocks inside or not"
    bounds = (
        f"parameter ({numel},), ranks 0 and 1 with shards ({shard},); up to 3 contiguous pieces of extent 1 "
        f"to {most_extent} on either rank, {where}; locations 0, 1 or both; "
        f"scales {', '.join(map(str, scales))}; maps that differ by the names of the ranks once"
    )
    name = f"two ranks {numel} over {shard}"
    shards = {0: (shard,), 1: (shard,)}
    return Family(name, bounds, (numel,), shards, entries, 3, _mirrored(entries))


def two_axes(shape: tuple[int, int]) -> Family:
    """One rank, runs and two-axis blocks inside, up to two pieces."""
    size = math.prod(shape)
    blocks = _blocks(inside(size), inside(size))
    bounds = (
        f"parameter and shard {shape}, one rank; up to 2 pieces of one or two axes, all extents from 2 (or a "
        "single 1), all strides from 1, all offsets, blocks inside"
    )
    return Family(f"two axes over {size}", bounds, shape, {0: shape}, _entries(blocks, (0,), ((0,),)), 2)


FAMILIES: tuple[Family, ...] = (
    *(one_rank(numel, shard) for numel in (1, 2, 3) for shard in (1, 2, 3)),
    one_rank(4, 3),
    two_ranks(2, 1, 1, (ONE, Fraction(2)), inner=False),
    two_ranks(2, 2, 2, (ONE, Fraction(2)), inner=False),
    two_ranks(3, 2, 2, (ONE, Fraction(2)), inner=False),
    two_ranks(6, 3, 3, (ONE,), inner=True),
    two_axes((2, 3)),
)
"""What ``python -m fuzz.universe`` lists."""
