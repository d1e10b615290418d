"""Constructors with a bug to be planted by name, written the plain way, as people write them.

Each takes sizes and builds a map of two or more ranks; ``bug`` is None or one of the names in its ``BUGS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verifier import Piece, RankShard, ShardMap, StridedView


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    found = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        found[axis] = found[axis + 1] * shape[axis + 1]
    return tuple(found)


def chunked_rows(rows: int, columns: int, bug: str | None = None, ranks: int = 3) -> ShardMap:
    """Rows in chunks of ceil(rows / ranks), the last ones shorter."""
    chunk = rows // ranks if bug == "floor for ceil" else (rows + ranks - 1) // ranks
    if bug == "ceil one too far":
        chunk = (rows + ranks) // ranks
    shards = {}
    for rank in range(ranks):
        low, high = min(rank * chunk, rows), min((rank + 1) * chunk, rows)
        if bug == "no clamp at the end":
            low, high = rank * chunk, (rank + 1) * chunk
        if bug == "remainder to the last, twice" and rank == ranks - 1:
            low = min(low, rows - rows % ranks)
        if bug == "last row forgotten" and rank == ranks - 1:
            high = max(high - 1, low)
        if bug == "overlap by one" and rank == 1:
            low = max(low - 1, 0)
        held = (high - low, columns)
        shape = (chunk, columns) if bug == "shard of a full chunk" else held
        source = low if bug == "offset without columns" else low * columns
        dest = 1 if bug == "dest off by one" else 0
        step = (rows, 1) if bug == "stride of the wrong axis" else (columns, 1)
        place = (rank + 1) % ranks if bug == "locations of the next rank" else rank
        piece = Piece(StridedView(source, held, step), StridedView(dest, held, strides(shape)), (place,))
        shards[rank] = RankShard(shape, (piece,))
    return ShardMap(name="w", logical_shape=(rows, columns), ranks=shards)


def split_columns(rows: int, columns: int, bug: str | None = None, ranks: int = 2) -> ShardMap:
    """Columns in floors, the first ranks one more."""
    shards, low = {}, 0
    for rank in range(ranks):
        width = columns // ranks + (rank < columns % ranks)
        if bug == "remainder lost":
            width = columns // ranks
        if bug == "one more for every rank":
            width = columns // ranks + (columns % ranks > 0)
        if bug == "remainder to the wrong rank":
            width = columns // ranks + (rank >= ranks - columns % ranks)
        held = (rows, width)
        dest = (columns, 1) if bug == "stride of the full shard" else (width, 1)
        source = (width, 1) if bug == "stride of the short shard" else (columns, 1)
        start = low * rows if bug == "offset of the wrong axis" else low
        if bug == "even offset":
            start = rank * (columns // ranks)
        shape = (width, rows) if bug == "shard shape transposed" else held
        piece = Piece(StridedView(start, held, source), StridedView(0, held, dest), (rank,))
        shards[rank] = RankShard(shape, (piece,))
        low += width
    return ShardMap(name="w", logical_shape=(rows, columns), ranks=shards)


def qkv(heads: int, groups: int, width: int, bug: str | None = None, ranks: int = 2) -> ShardMap:
    """Queries, keys, values, one after another; each rank has its heads of each. ``heads`` is per rank."""
    parts = [heads * width, groups * width, groups * width]
    full = [ranks * one for one in parts]
    shards = {}
    for rank in range(ranks):
        pieces, dest = [], 0
        order = [0, 2, 1] if bug == "keys and values exchanged" else [0, 1, 2]
        if bug == "queries last":
            order = [1, 2, 0]
        for part in order:
            start = sum(full[:part]) + rank * parts[part]
            if bug == "plain cut":
                start = rank * sum(parts) + sum(parts[:part])
            if bug == "keys begin after own queries" and part == 1:
                start = parts[0] + rank * parts[1]
            if bug == "rank reversed in values" and part == 2:
                start = sum(full[:2]) + (ranks - 1 - rank) * parts[2]
            if bug == "heads taken for groups" and part == 1:
                start = full[0] + rank * parts[0]
            pieces.append(
                Piece(
                    StridedView(start, (parts[part],), (1,)), StridedView(dest, (parts[part],), (1,)), (rank,)
                )
            )
            dest += parts[part]
        if bug == "values whole":
            pieces[2] = Piece(pieces[2].source, pieces[2].dest, tuple(range(ranks)))
        shards[rank] = RankShard((sum(parts),), tuple(pieces))
    return ShardMap(name="w", logical_shape=(sum(full),), ranks=shards)


def interleaved(heads: int, width: int, bug: str | None = None, ranks: int = 2) -> ShardMap:
    """Heads dealt out in turn: rank r has heads r, r + ranks, ...; ``heads`` is per rank."""
    shards = {}
    for rank in range(ranks):
        step = heads * width if bug == "blocks for turns" else ranks * width
        start = rank * heads * width if bug in ("blocks for turns", "start of a block") else rank * width
        if bug == "one head further":
            start = (rank + 1) * width
        source = StridedView(start, (heads, width), (step, 1))
        if bug == "step of one head":
            source = StridedView(start, (heads, width), (width, 1))
        dest = StridedView(0, (heads, width), (1, heads) if bug == "transposed in the shard" else (width, 1))
        shards[rank] = RankShard((heads, width), (Piece(source, dest, (rank,)),))
    return ShardMap(name="w", logical_shape=(ranks * heads, width), ranks=shards)


BUGS: dict[Callable[..., ShardMap], tuple[str, ...]] = {
    chunked_rows: (
        "floor for ceil",
        "no clamp at the end",
        "remainder to the last, twice",
        "last row forgotten",
        "overlap by one",
        "shard of a full chunk",
        "offset without columns",
        "dest off by one",
        "stride of the wrong axis",
        "locations of the next rank",
    ),
    split_columns: (
        "remainder lost",
        "one more for every rank",
        "remainder to the wrong rank",
        "stride of the full shard",
        "stride of the short shard",
        "offset of the wrong axis",
        "even offset",
        "shard shape transposed",
    ),
    qkv: (
        "keys and values exchanged",
        "queries last",
        "plain cut",
        "keys begin after own queries",
        "rank reversed in values",
        "heads taken for groups",
        "values whole",
    ),
    interleaved: (
        "blocks for turns",
        "start of a block",
        "one head further",
        "step of one head",
        "transposed in the shard",
    ),
}
HARMLESS: dict[Callable[..., ShardMap], tuple[str, ...]] = {chunked_rows: ("ceil one too far",)}
"""Another layout than the reference's, and sound."""
