"""What describes no layout is refused by the name of the argument, before any map is made."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from verifier.layouts import (
    AxisCut,
    BadLayout,
    Cut,
    Replicate,
    Ruled,
    Shard,
    StridedShard,
    Whole,
    attention_heads,
    block_gather,
    chunk,
    contiguous,
    dtensor,
    even,
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


class Partial:
    """Stands for torch's; the name is what counts."""


NO_SIZE: tuple[Any, ...] = (-1, True, 4.0, "4", None, Fraction(4), [4], 2**200)
NO_COUNT: tuple[Any, ...] = (0, -1, True, 2.0, "2", None, [2], 2**60)
NO_AXIS: tuple[Any, ...] = (2, -3, True, 0.0, "0", None, 2**60)

SIZES: dict[str, Callable[[Any], object]] = {
    "shape[1]": lambda n: replicated((4, n), 2),
    "shape[0]": lambda n: contiguous((n, 4), (2, 2), 1),
    "widths[1]": lambda n: contiguous((4, 4), (2, n)),
    "widths[1][0]": lambda n: fused((8, 2), [(2, 2), (n, 2)]),
    "segments[0].widths[1]": lambda n: segmented((8, 2), [Cut((2, n)), Whole(4)], 2),
    "segments[1].size": lambda n: segmented((8, 2), [Cut((2, 2)), Whole(n)], 2),
    "segments[0].size": lambda n: segmented((8, 2), [Ruled(n), Whole(4)], 2),
    "intermediate": lambda n: gate_up(n, 2, 2),
    "head_dim": lambda n: qkv(4, 2, n, 3, 2),
    "heads": lambda n: qkv(n, 2, 4, 3, 2),
    "hidden": lambda n: attention_heads(4, 2, n, 2),
    "block": lambda n: block_gather((8, 2), {0: [0, 1]}, n),
    "expert_shape[0]": lambda n: experts(2, (n, 3), [[0], [1]]),
    "tensor_widths[0]": lambda n: experts(2, (4, 3), [[0], [1]], 0, (n, 2)),
    "rows": lambda n: vocabulary(n, 2, 2),
    "numels[1]": lambda n: flat((3, n), 2),
    "size": lambda n: chunk(n, 2),
    "global_shape[0]": lambda n: dtensor((n, 2), (2,), [Shard(0)]),
}

COUNTS: dict[str, Callable[[Any], object]] = {
    "ranks": lambda n: replicated((4,), n),
    "parts": lambda n: even(4, n),
    "fsdp": lambda n: fsdp_over_tp((4, 4), n, 2),
    "tp": lambda n: tp_over_fsdp((4, 4), 2, n),
    "groups": lambda n: gate_up(8, 2, 2, n),
    "kv_heads": lambda n: qkv(4, n, 2, 3, 2),
    "heads": lambda n: attention_heads(n, 2, 3, 2),
    "number": lambda n: experts(n, (2,), [[0, 1]]),
    "multiple": lambda n: vocabulary(8, 2, 2, n),
    "alignment": lambda n: flat((3,), 2, n),
    "shard_multiple": lambda n: flat((3,), 2, 1, n),
    "mesh_shape[1]": lambda n: dtensor((4,), (2, n), [Shard(0), Replicate()]),
    "placements[0].split_factor": lambda n: dtensor((4,), (2,), [StridedShard(0, n)]),
}

AXES: dict[str, Callable[[Any], object]] = {
    "axis": lambda n: contiguous((4, 4), (2, 2), n),
    "tensor_axis": lambda n: experts(2, (4, 4), [[0], [1]], n, (2, 2)),
    "tp_axis": lambda n: fsdp_over_tp((4, 4), 2, 2, n),
    "fsdp_axis": lambda n: tp_over_fsdp((4, 4), 2, 2, 0, n),
    "placements[0].dim": lambda n: dtensor((4, 4), (2,), [Shard(n)]),
    "placements[1].dim": lambda n: dtensor((4, 4), (2, 2), [Replicate(), StridedShard(n, 2)]),
    "cuts[0].axis": lambda n: nested((4, 4), (2,), [AxisCut(0, n)]),
}

