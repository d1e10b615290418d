"""Constructors ask nothing of a size that a symbolic one cannot answer, and make the same layout of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fuzz.walk import walk
from tests.layouts.applied import shards_of
from verifier.geometry.integers import admitting
from verifier.geometry.strided import StridedView
from verifier.layouts import (
    AxisCut,
    Cut,
    Padded,
    Replicate,
    Ruled,
    Shard,
    StridedShard,
    Whole,
    attention_heads,
    block_gather,
    contiguous,
    dtensor,
    experts,
    flat,
    flat_each,
    fsdp_over_tp,
    fused,
    gate_up,
    nested,
    qkv,
    replicated,
    segmented,
    split,
    tp_over_fsdp,
    vocabulary,
)
from verifier.model.expectation import Expectation
from verifier.model.shard_map import RankShard, ShardMap


class Opaque:
    """A number that can be added, subtracted, multiplied and compared, and divided by plain ints, no more.

    It has no hash, no truth and no index: no range goes up to it, and no dict is keyed by it.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: int) -> None:
        self.value = value

    def __add__(self, other: object) -> Opaque:
        return Opaque(self.value + value_of(other))

    __radd__ = __add__

    def __mul__(self, other: object) -> Opaque:
        return Opaque(self.value * value_of(other))

    __rmul__ = __mul__

    def __sub__(self, other: object) -> Opaque:
        return Opaque(self.value - value_of(other))

    def __rsub__(self, other: object) -> Opaque:
        return Opaque(value_of(other) - self.value)

    def __floordiv__(self, other: object) -> Opaque:
        assert type(other) is int
        return Opaque(self.value // other)

    def __mod__(self, other: object) -> Opaque:
        assert type(other) is int
        return Opaque(self.value % other)

    def __eq__(self, other: object) -> bool:
        return self.value == value_of(other)

    def __lt__(self, other: object) -> bool:
        return self.value < value_of(other)

    def __le__(self, other: object) -> bool:
        return self.value <= value_of(other)

    def __gt__(self, other: object) -> bool:
        return self.value > value_of(other)

    def __ge__(self, other: object) -> bool:
        return self.value >= value_of(other)

    def __bool__(self) -> bool:
        raise TypeError("a symbolic size has no truth value")


def value_of(number: object) -> int:
    return number.value if isinstance(number, Opaque) else int_of(number)


def int_of(number: object) -> int:
    assert type(number) is int
    return number


Make = Callable[[int], int]
"""A size from a plain int; an Opaque passes for one."""

BUILDS: dict[str, Callable[[Make], ShardMap | Padded]] = {
    "replicated": lambda s: replicated((s(3), s(0), s(2)), 3),
    "contiguous": lambda s: contiguous((s(4), s(7)), (s(3), s(0), s(4)), axis=1),
    "split-even": lambda s: split((s(6), s(2)), 3, rule="even"),
    "split-chunk": lambda s: split((s(5), s(2)), 4, rule="chunk"),
    "split-floor-first": lambda s: split((s(2), s(7)), 3, -1, rule="floor_first"),
    "split-floor-last": lambda s: split((s(2), s(7)), 3, -1, rule="floor_last"),
    "fused": lambda s: fused((s(9), s(2)), [(s(2), s(3)), (s(1), s(3))]),
    "segmented": lambda s: segmented((s(9),), [Cut((s(1), s(2))), Ruled(s(2)), Whole(s(4))], 2),
    "gate-up": lambda s: gate_up(s(8), s(2), 2, groups=4),
    "gate-up-uneven": lambda s: gate_up(s(7), None, 3, rule="floor_first"),
    "attention-heads": lambda s: attention_heads(5, s(2), s(3), 3),
    "qkv": lambda s: qkv(s(8), 2, s(2), s(3), 4),
    "qkv-uneven": lambda s: qkv(s(10), 5, s(2), None, 3),
    "qkv-grouped": lambda s: qkv(s(8), 2, s(1), s(3), 4, order="grouped"),
    "block-gather": lambda s: block_gather((s(2), s(12)), {0: [3, 0], 4: [1, 2, 0], 5: []}, s(3), axis=1),
    "experts": lambda s: experts(4, (s(2), s(3)), [[1, 2], [], [3, 0]]),
    "experts-tensor": lambda s: experts(3, (s(5), s(2)), [[2, 0], [1, 0]], 0, (s(2), s(3))),
    "vocabulary": lambda s: vocabulary(s(13), s(2), 4, 8),
    "flat": lambda s: flat((s(5), s(0), s(7)), 3, alignment=4, shard_multiple=2),
    "flat-each": lambda s: flat_each((s(5), s(0), s(7)), 3),
    "nested": lambda s: nested((s(7), s(4)), (2, 3), [AxisCut(1, 0), AxisCut(0, 0, "floor_last")]),
    "fsdp-over-tp": lambda s: fsdp_over_tp((s(7), s(4)), 3, 2),
    "tp-over-fsdp": lambda s: tp_over_fsdp((s(7), s(4)), 3, 2, tp_axis=1),
    "dtensor": lambda s: dtensor((s(7), s(4)), (2, 3), [Shard(0), Replicate()]),
    "dtensor-order": lambda s: dtensor((s(7),), (2, 3), [Shard(0), Shard(0)], [(0, (1, 0))]),
    "dtensor-strided": lambda s: dtensor((s(13), s(2)), (3, 2), [StridedShard(0, 2), Shard(0)]),
}


def opaque(value: int) -> int:
    return Opaque(value)  # type: ignore[return-value]


def plain(view: StridedView) -> StridedView:
    return StridedView(
        value_of(view.offset), tuple(map(value_of, view.shape)), tuple(map(value_of, view.strides))
    )


def plain_map(shard_map: ShardMap) -> ShardMap:
    ranks = {
        rank: RankShard(
            tuple(map(value_of, shard.shard_shape)),
            tuple(replace(p, source=plain(p.source), dest=plain(p.dest)) for p in shard.pieces),
        )
        for rank, shard in shard_map.ranks.items()
    }
    return ShardMap(
        name=shard_map.name, logical_shape=tuple(map(value_of, shard_map.logical_shape)), ranks=ranks
    )


@pytest.mark.parametrize("name", BUILDS)
def test_opaque_sizes_make_the_same_layout(name: str) -> None:
    concrete = BUILDS[name](int)
    with admitting(Opaque):
        symbolic = BUILDS[name](opaque)
    assert type(symbolic) is type(concrete)
    expectation = Expectation()
    if isinstance(symbolic, Padded):
        assert isinstance(concrete, Padded)
        padding = {rank: tuple(map(plain, views)) for rank, views in symbolic.padding.items()}
        expectation = Padded(concrete.shard_map, padding).expectation()
        assert expectation == concrete.expectation()
        concrete, symbolic = concrete.shard_map, symbolic.shard_map
    found = plain_map(symbolic)
    assert walk(found, expectation).ok
    assert found.logical_shape == concrete.logical_shape
    for rank, shard in shards_of(concrete).items():
        assert shards_of(found)[rank].tolist() == shard.tolist()


def test_opaque_sizes_are_refused_where_none_are_admitted() -> None:
    with pytest.raises(ValueError, match=r"^shape\[0\] is a Opaque"):
        replicated((opaque(3),), 2)
