"""The constructors of the release with their true preconditions, for any axes, dimension and degree."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.downstream.deepspeed_affine import affine, autoep
from tests.symbolic.judging import shape
from verifier.symbolic.domain import Sizes, fixed, size, sizes


class Posed(NamedTuple):
    """A constructor and the domain over which it is right."""

    constructor: Callable[..., object]
    over: Sizes
    without: Sizes
    """The same without the precondition."""


def _posed(
    constructor: Callable[..., object], where: Callable[..., object] | None, **arguments: object
) -> Posed:
    return Posed(constructor, Sizes(where=where, **arguments), Sizes(**arguments))


def contiguous(axes: int, dim: int, tp: int) -> Posed:
    """The widths add up to the dimension."""
    return _posed(
        affine().contiguous_split_map,
        lambda shape, per_rank_sizes: shape[dim] == sum(per_rank_sizes),
        shape=shape(axes),
        per_rank_sizes=sizes(tp),
        partition_dim=dim,
    )


def fused(axes: int, dim: int, tp: int) -> Posed:
    """Three sub-parameters fill the dimension, and the widths of each fill it."""

    def where(
        shape: Sequence[int], sub_dim_sizes: Sequence[int], shard_widths: Sequence[Sequence[int]]
    ) -> bool:
        filled = [one == sum(widths) for one, widths in zip(sub_dim_sizes, shard_widths, strict=True)]
        return shape[dim] == sum(sub_dim_sizes) and all(filled)

    return _posed(
        affine().sub_param_map,
        where,
        shape=shape(axes),
        sub_dim_sizes=sizes(3),
        shard_widths=(sizes(tp), sizes(tp), sizes(tp)),
        partition_dim=dim,
    )


def segmented(axes: int, dim: int, tp: int) -> Posed:
    """The segments fill the dimension; that the widths fill each split one is checked by the constructor."""

    def where(shape: Sequence[int], segments: Sequence[tuple[int, bool]]) -> bool:
        return shape[dim] == sum(extent for extent, _ in segments)

    return _posed(
        affine().segmented_map,
        where,
        shape=shape(axes),
        segments=((size(), False), (size(), True), (size(), True), (size(), False)),
        partition_dim=dim,
        tp_degree=tp,
        split_widths=(sizes(tp), sizes(tp)),
    )


def gathered(axes: int, dim: int, tp: int, blocks: int = 24) -> Posed:
    """Every block is held once, and the blocks fill the dimension."""
    ids = list(range(blocks))
    random.Random(tp).shuffle(ids)
    return _posed(
        affine().block_gather_map,
        lambda shape, block_size: shape[dim] == blocks * block_size,
        shape=shape(axes),
        block_ids_by_rank=fixed({rank: ids[rank::tp] for rank in range(tp)}),
        block_size=size(),
        partition_dim=dim,
    )


def replicated(axes: int, dim: int, tp: int) -> Posed:
    """No precondition."""
    return _posed(affine().replicated_map, None, shape=shape(axes), tp_degree=tp)


def experts(axes: int, dim: int, tp: int) -> Posed:
    """Scattered, uneven and replicated experts, and a rank without any; no precondition on the other axes."""
    rng = random.Random(axes * 100 + tp)
    held: list[list[int]] = [[] for _ in range(tp)]
    for expert in range(2 * tp + 1):
        for rank in rng.sample(range(tp), rng.choice((1, 1, min(2, tp)))):
            held[rank].append(expert)
    descriptor = autoep().make_autoep_placement_descriptor(2 * tp + 1, held)
    return _posed(
        autoep().autoep_placement_to_affine_map,
        None,
        descriptor=fixed(descriptor),
        logical_shape=(2 * tp + 1, *shape(axes - 1)),
    )


CONSTRUCTORS: dict[str, Callable[[int, int, int], Posed]] = {
    "contiguous": contiguous,
    "fused": fused,
    "segmented": segmented,
    "gathered": gathered,
    "replicated": replicated,
    "experts": experts,
}
CUT = ("contiguous", "fused", "segmented", "gathered")
"""Those with a dimension that is cut and a precondition."""
