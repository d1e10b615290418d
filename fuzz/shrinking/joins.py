"""Two pieces of a rank written as one, where that is the same copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from fuzz.shrinking.example import Example, with_shard
from fuzz.shrinking.structure import held
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard


def joined_pieces(example: Example) -> Iterator[Example]:
    """Two pieces as one, in one map: how its copies fall into pieces is its own."""
    for role, shard_map in example.maps():
        for rank, shard in shard_map.ranks.items():
            for pieces in _joined(shard.pieces):
                yield example.with_map(
                    role, with_shard(shard_map, rank, RankShard(shard.shard_shape, pieces))
                )


def _joined(pieces: tuple[Piece, ...]) -> Iterator[tuple[Piece, ...]]:
    for at, first in enumerate(pieces):
        for position, second in enumerate(pieces):
            if at == position or (first.locations, first.scale) != (second.locations, second.scale):
                continue
            for one in (*_continued(first, second), *_stacked(first, second)):
                rest = [piece for k, piece in enumerate(pieces) if k not in (at, position)]
                yield (*rest[: min(at, position)], one, *rest[min(at, position) :])


def _continued(first: Piece, second: Piece) -> Iterator[Piece]:
    """The second piece goes on where an axis of the first one ends."""
    for axis in range(len(first.shape)):
        source = _longer(first.source, second.source, axis)
        dest = _longer(first.dest, second.dest, axis)
        if source is not None and dest is not None:
            for (piece,) in held(partial(replace, first, source=source, dest=dest)):
                yield piece


def _longer(first: StridedView, second: StridedView, axis: int) -> StridedView | None:
    shape, strides = second.shape, second.strides
    if len(shape) + 1 == len(first.shape):  # an axis of one index may be left out
        shape = (*shape[:axis], 1, *shape[axis:])
        strides = (*strides[:axis], first.strides[axis], *strides[axis:])
    end = first.offset + first.shape[axis] * first.strides[axis]
    if second.offset != end or strides != first.strides:
        return None
    if shape[:axis] + shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :]:
        return None
    longer = (*shape[:axis], first.shape[axis] + shape[axis], *shape[axis + 1 :])
    return StridedView(first.offset, longer, strides)


def _stacked(first: Piece, second: Piece) -> Iterator[Piece]:
    """The pieces have one form: another axis, of extent 2, goes from the first to the second."""
    forms = [(p.shape, p.source.strides, p.dest.strides) for p in (first, second)]
    steps = second.source.offset - first.source.offset, second.dest.offset - first.dest.offset
    if forms[0] == forms[1] and min(steps) >= 0:
        source, dest = (
            StridedView(view.offset, (2, *view.shape), (step, *view.strides))
            for view, step in zip((first.source, first.dest), steps, strict=True)
        )
        yield replace(first, source=source, dest=dest)