ODD: Any = object()
SINGLE: list[tuple[str, str, Callable[[], object]]] = [
    ("scale", "is 0", lambda: replicated((4,), 2, 0)),
    ("scale", "is inf", lambda: replicated((4,), 2, float("inf"))),
    ("scale", "is nan", lambda: replicated((4,), 2, float("nan"))),
    ("scale", "is a bool", lambda: replicated((4,), 2, True)),
    ("scale", "is a str", lambda: replicated((4,), 2, "1")),  # type: ignore[arg-type]
    ("scale", "over 1100 bits", lambda: replicated((4,), 2, Fraction(1, 3**1000))),
    ("shape", "is a str", lambda: replicated("42", 2)),  # type: ignore[arg-type]
    ("shape", "is a int", lambda: contiguous(4, (4,))),  # type: ignore[arg-type]
    ("shape", "more than 64 dimensions", lambda: replicated([1] * 65, 2)),
    ("shape", "too large", lambda: replicated([2**100, 2**100, 2**100], 2)),
    ("rows", "too large", lambda: vocabulary(2**120, 2**120, 2)),
    ("axis", "without dimensions", lambda: contiguous((), (2, 2))),
    ("widths", "add up to 7, not to the 8 of axis 0", lambda: contiguous((8, 2), (4, 3))),
    ("widths", "add up to 9", lambda: contiguous((8, 2), (4, 5))),
    ("widths", "is a dict", lambda: contiguous((8, 2), {0: 4, 1: 4})),  # type: ignore[arg-type]
    ("len(widths)", "is 0", lambda: contiguous((0, 2), ())),
    ("shape[0]", "is 7, no multiple of the 2 parts", lambda: split((7, 2), 2, rule="even")),
    ("rule", "is 'ceil'", lambda: split((7, 2), 2, rule="ceil")),  # type: ignore[arg-type]
    ("rule", "is \\['even'\\]", lambda: split((7, 2), 2, rule=["even"])),  # type: ignore[arg-type]
    ("len(widths)", "is 0", lambda: fused((0, 2), [])),
    ("widths[1]", "has 1 entries, but widths\\[0\\] 2", lambda: fused((6, 2), [(1, 2), (3,)])),
    ("widths[1]", "has 3 entries", lambda: fused((6, 2), [(1, 2), (1, 1, 1)])),
    ("widths", "add up to 11, not to the 12", lambda: fused((12, 2), [(3, 3), (3, 2)])),
    ("len(segments)", "is 0", lambda: segmented((0,), [], 2)),
    ("segments", "add up to 4, not to the 8", lambda: segmented((8,), [Whole(4)], 2)),
    ("segments[0]", "is a tuple", lambda: segmented((4,), [(4, True)], 2)),  # type: ignore[list-item]
    ("segments[0].widths", "has 1 entries for 2 ranks", lambda: segmented((4,), [Cut((4,))], 2)),
    ("segments[0].size", "no multiple", lambda: segmented((5,), [Ruled(5)], 2)),
    ("segments[0].rule", "is None", lambda: segmented((5,), [Ruled(5, ODD and None)], 2)),
    ("groups", "neither a divisor nor a multiple", lambda: gate_up(12, 2, 2, 3)),
    ("intermediate", "is 7, no multiple", lambda: gate_up(7, 2, 2)),
    ("heads", "no divisor of them", lambda: attention_heads(3, 2, 2, 4)),
    ("kv_heads", "no divisor of them", lambda: qkv(12, 3, 2, 2, 4)),
    ("heads", "is 7, no multiple of the 2 kv_heads", lambda: qkv(7, 2, 2, 2, 2)),
    ("heads", "is 6, no multiple of the 4 ranks", lambda: qkv(6, 2, 2, 2, 4)),
    ("order", "is 'qkv'", lambda: qkv(4, 2, 2, 2, 2, "qkv")),  # type: ignore[arg-type]
    ("ids_by_rank", "is a list", lambda: block_gather((4,), [[0, 1]], 2)),  # type: ignore[arg-type]
    ("len(ids_by_rank)", "is 0", lambda: block_gather((0,), {}, 2)),
    ("a rank in ids_by_rank", "is -1", lambda: block_gather((4,), {-1: [0, 1]}, 2)),
    ("a rank in ids_by_rank", "is a float", lambda: block_gather((4,), {0.2: [0, 1]}, 2)),  # type: ignore[dict-item]
    ("ids_by_rank[0]", "lists 1 twice", lambda: block_gather((4,), {0: [0, 1, 1]}, 2)),
    ("ids_by_rank[0][1]", "is -1", lambda: block_gather((4,), {0: [0, -1]}, 2)),
    ("ids_by_rank[0][1]", "is a bool", lambda: block_gather((4,), {0: [0, True]}, 2)),
    ("ids_by_rank", "lists 1 nowhere", lambda: block_gather((6,), {0: [0], 1: [2]}, 2)),
    ("ids_by_rank", "add up to 8, not to the 6", lambda: block_gather((6,), {0: [0, 1], 1: [2, 3]}, 2)),
    ("ids_by_rank", "add up to 4, not to the 5", lambda: block_gather((5,), {0: [0], 1: [1]}, 2)),
    ("block", "is 0", lambda: block_gather((0,), {0: [0]}, 0)),
    ("placement", "lists 1 nowhere", lambda: experts(3, (2,), [[0], [2]])),
    ("placement[1]", "lists 2 twice", lambda: experts(3, (2,), [[0, 1], [2, 2]])),
    ("placement[1][0]", "is 3", lambda: experts(3, (2,), [[0, 1, 2], [3]])),
    ("len(placement)", "is 0", lambda: experts(3, (2,), [])),
    ("placement[0]", "is a range", lambda: experts(3, (2,), [range(3)])),
    ("tensor_widths", "add up to 3, not to the 4", lambda: experts(1, (4,), [[0]], 0, (1, 2))),
    ("tensor_axis", "is 1", lambda: experts(1, (4,), [[0]], 1)),
    ("tensor_axis", "without dimensions", lambda: experts(1, (), [[0]], 0, (1,))),
    ("len(tensor_widths)", "is 0", lambda: experts(1, (0,), [[0]], 0, ())),
    ("multiple", "is 6, no multiple of the 4 ranks", lambda: vocabulary(8, 2, 4, 6)),
    ("len(numels)", "is 0", lambda: flat_each((), 2)),
    ("numels", "too large", lambda: flat([2**126] * 4, 2)),
    ("numels", "too large", lambda: flat_each([2**126] * 4, 2)),
    ("numels", "is a dict", lambda: flat({}, 2)),  # type: ignore[arg-type]
    ("mesh_shape", "is a int", lambda: dtensor((4,), 2, [Shard(0)])),  # type: ignore[arg-type]
    ("len(mesh_shape)", "is 0", lambda: dtensor((4,), (), [])),
    ("the product of mesh_shape", "give 1 to", lambda: dtensor((4,), (2**11, 2**11), [Shard(0)] * 2)),
    ("placements", "has 1 entries for 2", lambda: dtensor((4,), (2, 2), [Shard(0)])),
    ("placements[0]", "is a Partial: summands", lambda: dtensor((4,), (2,), [Partial()])),  # type: ignore[list-item]
    ("placements[1]", "is a str", lambda: dtensor((4,), (2, 2), [Shard(0), "S(0)"])),  # type: ignore[list-item]
    ("placements[0].dim", "without dimensions", lambda: dtensor((), (2,), [Shard(0)])),
    ("shard_order", "beside a StridedShard", lambda: dtensor((4,), (2,), [StridedShard(0, 2)], [(0, (0,))])),
    (
        "shard_order",
        "leaves out mesh dimension 1",
        lambda: dtensor((4,), (2, 2), [Shard(0)] * 2, [(0, (0,))]),
    ),
    ("shard_order[1]", "again", lambda: dtensor((4,), (2,), [Shard(0)], [(0, (0,)), (0, (0,))])),
    ("shard_order[0]", "dimension 0 cuts 1", lambda: dtensor((4, 4), (2,), [Shard(0)], [(1, (0,))])),
    ("shard_order[0]", "dimension 0 cuts 0", lambda: dtensor((4, 4), (2,), [Replicate()], [(0, (0,))])),
    ("shard_order[0]", "no pair", lambda: dtensor((4,), (2,), [Shard(0)], [(0,)])),  # type: ignore[list-item]
    ("placements", "along axis 0", lambda: dtensor((2**30,), (2, 2), [StridedShard(0, 2**10)] * 2)),
    ("cuts[0]", "is a tuple", lambda: nested((4,), (2,), [(0, 0)])),  # type: ignore[list-item]
    ("cuts[1].mesh_dim", "has a cut already", lambda: nested((4,), (2,), [AxisCut(0, 0), AxisCut(0, 0)])),
    ("cuts[0].mesh_dim", "is 1", lambda: nested((4,), (2,), [AxisCut(1, 0)])),
    ("cuts[0].rule", "is 'no'", lambda: nested((4,), (2,), [AxisCut(0, 0, "no")])),  # type: ignore[arg-type]
    ("cuts", "is 5, no multiple", lambda: nested((5,), (2,), [AxisCut(0, 0, "even")])),
    ("shape", "no dimension to cut", lambda: nested((), (2,), [])),
]


