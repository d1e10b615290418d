"""Right maps of the layouts that people cut parameters by, and of many boxes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from math import prod

from verifier.geometry.strided import StridedView, row_major
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Low corner and extents of a block of a row-major tensor."""


def box_view(box: Box, shape: Sequence[int]) -> StridedView:
    """A block of a row-major tensor of ``shape``."""
    low, extents = box
    strides = row_major(shape)
    return StridedView(sum(c * s for c, s in zip(low, strides, strict=True)), extents, strides)


def view_box(view: StridedView, shape: Sequence[int]) -> Box:
    """The block of a row-major tensor that a view made by ``box_view`` is."""
    low, rest = [], view.offset
    for stride in row_major(shape):
        quotient, rest = divmod(rest, stride)
        low.append(quotient)
    return tuple(low), view.shape


def segments_map(name: str, rows: int, segments: Sequence[int], tp: int) -> ShardMap:
    """A (rows, sum(segments)) parameter; the columns of each segment are cut evenly over ``tp`` ranks.

    One segment is a plain column split, three are a fused QKV weight.
    """
    shape, mine = (rows, sum(segments)), (rows, sum(segments) // tp)
    ranks = {}
    for rank in range(tp):
        pieces, source, dest = [], 0, 0
        for segment in segments:
            extents = (rows, segment // tp)
            pieces.append(
                Piece(
                    box_view(((0, source + rank * extents[1]), extents), shape),
                    box_view(((0, dest), extents), mine),
                    (rank,),
                )
            )
            source += segment
            dest += extents[1]
        ranks[rank] = RankShard(mine, tuple(pieces))
    return ShardMap(name=name, logical_shape=shape, ranks=ranks)


def row_split_map(name: str, shape: Sequence[int], tp: int) -> ShardMap:
    """The first axis cut evenly over ``tp`` ranks."""
    mine = (shape[0] // tp, *shape[1:])
    corner = (0,) * (len(shape) - 1)
    ranks = {}
    for rank in range(tp):
        source = box_view(((rank * mine[0], *corner), mine), shape)
        ranks[rank] = RankShard(mine, (Piece(source, box_view(((0, *corner), mine), mine), (rank,)),))
    return ShardMap(name=name, logical_shape=tuple(shape), ranks=ranks)


def block_gather_map(name: str, rows: int, width: int, blocks: int, tp: int) -> ShardMap:
    """(rows, blocks * width): rank r holds the column blocks r, r + tp, r + 2 tp, ... side by side."""
    shape, mine = (rows, blocks * width), (rows, blocks * width // tp)
    ranks = {}
    for rank in range(tp):
        pieces = [
            Piece(
                box_view(((0, block * width), (rows, width)), shape),
                box_view(((0, place * width), (rows, width)), mine),
                (rank,),
            )
            for place, block in enumerate(range(rank, blocks, tp))
        ]
        ranks[rank] = RankShard(mine, tuple(pieces))
    return ShardMap(name=name, logical_shape=shape, ranks=ranks)


def replicated_map(name: str, shape: Sequence[int], tp: int) -> ShardMap:
    """Every rank holds everything, each as one piece of its own."""
    whole = box_view(((0,) * len(shape), tuple(shape)), shape)
    everyone = tuple(range(tp))
    ranks = {rank: RankShard(tuple(shape), (Piece(whole, whole, everyone),)) for rank in everyone}
    return ShardMap(name=name, logical_shape=tuple(shape), ranks=ranks)


def box_per_rank_map(name: str, shape: Sequence[int], boxes: Sequence[Box]) -> ShardMap:
    """One rank for each box, which is its whole shard."""
    ranks = {}
    for rank, box in enumerate(boxes):
        extents = box[1]
        dest = box_view(((0,) * len(extents), extents), extents)
        ranks[rank] = RankShard(extents, (Piece(box_view(box, shape), dest, (rank,)),))
    return ShardMap(name=name, logical_shape=tuple(shape), ranks=ranks)


def boxes_in_flat_shards_map(name: str, shape: Sequence[int], boxes: Sequence[Box], tp: int) -> ShardMap:
    """``tp`` ranks take equal runs of the boxes, each stored row-major one after another in a flat shard."""
    ranks = {}
    for rank in range(tp):
        pieces, end = [], 0
        for box in boxes[rank * len(boxes) // tp : (rank + 1) * len(boxes) // tp]:
            extents = box[1]
            pieces.append(Piece(box_view(box, shape), StridedView(end, extents, row_major(extents)), (rank,)))
            end += prod(extents)
        ranks[rank] = RankShard((end,), tuple(pieces))
    return ShardMap(name=name, logical_shape=tuple(shape), ranks=ranks)


def grid_boxes(shape: Sequence[int], counts: Sequence[int]) -> list[Box]:
    """A regular grid of ``prod(counts)`` equal boxes; every count divides its extent."""
    extents = tuple(n // k for n, k in zip(shape, counts, strict=True))
    corners: Iterable[tuple[int, ...]] = [()]
    for extent, count in zip(extents, counts, strict=True):
        corners = [(*corner, k * extent) for corner in corners for k in range(count)]
    return [(corner, extents) for corner in corners]


def guillotine_boxes(rng: random.Random, shape: Sequence[int], count: int) -> list[Box]:
    """``count`` boxes by random straight cuts, each through one whole box; in the order of the cuts.

    Axes and places are random; the boxes of a part are shared out in proportion to its cells.
    """
    done: list[Box] = []
    pending: list[tuple[Box, int]] = [(((0,) * len(shape), tuple(shape)), count)]
    while pending:
        (low, extents), wanted = pending.pop()
        if wanted == 1:
            done.append((low, extents))
            continue
        axis = rng.choice([k for k, extent in enumerate(extents) if extent > 1])
        at = rng.randint(1, extents[axis] - 1)
        below = (low, _with(extents, axis, at))
        above = (_with(low, axis, low[axis] + at), _with(extents, axis, extents[axis] - at))
        share = wanted * at // extents[axis]
        share = min(max(share, 1, wanted - prod(above[1])), wanted - 1, prod(below[1]))
        pending += [(above, wanted - share), (below, share)]
    return done


def _with(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return (*values[:position], value, *values[position + 1 :])
