"""One defect at a time: labelled changes of a map, each of a single number, list entry or order.

A mutant may happen to be right: a stride of an axis nobody walks, a swap of two equal pieces. What it is, the
walk says, never the label. Each function returns None where the map has nothing to change.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from fuzz.dressing import with_junk_axis
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

Mutant = Callable[[random.Random, ShardMap], ShardMap | None]
SideName = Literal["source", "dest"]
Place = tuple[int, int]
"""(rank, position)."""

STEPS = (-4, -3, -2, -1, -1, 1, 1, 2, 3, 4)


def places(shard_map: ShardMap) -> list[Place]:
    """The pieces that carry something."""
    return [(rank, at) for rank, at, piece in shard_map.pieces() if 0 not in piece.shape]


def with_pieces(shard_map: ShardMap, rank: int, pieces: Sequence[Piece]) -> ShardMap:
    """The map with another list of pieces on one rank."""
    shard = replace(shard_map.ranks[rank], pieces=tuple(pieces))
    return replace(shard_map, ranks={**shard_map.ranks, rank: shard})


def with_piece(shard_map: ShardMap, place: Place, piece: Piece) -> ShardMap:
    """The map with one piece exchanged."""
    pieces = list(shard_map.ranks[place[0]].pieces)
    pieces[place[1]] = piece
    return with_pieces(shard_map, place[0], pieces)


def _chosen(rng: random.Random, shard_map: ShardMap) -> tuple[Place, Piece] | None:
    found = places(shard_map)
    if not found:
        return None
    rank, at = rng.choice(found)
    return (rank, at), shard_map.ranks[rank].pieces[at]


def _on_piece(change: Callable[[random.Random, Piece], Piece | None]) -> Mutant:
    """A mutant that changes one piece."""

    def mutant(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        chosen = _chosen(rng, shard_map)
        if chosen is None:
            return None
        place, piece = chosen
        changed = change(rng, piece)
        return None if changed is None else with_piece(shard_map, place, changed)

    return mutant


def _side(piece: Piece, side: SideName) -> StridedView:
    return piece.source if side == "source" else piece.dest


def _with_side(piece: Piece, side: SideName, view: StridedView) -> Piece:
    return replace(piece, source=view) if side == "source" else replace(piece, dest=view)


def _shift_offset(side: SideName) -> Mutant:
    def change(rng: random.Random, piece: Piece) -> Piece:
        view = _side(piece, side)
        return _with_side(piece, side, replace(view, offset=view.offset + rng.choice(STEPS)))

    return _on_piece(change)


def _moving_axes(piece: Piece) -> list[int]:
    return [axis for axis, extent in enumerate(piece.shape) if extent > 1]


def _change_stride(side: SideName) -> Mutant:
    def change(rng: random.Random, piece: Piece) -> Piece | None:
        axes = _moving_axes(piece)
        if not axes:
            return None
        view = _side(piece, side)
        strides = list(view.strides)
        strides[rng.choice(axes)] += rng.choice(STEPS)
        return _with_side(piece, side, replace(view, strides=tuple(strides)))

    return _on_piece(change)


def _zero_stride(rng: random.Random, piece: Piece) -> Piece | None:
    axes = _moving_axes(piece)
    if not axes:
        return None
    side: SideName = rng.choice(("source", "dest"))
    view = _side(piece, side)
    axis = rng.choice(axes)
    return _with_side(
        piece, side, replace(view, strides=(*view.strides[:axis], 0, *view.strides[axis + 1 :]))
    )


def _reflect(rng: random.Random, piece: Piece) -> Piece | None:
    """One axis walked backwards, over the same addresses."""
    axes = _moving_axes(piece)
    if not axes:
        return None
    side: SideName = rng.choice(("source", "dest"))
    view = _side(piece, side)
    axis = rng.choice(axes)
    strides = list(view.strides)
    offset = view.offset + (view.shape[axis] - 1) * strides[axis]
    strides[axis] = -strides[axis]
    return _with_side(piece, side, replace(view, offset=offset, strides=tuple(strides)))


def _negative_junk(rng: random.Random, piece: Piece) -> Piece | None:
    """A negative stride where nobody walks, on an axis of extent 1; the axis is added where there is none."""
    axes = [axis for axis, extent in enumerate(piece.shape) if extent == 1]
    if not axes:
        piece = with_junk_axis(rng, piece)
        axes = [axis for axis, extent in enumerate(piece.shape) if extent == 1]
    side: SideName = rng.choice(("source", "dest"))
    view = _side(piece, side)
    axis = rng.choice(axes)
    strides = (*view.strides[:axis], rng.randint(-9, -1), *view.strides[axis + 1 :])
    return _with_side(piece, side, replace(view, strides=strides))


def _swap_strides(side: SideName) -> Mutant:
    def change(rng: random.Random, piece: Piece) -> Piece | None:
        axes = _moving_axes(piece)
        if len(axes) < 2:
            return None
        view = _side(piece, side)
        first, second = rng.sample(axes, 2)
        strides = list(view.strides)
        strides[first], strides[second] = strides[second], strides[first]
        return _with_side(piece, side, replace(view, strides=tuple(strides)))

    return _on_piece(change)


def _resize(step: int) -> Mutant:
    def change(rng: random.Random, piece: Piece) -> Piece | None:
        if not piece.shape:
            return None
        axis = rng.randrange(len(piece.shape))
        shape = (*piece.shape[:axis], piece.shape[axis] + step, *piece.shape[axis + 1 :])
        return replace(
            piece, source=replace(piece.source, shape=shape), dest=replace(piece.dest, shape=shape)
        )

    return _on_piece(change)


def _drop_piece(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    chosen = _chosen(rng, shard_map)
    if chosen is None:
        return None
    (rank, at), _ = chosen
    pieces = list(shard_map.ranks[rank].pieces)
    del pieces[at]
    return with_pieces(shard_map, rank, pieces)


def _duplicate_piece(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    chosen = _chosen(rng, shard_map)
    if chosen is None:
        return None
    (rank, _), piece = chosen
    return with_pieces(shard_map, rank, (*shard_map.ranks[rank].pieces, piece))


def _replace_by_copy(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A piece becomes a copy of another one, of any rank."""
    found = places(shard_map)
    if len(found) < 2:
        return None
    place, (rank, at) = rng.sample(found, 2)
    return with_piece(shard_map, place, shard_map.ranks[rank].pieces[at])


