"""Small pieces of maps, for generators.

Generators are functions of a ``random.Random``, which hypothesis may drive. It makes an example smaller by
making its numbers less: ``random()`` becomes 0.0, ``choice`` takes the first, ``randint`` the least. So 0.0
must mean the simple thing (``chance``), and what one chooses from is listed from simple to complicated.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from verifier.geometry.strided import StridedView, row_major
from verifier.model.piece import ONE, Piece, Scale
from verifier.model.shard_map import RankShard, ShardMap

Side = tuple[int, Sequence[int]]
"""(offset, strides), as files have it."""
Shards = Mapping[int, tuple[Sequence[int], Sequence[Piece]]]
"""rank -> (shard_shape, pieces)."""


def chance(rng: random.Random, probability: float) -> bool:
    """Whether something complicated happens; where the random number is 0.0, it does not."""
    return rng.random() >= 1 - probability


def piece(
    shape: Sequence[int], source: Side, dest: Side, locations: Sequence[int], scale: Scale = ONE
) -> Piece:
    """A piece from the numbers of a file."""
    return Piece(
        StridedView(source[0], tuple(shape), tuple(source[1])),
        StridedView(dest[0], tuple(shape), tuple(dest[1])),
        tuple(sorted(set(locations))),
        scale,
    )


def shard_map(logical_shape: Sequence[int], shards: Shards, name: str = "w") -> ShardMap:
    """A map from plain sequences."""
    return ShardMap(
        name=name,
        logical_shape=tuple(logical_shape),
        ranks={rank: RankShard(tuple(shape), tuple(pieces)) for rank, (shape, pieces) in shards.items()},
    )


def labels(rng: random.Random, count: int) -> list[int]:
    """That many ranks: 0, 1, ... or, half of the time, any ascending numbers."""
    return sorted(rng.sample(range(3 * count + 2), count)) if chance(rng, 0.5) else list(range(count))


def split(rng: random.Random, size: int, parts: int, unit: int = 1) -> list[int]:
    """Widths that add up to ``size``, all but the last cut at multiples of ``unit``; some may be 0."""
    cuts = sorted(min(size, unit * rng.randint(0, math.ceil(size / unit))) for _ in range(parts - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, size], strict=True)]


def shape_of(rng: random.Random, size: int, axes: int) -> list[int]:
    """A random shape of that many axes and at most ``size`` elements, no axis 0."""
    shape: list[int] = []
    for remaining in range(axes, 0, -1):
        room = size // math.prod(shape)
        shape.append(rng.randint(1, max(1, min(room, round(2 * room ** (1 / remaining))))))
    rng.shuffle(shape)
    return shape


def factored(rng: random.Random, size: int) -> list[int]:
    """A shape of exactly ``size`` elements, 1 to 3 axes."""
    shape = [size]
    for _ in range(rng.randint(0, 2)):
        largest = shape.pop()
        divisors = [d for d in range(1, min(largest, 64) + 1) if largest % d == 0] or [1]
        chosen = rng.choice(divisors)
        shape += [chosen, largest // chosen]
    return shape


def stored_strides(rng: random.Random, extents: Sequence[int]) -> tuple[list[int], list[int]]:
    """A dense buffer for a box, axes in any order: its shape, and the stride of each axis of the box."""
    order = list(range(len(extents)))
    if chance(rng, 0.4):
        rng.shuffle(order)
    stored = [extents[axis] for axis in order]
    steps = row_major(stored)
    return stored, [steps[order.index(axis)] for axis in range(len(extents))]
