"""The cut of a parameter that a shard map describes, where it is one that contracts know."""

from __future__ import annotations

from verifier.contracts.shards import MemberShard, ParameterCut
from verifier.geometry.strided import coordinates, row_major
from verifier.model.shard_map import RankShard, ShardMap


class NoCutError(Exception):
    """No flat cut, no cut of one dimension and no replication; the text says why."""


def cut_of_map(shard_map: ShardMap) -> ParameterCut:
    """The cut, with a member for each rank.

    Raises:
        NoCutError: the map cuts its parameter in another way.
    """
    members = tuple(f"rank:{rank}" for rank in shard_map.ranks)
    shape, shards = shard_map.logical_shape, list(shard_map.ranks.values())
    if all(_is_whole(shard, shape) for shard in shards):
        whole = [MemberShard(member=m, offsets=(0,), lengths=(shard_map.numel,)) for m in members]
        return _cut(shard_map, members, whole, "replicated")
    held = [_box(shard, shape) for shard in shards]
    dim = _cut_dimension([box for box in held if box is not None], shape)
    if dim is not None and None not in held:
        boxes = [
            MemberShard(member=m, offsets=box[0], lengths=box[1], is_box=True)
            for m, box in zip(members, held, strict=True)
            if box is not None
        ]
        return _cut(shard_map, members, boxes, "dim_shard", dim)
    flat = [_interval(shard, shape) for shard in shards]
    if None in flat:
        rank = list(shard_map.ranks)[flat.index(None)]
        raise NoCutError(
            f"rank {rank} holds neither one interval of the flat parameter nor a slice of one dimension"
        )
    intervals = [
        MemberShard(member=m, offsets=(found[0],), lengths=(found[1],))
        for m, found in zip(members, flat, strict=True)
        if found is not None
    ]
    return _cut(shard_map, members, intervals, "flat_shard")


def _cut(
    shard_map: ShardMap,
    members: tuple[str, ...],
    shards: list[MemberShard],
    layout: str,
    dim: int | None = None,
) -> ParameterCut:
    return ParameterCut(
        fqn=shard_map.name,
        shape=shard_map.logical_shape,
        layout=layout,  # type: ignore[arg-type]
        group="ranks",
        members=members,
        shards=tuple(shards),
        dim=dim,
    )


def _is_whole(shard: RankShard, shape: tuple[int, ...]) -> bool:
    box = _box(shard, shape)
    return box is not None and box == ((0,) * len(shape), shape)


def _box(shard: RankShard, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The one box that a rank holds, as a row-major tensor of its own; an empty one for nothing."""
    pieces = [piece for piece in shard.pieces if not piece.is_empty]
    if not pieces:
        return None
    (piece, *others) = pieces
    strides = row_major(shape)
    fits = not others and len(piece.shape) == len(shape) and piece.dest.offset == 0
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


def _cut_dimension(
    boxes: list[tuple[tuple[int, ...], tuple[int, ...]]], shape: tuple[int, ...]
) -> int | None:
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
            if at is not None and view.offset != at:
                return None
        begin = piece.source.offset if reached is None else begin
        reached, filled = piece.source.offset + piece.numel, filled + piece.numel
    return begin, filled
