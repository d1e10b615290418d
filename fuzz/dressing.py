"""Other ways to write the same map: pieces cut again, reordered, re-expressed, with meaningless axes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from fuzz.build import chance
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

Rewrite = Callable[[random.Random, Piece], Piece]


def narrowed(view: StridedView, axis: int, start: int, extent: int) -> StridedView:
    """The part of a view with ``start <= index < start + extent`` on one axis."""
    shape = (*view.shape[:axis], extent, *view.shape[axis + 1 :])
    return StridedView(view.offset + start * view.strides[axis], shape, view.strides)


def recut(rng: random.Random, piece: Piece) -> tuple[Piece, ...]:
    """Two pieces that together are this one, or the piece itself when it has no axis to cut."""
    axes = [axis for axis, extent in enumerate(piece.shape) if extent > 1]
    if not axes:
        return (piece,)
    axis = rng.choice(axes)
    extent = piece.shape[axis]
    at = rng.randint(1, extent - 1)
    halves = [
        replace(
            piece,
            source=narrowed(piece.source, axis, start, width),
            dest=narrowed(piece.dest, axis, start, width),
        )
        for start, width in ((0, at), (at, extent - at))
    ]
    rng.shuffle(halves)
    return tuple(halves)


def _on_both(piece: Piece, change: Callable[[StridedView], StridedView]) -> Piece:
    return replace(piece, source=change(piece.source), dest=change(piece.dest))


def transposed(rng: random.Random, piece: Piece) -> Piece:
    """The axes of both sides in another order."""
    order = rng.sample(range(len(piece.shape)), len(piece.shape))
    return _on_both(
        piece,
        lambda view: StridedView(
            view.offset, tuple([view.shape[a] for a in order]), tuple([view.strides[a] for a in order])
        ),
    )


def factorised(rng: random.Random, piece: Piece) -> Piece:
    """One axis of a composite extent as two."""
    ways = [(axis, d) for axis, n in enumerate(piece.shape) for d in range(2, n) if n % d == 0]
    if not ways:
        return piece
    axis, inner = rng.choice(ways)

    def change(view: StridedView) -> StridedView:
        shape, strides = list(view.shape), list(view.strides)
        strides[axis : axis + 1] = [strides[axis] * inner, strides[axis]]
        shape[axis : axis + 1] = [shape[axis] // inner, inner]
        return StridedView(view.offset, tuple(shape), tuple(strides))

    return _on_both(piece, change)


def with_junk_axis(rng: random.Random, piece: Piece) -> Piece:
    """One more axis, of extent 1, with strides that mean nothing; never negative, which torch refuses."""
    axis = rng.randint(0, len(piece.shape))

    def change(view: StridedView) -> StridedView:
        shape, strides = list(view.shape), list(view.strides)
        shape.insert(axis, 1)
        strides.insert(axis, rng.randint(0, 99))
        return StridedView(view.offset, tuple(shape), tuple(strides))

    return _on_both(piece, change)


def empty_piece(rng: random.Random, locations: tuple[int, ...]) -> Piece:
    """A piece of no elements, with numbers that mean nothing."""
    shape = [rng.randint(0, 4) for _ in range(rng.randint(1, 3))]
    shape[rng.randrange(len(shape))] = 0
    sides = [
        StridedView(rng.randint(-3, 99), tuple(shape), tuple(rng.randint(-3, 9) for _ in shape))
        for _ in range(2)
    ]
    return Piece(sides[0], sides[1], locations)


REWRITES: tuple[Rewrite, ...] = (transposed, factorised, with_junk_axis)

MOST_AXES = 5
"""Rewrites stop adding axes here."""


def rewritten(rng: random.Random, piece: Piece) -> Piece:
    """The same elements and cells, written otherwise; at most ``MOST_AXES`` axes unless there were more."""
    for rewrite in rng.sample(REWRITES, rng.randint(1, len(REWRITES))):
        if len(piece.shape) < MOST_AXES or rewrite is transposed:
            piece = rewrite(rng, piece)
    return piece


def dressed(rng: random.Random, shard_map: ShardMap) -> ShardMap:
    """The same function: some pieces recut or rewritten, lists reordered, empty pieces put in."""
    ranks = {}
    for rank, shard in shard_map.ranks.items():
        pieces: list[Piece] = []
        for piece in shard.pieces:
            parts = recut(rng, piece) if chance(rng, 0.3) else (piece,)
            pieces += [rewritten(rng, part) if chance(rng, 0.3) else part for part in parts]
        if chance(rng, 0.15):
            pieces.append(empty_piece(rng, (rank,)))
        if chance(rng, 0.5):
            rng.shuffle(pieces)
        ranks[rank] = replace(shard, pieces=tuple(pieces))
    return replace(shard_map, ranks=ranks)
