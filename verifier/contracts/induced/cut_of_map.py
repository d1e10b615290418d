"""The cut of a parameter that a shard map describes, where it is one that contracts know."""

from __future__ import annotations

from collections.abc import Mapping

from verifier.contracts.document import Layout
from verifier.contracts.rules.cuts import broken_cut_rules
from verifier.contracts.shards import MemberShard, ParameterCut
from verifier.geometry.strided import coordinates, row_major
from verifier.model.shard_map import RankShard, ShardMap

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Offsets and lengths."""


class NoCutError(Exception):
    """No flat cut, no cut of one dimension, no owner and no replication; the text says why."""


def cut_of_map(shard_map: ShardMap) -> ParameterCut:
    """The first of ``cuts_of_map``.

    Raises:
        NoCutError: the map cuts its parameter in another way, or not exactly.
    """
    return cuts_of_map(shard_map)[0]


def cuts_of_map(shard_map: ShardMap) -> tuple[ParameterCut, ...]:
    """Every cut that the map may be, with a member for each rank.

    One rank with everything owns it, replicates it, or has the only slice; whole rows are a slice and an
    interval; what some ranks hold whole and others not at all is replicated among the former. Of ranks that
    hold the same part the first stands for all. Members are in the order of what they hold, those that hold
    nothing at the end.

    Raises:
        NoCutError: the map cuts its parameter in another way, or not exactly.
    """
    shape, shards = shard_map.logical_shape, shard_map.ranks
    holding = {rank: shard for rank, shard in shards.items() if _holds(shard)}
    empty = [rank for rank in shards if rank not in holding]
    boxes = {rank: box for rank, shard in holding.items() if (box := _box(shard, shape)) is not None}
    spans = {rank: span for rank, shard in holding.items() if (span := _interval(shard, shape)) is not None}
    found: list[ParameterCut] = []
    problems: list[str] = []
    for made in (
        _replicated(shard_map, list(holding) or list(shards), boxes),
        _owned(shard_map, list(holding), boxes),
        _sliced(shard_map, boxes, empty) if len(boxes) == len(holding) else None,
        _flat(shard_map, spans, empty) if len(spans) == len(holding) else None,
    ):
        broken = None if made is None else next(broken_cut_rules(made), None)
        if broken is not None:
            problems.append(f"{broken.message} ({broken.rule})")
        elif made is not None:
            found.append(made)
    if found:
        return tuple(found)
    if problems:
        raise NoCutError(f"the ranks do not hold the parameter exactly once: {problems[0]}")
    other = next(rank for rank in holding if rank not in spans)
    raise NoCutError(
        f"rank {other} holds neither one interval of the flat parameter nor a slice of one dimension"
    )


def _replicated(shard_map: ShardMap, ranks: list[int], boxes: Mapping[int, Box]) -> ParameterCut | None:
    whole: Box = (0,) * len(shard_map.logical_shape), shard_map.logical_shape
    if not ranks or any(boxes.get(rank) != whole for rank in ranks):
        return None
    return _cut(shard_map, dict.fromkeys(ranks, ((0,), (shard_map.numel,))), "replicated")


def _owned(shard_map: ShardMap, holding: list[int], boxes: Mapping[int, Box]) -> ParameterCut | None:
    if len(holding) != 1 or _replicated(shard_map, holding, boxes) is None:
        return None
    held: dict[int, Box] = dict.fromkeys(shard_map.ranks, ((0,), (0,)))
    held[holding[0]] = (0,), (shard_map.numel,)
    return _cut(shard_map, held, "whole_owner", owner=holding[0])


def _sliced(shard_map: ShardMap, boxes: dict[int, Box], empty: list[int]) -> ParameterCut | None:
    shape = shard_map.logical_shape
    held = _first_of_each(boxes)
    dim = 0 if len(held) == 1 and shape else _cut_dimension(list(held.values()), shape)
    if dim is None:
        return None
    offsets = tuple(n if d == dim else 0 for d, n in enumerate(shape))
    lengths = tuple(0 if d == dim else n for d, n in enumerate(shape))
    return _cut(shard_map, held | dict.fromkeys(empty, (offsets, lengths)), "dim_shard", dim)


def _flat(shard_map: ShardMap, spans: Mapping[int, tuple[int, int]], empty: list[int]) -> ParameterCut:
    nothing: Box = (shard_map.numel,), (0,)
    held: dict[int, Box] = {rank: ((begin,), (length,)) for rank, (begin, length) in spans.items()}
    return _cut(shard_map, _first_of_each(held) | dict.fromkeys(empty, nothing), "flat_shard")


def _first_of_each(held: dict[int, Box]) -> dict[int, Box]:
    """What ranks hold, without those that hold what one before them holds."""
    first: dict[Box, int] = {}
    for rank, box in held.items():
        first.setdefault(box, rank)
    return {rank: box for box, rank in first.items()}


def _cut(
    shard_map: ShardMap,
    held: dict[int, Box],
    layout: Layout,
    dim: int | None = None,
    owner: int | None = None,
) -> ParameterCut:
    order = sorted(held, key=lambda rank: (held[rank][0], not all(held[rank][1]), rank))
    names = {rank: f"rank:{rank}" for rank in order}
    return ParameterCut(
        fqn=shard_map.name,
        shape=shard_map.logical_shape,
        layout=layout,
        group="ranks",
        members=tuple(names.values()),
        shards=tuple(
            [
                MemberShard(
                    member=names[rank],
                    offsets=box[0],
                    lengths=box[1],
                    owner=None if owner is None else names[owner],
                    is_box=layout == "dim_shard",
                )
                for rank, box in sorted(held.items())
            ]
        ),
        dim=dim,
    )


def _holds(shard: RankShard) -> bool:
    return any(not piece.is_empty for piece in shard.pieces)


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
