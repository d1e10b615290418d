"""Defects in the shapes of a map: of its shards and of the parameter."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from fuzz.mutants.mutant import Change
from verifier.model.shard_map import ShardMap

Shape = tuple[int, ...]
ShapeChange = Callable[[random.Random, Shape], Shape | None]


def resized(rng: random.Random, shape: Shape) -> Shape | None:
    """One dimension by one larger or smaller; two elements where there was a scalar."""
    if not shape:
        return (2,)
    axis = rng.randrange(len(shape))
    step = rng.choice((1, -1))
    return None if shape[axis] + step < 0 else (*shape[:axis], shape[axis] + step, *shape[axis + 1 :])


def permuted(rng: random.Random, shape: Shape) -> Shape | None:
    """The dimensions in another order."""
    mixed = tuple(rng.sample(shape, len(shape)))
    return None if mixed == shape else mixed


def of_a_shard(change: ShapeChange) -> Change:
    """The change of one shard's shape."""

    def changed_map(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        if not shard_map.ranks:
            return None
        rank = rng.choice(sorted(shard_map.ranks))
        shard = shard_map.ranks[rank]
        shape = change(rng, shard.shard_shape)
        if shape is None:
            return None
        return replace(shard_map, ranks={**shard_map.ranks, rank: replace(shard, shard_shape=shape)})

    return changed_map


def of_the_parameter(change: ShapeChange) -> Change:
    """The change of the logical shape."""

    def changed_map(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        shape = change(rng, shard_map.logical_shape)
        return None if shape is None else replace(shard_map, logical_shape=shape)

    return changed_map
