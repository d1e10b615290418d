"""Boxes that ranks hold, as a shard map: a rank with several holds them one behind the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod

from verifier.geometry.strided import StridedView, row_major
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Offsets and sizes, elements."""


def leaves(box: Box, shape: tuple[int, ...]) -> int | None:
    """The first dimension along which a box is not inside a tensor, None when it is inside."""
    for axis, (offset, size, extent) in enumerate(zip(*box, shape, strict=True)):
        if offset < 0 or offset + size > extent:
            return axis
    return None


def box_map(
    name: str, shape: tuple[int, ...], boxes: Mapping[int, Sequence[Box]], origin: Origin
) -> ShardMap:
    """The map in which each rank holds its boxes; the ranks that hold an equal one are its locations.

    A box that leaves the tensor in one dimension can have addresses inside it: check boxes before.
    """
    holders: dict[Box, list[int]] = {}
    for rank in sorted(boxes):
        for box in dict.fromkeys(boxes[rank]):
            holders.setdefault(box, []).append(rank)
    locations = {box: tuple(ranks) for box, ranks in holders.items()}
    strides = row_major(shape)
    shards: dict[int, RankShard] = {}
    for rank, held in boxes.items():
        starts = accumulate((prod(sizes) for _, sizes in held), initial=0)
        pieces = tuple(
            Piece(
                StridedView(sum(o * s for o, s in zip(box[0], strides, strict=True)), box[1], strides),
                StridedView(start, box[1], row_major(box[1])),
                locations[box],
            )
            for box, start in zip(held, starts, strict=False)
        )
        only = held[0][1] if len(held) == 1 else (sum(prod(sizes) for _, sizes in held),)
        shards[rank] = RankShard(only, pieces)
    return ShardMap(name=name, logical_shape=shape, ranks=shards, origin=origin)