def refused(call: Callable[[], object], argument: str) -> str:
    with pytest.raises(BadLayout) as caught:
        call()
    assert caught.value.argument == argument
    assert str(caught.value) == f"{argument} {caught.value.reason}"
    return caught.value.reason


NO_SIZES = [(argument, size) for argument in SIZES for size in NO_SIZE]
NO_SIZES.remove(("hidden", None))  # that is a bias
NO_COUNTS = [(argument, count) for argument in COUNTS for count in NO_COUNT]
NO_COUNTS.remove(("multiple", None))  # that is the number of ranks


@pytest.mark.parametrize(("argument", "size"), NO_SIZES, ids=repr)
def test_no_size(argument: str, size: object) -> None:
    refused(lambda: SIZES[argument](size), argument)


@pytest.mark.parametrize(("argument", "count"), NO_COUNTS, ids=repr)
def test_no_count(argument: str, count: object) -> None:
    refused(lambda: COUNTS[argument](count), argument)


@pytest.mark.parametrize("argument", AXES)
@pytest.mark.parametrize("axis", NO_AXIS, ids=repr)
def test_no_axis(argument: str, axis: object) -> None:
    refused(lambda: AXES[argument](axis), argument)


@pytest.mark.parametrize(("argument", "reason", "call"), SINGLE)
def test_no_layout(argument: str, reason: str, call: Callable[[], object]) -> None:
    assert re.search(reason, refused(call, argument))