def _pairs_of_one_shape(shard_map: ShardMap) -> Iterator[tuple[Place, Place]]:
    found = places(shard_map)
    for k, first in enumerate(found):
        for second in found[k + 1 :]:
            a, b = (shard_map.ranks[rank].pieces[at] for rank, at in (first, second))
            if first[0] == second[0] and a.shape == b.shape:
                yield first, second


def _exchange(side: SideName) -> Mutant:
    """Two pieces of one rank and one shape take each other's source or dest."""

    def mutant(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        pairs = list(_pairs_of_one_shape(shard_map))
        if not pairs:
            return None
        first, second = rng.choice(pairs)
        a, b = (shard_map.ranks[rank].pieces[at] for rank, at in (first, second))
        changed = with_piece(shard_map, first, _with_side(a, side, _side(b, side)))
        return with_piece(changed, second, _with_side(b, side, _side(a, side)))

    return mutant


def _move_piece(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A piece goes to the list of another rank."""
    chosen = _chosen(rng, shard_map)
    if chosen is None or len(shard_map.ranks) < 2:
        return None
    (rank, at), piece = chosen
    other = rng.choice([r for r in shard_map.ranks if r != rank])
    pieces = list(shard_map.ranks[rank].pieces)
    del pieces[at]
    moved = with_pieces(shard_map, rank, pieces)
    return with_pieces(moved, other, (*moved.ranks[other].pieces, piece))


def _swap_ranks(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """Two ranks take each other's shards; the locations stay."""
    if len(shard_map.ranks) < 2:
        return None
    first, second = rng.sample(sorted(shard_map.ranks), 2)
    ranks = shard_map.ranks
    return replace(shard_map, ranks={**ranks, first: ranks[second], second: ranks[first]})


def _drop_rank(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    if len(shard_map.ranks) < 2:
        return None
    gone = rng.choice(sorted(shard_map.ranks))
    return replace(shard_map, ranks={rank: shard for rank, shard in shard_map.ranks.items() if rank != gone})


def _drop_location(rng: random.Random, piece: Piece) -> Piece | None:
    gone = rng.choice(piece.locations) if piece.locations else None
    return replace(piece, locations=tuple([rank for rank in piece.locations if rank != gone]))


def _add_location(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A rank of the map, or one it does not have, is named as a holder."""
    chosen = _chosen(rng, shard_map)
    if chosen is None:
        return None
    place, piece = chosen
    added = rng.choice([*shard_map.ranks, max(shard_map.ranks) + 1, max(shard_map.ranks) + 40])
    if added in piece.locations:
        return None
    return with_piece(shard_map, place, replace(piece, locations=tuple(sorted({*piece.locations, added}))))


def _change_scale(rng: random.Random, piece: Piece) -> Piece:
    if isinstance(piece.scale, Fraction) and rng.random() < 0.5:
        return replace(piece, scale=piece.scale * rng.choice((2, 3, Fraction(1, 7), -1)))
    return replace(piece, scale=rng.choice((Fraction(2), Fraction(1, 2), Fraction(-1))))


def _break_scale(rng: random.Random, piece: Piece) -> Piece:
    return replace(piece, scale=rng.choice((Fraction(0), math.inf, -math.inf, math.nan)))


def _resized(rng: random.Random, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    if not shape:
        return (2,)
    axis = rng.randrange(len(shape))
    step = rng.choice((-1, 1))
    return None if shape[axis] + step < 0 else (*shape[:axis], shape[axis] + step, *shape[axis + 1 :])


def _permuted(rng: random.Random, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    mixed = tuple(rng.sample(shape, len(shape)))
    return None if mixed == shape else mixed


def _on_shard_shape(change: Callable[[random.Random, tuple[int, ...]], tuple[int, ...] | None]) -> Mutant:
    def mutant(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        if not shard_map.ranks:
            return None
        rank = rng.choice(sorted(shard_map.ranks))
        shard = shard_map.ranks[rank]
        shape = change(rng, shard.shard_shape)
        changed = None if shape is None else RankShard(shape, shard.pieces)
        return None if changed is None else replace(shard_map, ranks={**shard_map.ranks, rank: changed})

    return mutant


def _on_logical_shape(change: Callable[[random.Random, tuple[int, ...]], tuple[int, ...] | None]) -> Mutant:
    def mutant(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        shape = change(rng, shard_map.logical_shape)
        return None if shape is None else replace(shard_map, logical_shape=shape)

    return mutant


def _huge_number(rng: random.Random, piece: Piece) -> Piece:
    """A number past every integer type, where it may or may not be reached."""
    side: SideName = rng.choice(("source", "dest"))
    view = _side(piece, side)
    size = rng.choice((2**31, 2**62, 2**63, 2**64, 2**126))
    numbers = [view.offset, *view.strides]
    numbers[rng.randrange(len(numbers))] += size
    return _with_side(piece, side, StridedView(numbers[0], view.shape, tuple(numbers[1:])))


def _changing(mutant: Mutant) -> Mutant:
    """The mutant, None also where what it makes is what there was, or no map at all."""

    def changed(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        try:
            made = mutant(rng, shard_map)
        except ValueError:  # the model refuses it, as a reader would
            return None
        return None if made == shard_map else made

    return changed


_TABLE: dict[str, Mutant] = {
    "shift-source": _shift_offset("source"),
    "shift-dest": _shift_offset("dest"),
    "source-stride": _change_stride("source"),
    "dest-stride": _change_stride("dest"),
    "zero-stride": _on_piece(_zero_stride),
    "reflect": _on_piece(_reflect),
    "negative-junk": _on_piece(_negative_junk),
    "swap-source-strides": _swap_strides("source"),
    "swap-dest-strides": _swap_strides("dest"),
    "grow-extent": _resize(1),
    "shrink-extent": _resize(-1),
    "drop-piece": _drop_piece,
    "duplicate-piece": _duplicate_piece,
    "replace-by-copy": _replace_by_copy,
    "swap-sources": _exchange("source"),
    "swap-dests": _exchange("dest"),
    "move-piece": _move_piece,
    "swap-ranks": _swap_ranks,
    "drop-rank": _drop_rank,
    "drop-location": _on_piece(_drop_location),
    "add-location": _add_location,
    "change-scale": _on_piece(_change_scale),
    "break-scale": _on_piece(_break_scale),
    "shard-size": _on_shard_shape(_resized),
    "permute-shard-shape": _on_shard_shape(_permuted),
    "logical-size": _on_logical_shape(_resized),
    "permute-logical-shape": _on_logical_shape(_permuted),
    "huge-number": _on_piece(_huge_number),
}

MUTANTS: dict[str, Mutant] = {name: _changing(mutant) for name, mutant in _TABLE.items()}
"""Every mutant by name."""
