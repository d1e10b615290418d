"""Small maps for tests, written the way people think of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verifier.geometry.strided import StridedView, row_major
from verifier.model.piece import ONE, Piece
from verifier.model.shard_map import RankShard, ShardMap

View = tuple[int, Sequence[int]]


def piece(
    shape: Sequence[int],
    source: View,
    dest: View,
    locations: Sequence[int] = (0,),
    scale: Fraction = ONE,
) -> Piece:
    """A piece from (offset, strides) pairs."""
    return Piece(
        StridedView(source[0], tuple(shape), tuple(source[1])),
        StridedView(dest[0], tuple(shape), tuple(dest[1])),
        tuple(locations),
        scale,
    )


def shard_map(
    logical_shape: Sequence[int], shards: dict[int, tuple[Sequence[int], Sequence[Piece]]], name: str = "w"
) -> ShardMap:
    """A map from rank to (shard shape, pieces)."""
    return ShardMap(
        name=name,
        logical_shape=tuple(logical_shape),
        ranks={rank: RankShard(tuple(shape), tuple(pieces)) for rank, (shape, pieces) in shards.items()},
    )


def columns(rows: int, width: int, ranks: int) -> ShardMap:
    """A (rows, width * ranks) parameter, each rank a block of columns."""
    total = width * ranks
    return shard_map(
        (rows, total),
        {
            rank: (
                (rows, width),
                [piece((rows, width), (rank * width, (total, 1)), (0, (width, 1)), (rank,))],
            )
            for rank in range(ranks)
        },
    )


def replicated(shape: Sequence[int], ranks: int, scale: Fraction = ONE) -> ShardMap:
    """The whole parameter on every rank."""
    strides = row_major(shape)
    whole = piece(shape, (0, strides), (0, strides), tuple(range(ranks)), scale)
    return shard_map(shape, {rank: (shape, [whole]) for rank in range(ranks)})
