"""Shard maps of state fields, put together from what each member holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from verifier.contracts.shards import ParameterCut
from verifier.geometry.strided import StridedView, row_major
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap


def whole_on(name: str, shape: tuple[int, ...], holders: Sequence[int], members: int) -> ShardMap:
    """All of the field on each of ``holders``, nothing on the other of ``members``."""
    view = StridedView(0, shape, row_major(shape))
    shard = RankShard(shape, (Piece(view, view, tuple(sorted(holders))),))
    none = RankShard((0,), ())
    held = set(holders)
    ranks = {rank: shard if rank in held else none for rank in range(members)}
    return ShardMap(name=name, logical_shape=shape, ranks=ranks)


def boxes(
    name: str, shape: tuple[int, ...], held: Mapping[int, tuple[tuple[int, ...], tuple[int, ...]]]
) -> ShardMap:
    """One box (offsets, lengths) of the field on each member."""
    strides = row_major(shape)
    ranks: dict[int, RankShard] = {}
    for rank, (offsets, lengths) in held.items():
        start = sum(o * s for o, s in zip(offsets, strides, strict=True))
        source, dest = StridedView(start, lengths, strides), StridedView(0, lengths, row_major(lengths))
        ranks[rank] = RankShard(lengths, (Piece(source, dest, (rank,)),))
    return ShardMap(name=name, logical_shape=shape, ranks=ranks)


def intervals(name: str, shape: tuple[int, ...], held: Mapping[int, tuple[int, int, int, int]]) -> ShardMap:
    """On each member (first, count, length, step): ``count`` intervals of ``length``, ``step`` apart."""
    ranks: dict[int, RankShard] = {}
    for rank, (first, count, length, step) in held.items():
        source = StridedView(first, (count, length), (step, 1))
        dest = StridedView(0, (count, length), (length, 1))
        ranks[rank] = RankShard((count * length,), (Piece(source, dest, (rank,)),))
    return ShardMap(name=name, logical_shape=shape, ranks=ranks)


def parameter_map(cut: ParameterCut, name: str) -> ShardMap:
    """The shard map of the parameter itself, or of a field that is cut like it."""
    if cut.layout == "dim_shard":
        held = {k: (shard.offsets, shard.lengths) for k, shard in enumerate(cut.shards)}
        return boxes(name, cut.shape, held)
    if cut.layout == "replicated":
        return whole_on(name, cut.shape, range(len(cut.shards)), len(cut.shards))
    flat = {k: (shard.offsets[0], 1, shard.lengths[0], 0) for k, shard in enumerate(cut.shards)}
    return intervals(name, cut.shape, {k: (o, c, n, max(n, 1)) for k, (o, c, n, _) in flat.items()})


def shared(
    name: str, shape: tuple[int, ...], runs: Iterable[tuple[int, int, frozenset[int]]], members: int
) -> ShardMap:
    """Runs (begin, end, holders) of the flat field, each whole on all of its holders."""
    pieces: dict[int, list[Piece]] = {member: [] for member in range(members)}
    sizes = dict.fromkeys(range(members), 0)
    for begin, end, holders in runs:
        length = end - begin
        for member in sorted(holders):
            source = StridedView(begin, (length,), (1,))
            dest = StridedView(sizes[member], (length,), (1,))
            pieces[member].append(Piece(source, dest, tuple(sorted(holders))))
            sizes[member] += length
    ranks = {member: RankShard((sizes[member],), tuple(found)) for member, found in pieces.items()}
    return ShardMap(name=name, logical_shape=shape, ranks=ranks)
