"""The reference layouts are proved for all sizes, and fused ones tell wrong orders apart."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.symbolic.judging import outcome, proved, shape, walks
from verifier import ShardMap, layouts
from verifier.symbolic.domain import Sizes, fixed, size, sizes
from verifier.symbolic.results import RefutedAt

RANKS = [1, 2, 3, 4, 8]


def _sum_is(axis: int) -> Callable[..., bool]:
    return lambda shape, widths: shape[axis] == sum(widths)


def segmented(shape: tuple[int, ...], first: list[int], whole: int, last: list[int], axis: int) -> ShardMap:
    parts = [layouts.Cut(first), layouts.Whole(whole), layouts.Cut(last)]
    return layouts.segmented(shape, parts, len(first), axis)


DOMAINS: dict[str, tuple[Callable[..., object], Sizes]] = {
    "replicated": (
        layouts.replicated,
        Sizes(shape=[shape(axes) for axes in range(4)], ranks=RANKS, scale=0.5),
    ),
    "contiguous rows": (layouts.contiguous, Sizes(shape=shape(2), widths=sizes(8), where=_sum_is(0))),
    "contiguous columns": (
        layouts.contiguous,
        Sizes(shape=shape(3), widths=sizes(8), axis=2, where=_sum_is(2)),
    ),
    "segmented": (
        segmented,
        Sizes(
            shape=shape(2),
            first=sizes(8),
            whole=size(),
            last=sizes(8),
            axis=1,
            where=lambda shape, first, whole, last: shape[1] == sum(first) + whole + sum(last),
        ),
    ),
    "fused": (
        layouts.fused,
        Sizes(
            shape=shape(2),
            widths=(sizes(8), sizes(8), sizes(8)),
            axis=[0, 1],
            where=lambda shape, widths, axis: shape[axis] == sum(map(sum, widths)),
        ),
    ),
    "gate and up": (layouts.gate_up, Sizes(intermediate=size(), hidden=size(), ranks=RANKS)),
    "gate and up, chunked": (
        layouts.gate_up,
        Sizes(intermediate=size(), hidden=size(), ranks=[1, 2, 4], rule="chunk"),
    ),
    "heads": (
        layouts.attention_heads,
        Sizes(heads=12, head_dim=size(), hidden=size(), ranks=[1, 2, 4, 8, 24]),
    ),
    "qkv": (
        layouts.qkv,
        Sizes(
            heads=size(),
            kv_heads=[2, 8],
            head_dim=size(),
            hidden=size(),
            ranks=[1, 2, 4, 8],
            order=["concatenated", "grouped"],
            where=lambda heads: heads % 8 == 0,
        ),
    ),
    "block gather": (
        layouts.block_gather,
        Sizes(
            shape=shape(2),
            ids_by_rank=fixed({0: [0, 3, 1], 1: [2, 5, 4], 2: [1]}),
            block=size(least=1),
            axis=[0, 1],
            where=lambda shape, block, axis: shape[axis] == 6 * block,
        ),
    ),
    "experts": (
        layouts.experts,
        Sizes(number=4, expert_shape=shape(2), placement=fixed([[0, 3], [2, 1, 0], []])),
    ),
    "vocabulary": (layouts.vocabulary, Sizes(rows=size(), hidden=size(), ranks=RANKS)),
    "vocabulary in units of 64": (
        layouts.vocabulary,
        Sizes(rows=size(), hidden=size(), ranks=[1, 4, 8], multiple=64),
    ),
    "flat": (layouts.flat, Sizes(numels=sizes(2), ranks=[1, 2, 3])),
    "flat, aligned": (layouts.flat, Sizes(numels=sizes(2), ranks=2, alignment=4, shard_multiple=2)),
    "flat, each": (layouts.flat_each, Sizes(numels=sizes(2), ranks=[1, 2, 4])),
    "nested": (
        layouts.nested,
        Sizes(
            shape=shape(2),
            mesh_shape=fixed((2, 2, 3)),
            cuts=fixed(
                (
                    layouts.AxisCut(2, 1, "floor_first"),
                    layouts.AxisCut(0, 0),
                    layouts.AxisCut(1, 0, "floor_last"),
                )
            ),
        ),
    ),
    "fsdp over tp": (layouts.fsdp_over_tp, Sizes(shape=shape(2), fsdp=2, tp=[2, 4], tp_axis=[0, 1])),
    "tp over fsdp": (layouts.tp_over_fsdp, Sizes(shape=shape(2), fsdp=2, tp=[2, 4], tp_axis=[0, 1])),
    "dtensor": (
        layouts.dtensor,
        Sizes(
            global_shape=shape(2),
            mesh_shape=fixed([2, 3]),
            placements=fixed([layouts.StridedShard(0, 3), layouts.Shard(0)]),
        ),
    ),
    **{
        f"split, {rule}": (layouts.split, Sizes(shape=shape(2), ranks=RANKS, axis=[0, 1], rule=rule))
        for rule in ("even", "chunk", "floor_first", "floor_last")
    },
}


@pytest.mark.parametrize("name", DOMAINS)
def test_every_reference_layout_is_proved_and_walks_right(name: str) -> None:
    found = proved(*DOMAINS[name])
    rng = random.Random(name)
    assert sum(walks(path, 4, rng) for path in found.paths) > 0


def test_a_plain_cut_of_queries_keys_and_values_tiles_and_is_the_wrong_function() -> None:
    def plain(heads: int, width: int, hidden: int, ranks: int) -> ShardMap:
        return layouts.split((3 * heads * width, hidden), ranks, 0, "even")

    def by_heads(heads: int, width: int, hidden: int, ranks: int) -> ShardMap:
        return layouts.fused((3 * heads * width, hidden), [[heads // ranks * width] * ranks] * 3)

    over = Sizes(
        heads=size(), width=size(), hidden=size(), ranks=[2, 4], where=lambda heads, ranks: heads % ranks == 0
    )
    proved(plain, over)
    proved(by_heads, over)
    found = outcome(plain, over, reference=by_heads)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"heads": 2, "width": 1, "hidden": 1, "ranks": 2}
    assert found.complaint.startswith("SM501")


def test_orders_of_grouped_heads_agree_only_where_there_is_one_group() -> None:
    def ordered(order: str) -> Callable[..., ShardMap]:
        return lambda heads, groups, width: layouts.qkv(heads, groups, width, None, 2, order)

    def over(groups: list[int]) -> Sizes:
        return Sizes(
            heads=size(), groups=groups, width=size(), where=lambda heads, groups: heads % (2 * groups) == 0
        )

    proved(ordered("grouped"), over([1]), reference=ordered("concatenated"))
    found = outcome(ordered("grouped"), over([2, 4]), reference=ordered("concatenated"))
    assert isinstance(found, RefutedAt)
    assert found.sizes["groups"] == 2
