"""The cut of a parameter that a shard map describes, where it is one that contracts know."""

from __future__ import annotations

from verifier.contracts.document import Layout
from verifier.contracts.rules.cuts import broken_cut_rules
from verifier.contracts.shards import MemberShard, ParameterCut
from verifier.geometry.strided import coordinates, row_major
from verifier.model.shard_map import RankShard, ShardMap

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Offsets and lengths."""


class NoCutError(Exception):
    """No flat cut, no cut of one dimension and no replication; the text says why."""


def cut_of_map(shard_map: ShardMap) -> ParameterCut:
    """The cut, with a member for each rank; of ranks that hold the same part the first stands for all.

    Members are in the order of what they hold, those that hold nothing at the end.

    Raises:
        NoCutError: the map cuts its parameter in another way, or not exactly.
    """
    shape, shards = shard_map.logical_shape, shard_map.ranks
    if shards and all(_is_whole(shard, shape) for shard in shards.values()):
        whole: Box = (0,), (shard_map.numel,)
        return _cut(shard_map, dict.fromkeys(shards, whole), "replicated")
    boxes = {rank: _box(shard, shape) for rank, shard in shards.items() if _holds(shard)}
    held = _first_of_each({rank: box for rank, box in boxes.items() if box is not None})
    dim = _cut_dimension(list(held.values()), shape) if None not in boxes.values() else None
    empty = [rank for rank, shard in shards.items() if not _holds(shard)]
    if dim is not None:
        offsets = tuple(n if d == dim else 0 for d, n in enumerate(shape))
        lengths = tuple(0 if d == dim else n for d, n in enumerate(shape))
        return _cut(shard_map, held | dict.fromkeys(empty, (offsets, lengths)), "dim_shard", dim)
    intervals: dict[int, Box] = {}
    for rank, shard in shards.items():
        found = _interval(shard, shape)
        if found is None:
            raise NoCutError(
                f"rank {rank} holds neither one interval of the flat parameter nor a slice of one dimension"
            )
        if found[1]:
            intervals[rank] = (found[0],), (found[1],)
    nothing: Box = (shard_map.numel,), (0,)
    return _cut(shard_map, _first_of_each(intervals) | dict.fromkeys(empty, nothing), "flat_shard")


def _first_of_each(held: dict[int, Box]) -> dict[int, Box]:
    """What ranks hold, without those that hold what one before them holds."""
    first: dict[Box, int] = {}
    for rank, box in held.items():
        first.setdefault(box, rank)
    return {rank: box for box, rank in first.items()}


def _cut(shard_map: ShardMap, held: dict[int, Box], layout: Layout, dim: int | None = None) -> ParameterCut:
    order = sorted(held, key=lambda rank: (held[rank][0], not all(held[rank][1]), rank))
    names = {rank: f"rank:{rank}" for rank in order}
    cut = ParameterCut(
        fqn=shard_map.name,
        shape=shard_map.logical_shape,
        layout=layout,
        group="ranks",
        members=tuple(names.values()),
        shards=tuple(
            [
                MemberShard(member=names[rank], offsets=box[0], lengths=box[1], is_box=layout == "dim_shard")
                for rank, box in sorted(held.items())
            ]
        ),
        dim=dim,
    )
    broken = next(broken_cut_rules(cut), None)
    if broken is not None:
        raise NoCutError(
            f"the ranks do not hold the parameter exactly once: {broken.message} ({broken.rule})"
        )
    return cut


def _holds(shard: RankShard) -> bool:
    return any(not piece.is_empty for piece in shard.pieces)


def _is_whole(shard: RankShard, shape: tuple[int, ...]) -> bool:
    box = _box(shard, shape)
    return box is not None and box == ((0,) * len(shape), shape)


def _box(shard: RankShard, shape: tuple[int, ...]) -> Box | None:
    """The one box that a rank holds, as a row-major tensor of its own; None where it is none."""
    pieces = [piece for piece in shard.pieces if not piece.is_empty]
    if not pieces or not all(shape):
        return None
    (piece, *others) = pieces
    strides = row_major(shape)
    fits = not others and len(piece.shape) == len(shape) and piece.dest.offset == 0 <= piece.source.offset
    if not fits or any(
        n > 1 and s != t for n, s, t in zip(piece.shape, piece.source.strides, strides, strict=True)
    ):
        return None
    own = row_major(piece.shape)
    if any(n > 1 and s != t for n, s, t in zip(piece.shape, piece.dest.strides, own, strict=True)):
        return None
    offsets = coordinates(piece.source.offset, shape)
    inside = all(o + n <= extent for o, n, extent in zip(offsets, piece.shape, shape, strict=True))
    return (offsets, piece.shape) if inside else None


def _cut_dimension(boxes: list[Box], shape: tuple[int, ...]) -> int | None:
    """The one dimension along which boxes are cut, None where there is none or several."""
    cut = {
        dim
        for offsets, lengths in boxes
        for dim, extent in enumerate(shape)
        if (offsets[dim], lengths[dim]) != (0, extent)
    }
    return cut.pop() if len(cut) == 1 else None


def _interval(shard: RankShard, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """(offset, length) of the flat interval that a rank holds in order, None where it is none."""
    reached: int | None = None
    begin, filled = 0, 0
    for piece in sorted((p for p in shard.pieces if not p.is_empty), key=lambda p: p.dest.offset):
        for view, at in ((piece.source, reached), (piece.dest, filled)):
            own = row_major(piece.shape)
            if any(n > 1 and s != t for n, s, t in zip(view.shape, view.strides, own, strict=True)):
                return None
            if view.offset < 0 or (at is not None and view.offset != at):
                return None
        begin = piece.source.offset if reached is None else begin
        reached, filled = piece.source.offset + piece.numel, filled + piece.numel
    return begin, filled
