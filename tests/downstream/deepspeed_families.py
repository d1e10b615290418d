"""Random right maps from every constructor of the release, by layout family."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.downstream.deepspeed_affine import affine, autoep

Family = Callable[[random.Random, int], object]


def composition(rng: random.Random, total: int, parts: int) -> list[int]:
    """Random non-negative widths that add up."""
    cuts = sorted(rng.randrange(total + 1) for _ in range(parts - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]


def shape_and_dim(rng: random.Random, extent: int) -> tuple[list[int], int]:
    """A shape of 1 to 4 axes with ``extent`` on the partition dimension."""
    rank = rng.randrange(1, 5)
    dim = rng.randrange(rank)
    shape = [rng.randrange(1, 7) for _ in range(rank)]
    shape[dim] = extent
    return shape, dim


def replicated(rng: random.Random, tp: int) -> object:
    shape, _ = shape_and_dim(rng, rng.randrange(1, 9))
    return affine().replicated_map(shape, tp)


def even(rng: random.Random, tp: int) -> object:
    width = rng.randrange(1, 6)
    shape, dim = shape_and_dim(rng, width * tp)
    return affine().contiguous_split_map(shape, [width] * tp, dim)


def uneven(rng: random.Random, tp: int) -> object:
    extent = rng.randrange(1, 40)
    shape, dim = shape_and_dim(rng, extent)
    return affine().contiguous_split_map(shape, composition(rng, extent, tp), dim)


def fused(rng: random.Random, tp: int) -> object:
    sizes = [rng.randrange(1, 20) for _ in range(rng.randrange(1, 5))]
    shape, dim = shape_and_dim(rng, sum(sizes))
    return affine().sub_param_map(shape, sizes, [composition(rng, size, tp) for size in sizes], dim)


def segmented(rng: random.Random, tp: int) -> object:
    segments = [(rng.randrange(1, 12), rng.random() < 0.4) for _ in range(rng.randrange(1, 5))]
    shape, dim = shape_and_dim(rng, sum(size for size, _ in segments))
    widths = [composition(rng, size, tp) for size, whole in segments if not whole]
    return affine().segmented_map(shape, segments, dim, tp, widths)


def gathered(rng: random.Random, tp: int) -> object:
    blocks, size = tp * rng.randrange(1, 5), rng.randrange(1, 5)
    ids = list(range(blocks))
    rng.shuffle(ids)
    shape, dim = shape_and_dim(rng, blocks * size)
    per_rank = blocks // tp
    by_rank = {rank: sorted(ids[rank * per_rank : (rank + 1) * per_rank]) for rank in range(tp)}
    return affine().block_gather_map(shape, by_rank, size, dim)


def experts(rng: random.Random, tp: int) -> object:
    """Scattered, uneven, replicated and empty expert placements; every expert has at least one holder."""
    number = rng.randrange(1, 12)
    held: list[list[int]] = [[] for _ in range(tp)]
    for expert in range(number):
        for rank in rng.sample(range(tp), rng.choice((1, 1, 1, min(2, tp)))):
            held[rank].append(expert)
    descriptor = autoep().make_autoep_placement_descriptor(number, held)
    shape = [number, *[rng.randrange(1, 5) for _ in range(rng.randrange(1, 3))]]
    return autoep().autoep_placement_to_affine_map(descriptor, shape)


FAMILIES: dict[str, Family] = {
    "replicated": replicated,
    "even": even,
    "uneven": uneven,
    "fused": fused,
    "segmented": segmented,
    "gathered": gathered,
    "experts": experts,
}
