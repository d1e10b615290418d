"""Witnesses against torch.cat, as DeepSpeed merges shards: same shards, same parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.formats.deepspeed.categories import (
    AVERAGED,
    ELSE,
    REPLICATED,
    ROW_PARALLEL,
    SUB_PARAMS,
    SUB_WIDTHS,
    TWO_HALVES,
    VOCABULARY,
    Categories,
)
from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

torch = pytest.importorskip("torch")

HERE = Origin("m.pt", "/universal_checkpoint_info")
KEY = "^w$"


def witness(info: dict[Any, Any], shapes: dict[int, tuple[int, ...]]) -> tuple[str, ShardMap] | None:
    return Categories(info, HERE).witness("w", shapes, None)


def rebuilt(shard_map: ShardMap, shards: list[Any]) -> Any:
    """The parameter that the map makes of the shards; every element must be written."""
    full = torch.full((math.prod(shard_map.logical_shape),), -1)
    for (_, shard), values in zip(shard_map.ranks.items(), shards, strict=True):
        assert tuple(values.shape) == shard.shard_shape
        for piece in shard.pieces:
            target = torch.as_strided(full, piece.shape, piece.source.strides, piece.source.offset)
            target.copy_(torch.as_strided(values, piece.shape, piece.dest.strides, piece.dest.offset))
    assert -1 not in full
    return full.reshape(shard_map.logical_shape)


def numbered(shapes: Mapping[int, tuple[int, ...]]) -> list[Any]:
    start, shards = 0, []
    for rank in sorted(shapes):
        numel = math.prod(shapes[rank])
        shards.append(torch.arange(start, start + numel).reshape(shapes[rank]))
        start += numel
    return shards


widths_of = st.lists(st.integers(0, 4), min_size=1, max_size=4)
others = st.lists(st.integers(1, 3), min_size=2, max_size=2)


@settings(max_examples=60, deadline=None)
@given(widths_of, others, st.sampled_from([0, 1]))
def test_a_plain_cut_is_a_concatenation(widths: list[int], across: list[int], axis: int) -> None:
    shapes = {
        r: (width, *across) if axis == 0 else (across[0], width, across[1]) for r, width in enumerate(widths)
    }
    info: dict[Any, Any] = {ROW_PARALLEL: [KEY] if axis else [], REPLICATED: []}
    found = witness(info, shapes)
    assert found is not None
    assert found[0] == (ROW_PARALLEL if axis else ELSE)
    shards = numbered(shapes)
    assert torch.equal(rebuilt(found[1], shards), torch.cat(shards, dim=axis))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=3), others, st.sampled_from([0, 1, 2])
)
def test_sub_parameters_are_concatenated_one_by_one(
    widths: list[tuple[int, ...]], across: list[int], axis: int
) -> None:
    totals = [sum(row[rank] for row in widths) for rank in range(3)]
    shapes = {rank: (*across[:axis], totals[rank], *across[axis:]) for rank in range(3)}
    spec: list[Any] = [-1, -1, -1]
    spec[axis] = tuple(sum(row) for row in widths)
    info = {
        SUB_PARAMS: [{"patterns": [KEY], "shape": spec, "partition_dim": axis}],
        SUB_WIDTHS: {KEY: [list(row) for row in widths]},
    }
    found = witness(info, shapes)
    assert found is not None
    assert found[0] == SUB_PARAMS
    shards = numbered(shapes)
    subs = []
    for j, row in enumerate(widths):
        starts = [sum(earlier[rank] for earlier in widths[:j]) for rank in range(3)]
        subs.append(
            torch.cat([shard.narrow(axis, starts[r], row[r]) for r, shard in enumerate(shards)], dim=axis)
        )
    assert torch.equal(rebuilt(found[1], shards), torch.cat(subs, dim=axis))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(2, 7), min_size=1, max_size=3), st.integers(1, 3))
def test_two_halves_are_chunks_along_axis_0(rows: list[int], columns: int) -> None:
    shapes: dict[int, tuple[int, ...]] = {rank: (n, columns) for rank, n in enumerate(rows)}
    found = witness({TWO_HALVES: [KEY]}, shapes)
    assert found is not None
    shards = numbered(shapes)
    halves = [torch.chunk(shard, 2, dim=0) for shard in shards]
    merged = torch.cat([torch.cat([half[i] for half in halves]) for i in (0, 1)])
    assert torch.equal(rebuilt(found[1], shards), merged)


def test_a_replicated_parameter_is_whole_everywhere() -> None:
    found = witness({REPLICATED: [KEY]}, {0: (2, 3), 1: (2, 3)})
    assert found is not None
    assert found[1].logical_shape == (2, 3)
    assert {piece.locations for _, _, piece in found[1].pieces()} == {(0, 1)}
    whole = torch.arange(6).reshape(2, 3)
    assert torch.equal(rebuilt(found[1], [whole, whole]), whole)


@pytest.mark.parametrize(
    ("info", "shapes"),
    [
        ({}, {0: (2,)}),
        ({REPLICATED: []}, {}),
        ({REPLICATED: [KEY]}, {0: (2,), 1: (3,)}),
        ({AVERAGED: [KEY]}, {0: (2,), 1: (2,)}),
        ({VOCABULARY: [KEY]}, {0: (2,), 1: (2,)}),
        ({ROW_PARALLEL: [KEY]}, {0: (2,), 1: (2,)}),
        ({REPLICATED: []}, {0: (2, 2), 1: (2, 3)}),
        ({REPLICATED: ["(a+)+$"]}, {0: (2,)}),
        ({SUB_PARAMS: [{"patterns": [KEY], "shape": [(2, 2)], "partition_dim": 0}]}, {0: (2,), 1: (2,)}),
        (
            {
                SUB_PARAMS: [{"patterns": [KEY], "shape": [(2, 2)], "partition_dim": 0}],
                SUB_WIDTHS: {KEY: [[1, 1], [2, 0]]},
            },
            {0: (2,), 1: (2,)},
        ),
        ({SUB_PARAMS: [{"patterns": [KEY], "shape": [2, -1], "partition_dim": 0}]}, {0: (2, 1), 1: (2, 1)}),
    ],
)
def test_lists_that_do_not_say_it_all_give_no_witness(
    info: dict[Any, Any], shapes: dict[int, tuple[int, ...]]
) -> None:
    assert witness(info, shapes) is None


@pytest.mark.parametrize(
    "info",
    [
        {REPLICATED: "^w$"},
        {REPLICATED: [3]},
        {SUB_PARAMS: {}},
        {SUB_PARAMS: [{"patterns": [KEY]}]},
        {SUB_PARAMS: [{"patterns": [KEY], "shape": [(2, 2)], "partition_dim": 1}]},
        {SUB_PARAMS: [{"patterns": [KEY], "shape": [(2, 2)], "partition_dim": "0"}]},
        {SUB_WIDTHS: []},
        {
            SUB_PARAMS: [{"patterns": [KEY], "shape": [(2, 2)], "partition_dim": 0}],
            SUB_WIDTHS: {KEY: [[1.0, 1], [1, 1]]},
        },
    ],
)
def test_malformed_lists_are_refused(info: dict[Any, Any]) -> None:
    with pytest.raises(FormatError, match=r"SM00[25]"):
        Categories(info, HERE)
