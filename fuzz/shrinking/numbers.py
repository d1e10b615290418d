"""Reductions of the numbers of a map: shapes, extents, offsets, strides, labels of ranks, scales."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

from fuzz.shrinking.example import PLAIN_SCALES, Example, with_shard
from fuzz.shrinking.structure import on_both, on_every_piece, on_pieces
from verifier.geometry.strided import StridedView
from verifier.model.numbers import NUMBER_LIMIT
from verifier.model.piece import Piece, Scale
from verifier.model.shard_map import ShardMap

Shape = tuple[int, ...]


def lower(number: int, least: int = 0) -> Iterator[int]:
    """Numbers of less size and the same sign, by halving steps: from ``least`` up to the next one."""
    size = abs(number)
    gap = size - least
    while gap > 0:
        yield int(math.copysign(1, number)) * (size - gap)
        gap //= 2


def lower_one(numbers: Shape) -> Iterator[Shape]:
    """The numbers with one of them lowered."""
    for at, number in enumerate(numbers):
        for less in lower(number):
            yield (*numbers[:at], less, *numbers[at + 1 :])


def _smaller_shapes(shape: Shape) -> Iterator[Shape]:
    """Written as one dimension; one dimension gone, which only one of 1 does unseen; one lowered."""
    if len(shape) > 1 and math.prod(shape) < NUMBER_LIMIT:
        yield (math.prod(shape),)
    for axis in range(len(shape)):
        yield shape[:axis] + shape[axis + 1 :]
    yield from lower_one(shape)


def smaller_parameter(example: Example) -> Iterator[Example]:
    """A smaller logical shape, of all maps that have it and then of one map alone."""
    before = example.shard_map.logical_shape
    for shape in _smaller_shapes(before):
        yield example.everywhere(partial(_with_logical_shape, before=before, shape=shape))
    for role, shard_map in example.maps():
        for shape in _smaller_shapes(shard_map.logical_shape):
            yield example.with_map(role, replace(shard_map, logical_shape=shape))


def _with_logical_shape(shard_map: ShardMap, *, before: Shape, shape: Shape) -> ShardMap:
    return replace(shard_map, logical_shape=shape) if shard_map.logical_shape == before else shard_map


def smaller_shards(example: Example) -> Iterator[Example]:
    """A smaller shard on one rank, of all maps that have it and then of one map alone."""
    for rank, shard in example.shard_map.ranks.items():
        for shape in _smaller_shapes(shard.shard_shape):
            yield example.everywhere(
                partial(_with_shard_shape, rank=rank, before=shard.shard_shape, shape=shape)
            )
    for role, shard_map in example.maps():
        for rank, shard in shard_map.ranks.items():
            for shape in _smaller_shapes(shard.shard_shape):
                smaller = with_shard(shard_map, rank, replace(shard, shard_shape=shape))
                yield example.with_map(role, smaller)


def _with_shard_shape(shard_map: ShardMap, *, rank: int, before: Shape, shape: Shape) -> ShardMap:
    shard = shard_map.ranks.get(rank)
    if shard is None or shard.shard_shape != before:
        return shard_map
    return with_shard(shard_map, rank, replace(shard, shard_shape=shape))


def lower_extents(example: Example) -> Iterator[Example]:
    """One extent of a piece lowered."""

    def alternatives(piece: Piece) -> Iterator[tuple[Piece, ...]]:
        for shape in lower_one(piece.shape):
            yield (on_both(piece, partial(_with_shape, shape=shape)),)

    return on_pieces(example, alternatives)


def _with_shape(view: StridedView, *, shape: Shape) -> StridedView:
    return replace(view, shape=shape)


def lower_offsets(example: Example) -> Iterator[Example]:
    """One offset lowered, then both."""

    def alternatives(piece: Piece) -> Iterator[tuple[Piece, ...]]:
        source, dest = piece.source, piece.dest
        for offset in lower(source.offset):
            yield (replace(piece, source=replace(source, offset=offset)),)
        for offset in lower(dest.offset):
            yield (replace(piece, dest=replace(dest, offset=offset)),)
        if source.offset and dest.offset:
            yield (on_both(piece, lambda view: replace(view, offset=0)),)

    return on_pieces(example, alternatives)


def lower_strides(example: Example) -> Iterator[Example]:
    """One stride lowered."""

    def lowered(view: StridedView) -> Iterator[StridedView]:
        for strides in lower_one(view.strides):
            yield replace(view, strides=strides)

    def alternatives(piece: Piece) -> Iterator[tuple[Piece, ...]]:
        for source in lowered(piece.source):
            yield (replace(piece, source=source),)
        for dest in lowered(piece.dest):
            yield (replace(piece, dest=dest),)

    return on_pieces(example, alternatives)


def lower_offsets_together(example: Example) -> Iterator[Example]:
    """All offsets of one side lower by the least of them: the example begins at address 0."""
    for side in ("source", "dest"):
        offsets = [getattr(p, side).offset for _, m in example.maps() for _, _, p in m.pieces()]
        least = min(offsets, default=0)
        if least > 0:
            yield example.everywhere(partial(on_every_piece, change=_shift(side, least)))


def _shift(side: str, step: int) -> Callable[[Piece], Piece]:
    def change(piece: Piece) -> Piece:
        view = getattr(piece, side)
        moved = replace(view, offset=view.offset - step)
        return replace(piece, source=moved) if side == "source" else replace(piece, dest=moved)

    return change


def plain_ranks(example: Example) -> Iterator[Example]:
    """Ranks numbered from 0 on, in their order; those that are only named after them, or as they were."""
    held = {rank for _, m in example.maps() for rank in m.ranks} | set(example.expectation.holes)
    named = {rank for _, m in example.maps() for _, _, piece in m.pieces() for rank in piece.locations}
    plain = {rank: label for label, rank in enumerate([*sorted(held), *sorted(named - held)])}
    yield _relabelled(example, plain)
    if not (named - held) & set(range(len(held))):
        yield _relabelled(example, {rank: plain[rank] if rank in held else rank for rank in plain})


def _relabelled(example: Example, new: Mapping[int, int]) -> Example:
    def change(shard_map: ShardMap) -> ShardMap:
        ranks = {new[rank]: shard for rank, shard in shard_map.ranks.items()}
        return on_every_piece(
            replace(shard_map, ranks=ranks),
            lambda piece: replace(piece, locations=tuple(sorted(new[rank] for rank in piece.locations))),
        )

    holes = {new[rank]: cells for rank, cells in example.expectation.holes.items()}
    return replace(example, expectation=replace(example.expectation, holes=holes)).everywhere(change)


def fewer_locations(example: Example) -> Iterator[Example]:
    """One location of a piece less, or a lower one in its place."""

    def alternatives(piece: Piece) -> Iterator[tuple[Piece, ...]]:
        for at, rank in enumerate(piece.locations):
            others = (*piece.locations[:at], *piece.locations[at + 1 :])
            yield (replace(piece, locations=others),)
            for less in lower(rank):
                if less not in others:
                    yield (replace(piece, locations=tuple(sorted((*others, less)))),)

    return on_pieces(example, alternatives)


def plain_scales(example: Example) -> Iterator[Example]:
    """All scales plain, then those of one piece, then the demanded one."""
    for scale in PLAIN_SCALES:
        yield example.everywhere(partial(on_every_piece, change=partial(_with_scale, scale=scale)))
    yield from on_pieces(example, lambda piece: [(replace(piece, scale=scale),) for scale in PLAIN_SCALES])
    if example.expectation.scale is not None:
        for scale in (Fraction(1), Fraction(2)):
            yield replace(example, expectation=replace(example.expectation, scale=scale))


def _with_scale(piece: Piece, *, scale: Scale) -> Piece:
    return replace(piece, scale=scale)


def lower_demands(example: Example) -> Iterator[Example]:
    """A smaller storage unit or index width, lower holes and gaps."""
    expectation = example.expectation
    for unit in lower(expectation.write_unit or 0, 1):
        yield replace(example, expectation=replace(expectation, write_unit=unit))
    for bits in lower(expectation.index_bits, 2):
        yield replace(example, expectation=replace(expectation, index_bits=bits))
    for gaps in lower_one(expectation.gaps):
        if len(set(gaps)) == len(gaps):
            yield replace(example, expectation=replace(expectation, gaps=gaps))
    for rank, cells in expectation.holes.items():
        for lowered in lower_one(cells):
            if len(set(lowered)) == len(lowered):
                holes = {**expectation.holes, rank: lowered}
                yield replace(example, expectation=replace(expectation, holes=holes))
