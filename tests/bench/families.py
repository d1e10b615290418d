"""The maps that are timed, from the layouts of real models to ten thousand boxes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench.maps import (
    Box,
    block_gather_map,
    box_per_rank_map,
    boxes_in_flat_shards_map,
    grid_boxes,
    guillotine_boxes,
    replicated_map,
    row_split_map,
    segments_map,
)
from verifier.model.shard_map import ShardMap

Maps = Callable[[], list[ShardMap]]

Tiling = Callable[[], tuple[Sequence[int], list[Box]]]
"""Builds a shape and boxes that tile it."""

SEED = 20240229
"""Of the random cuts."""


@dataclass(frozen=True, slots=True)
class Family:
    """Maps to time together.

    Attributes:
        name: key of the report.
        title: what it is, for people.
        maps: builds them.
        small: a size that a walk over all elements finishes, of the same layout, or for model-sized sets of
            a column split; None if ``maps`` is such.
        same_parameter_side_as: an earlier family that peers without sight of shards cannot tell from this.
    """

    name: str
    title: str
    maps: Maps
    small: Maps | None = None
    same_parameter_side_as: str | None = None


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the generated families are; the layouts of real models have their own sizes.

    Attributes:
        boxes: per side of the grid; ``boxes ** 2`` tile a parameter.
        layers: of the model-sized sets.
        experts: equal ones.
        walk: rows of the small column split.
    """

    boxes: int = 100
    layers: int = 126
    experts: int = 64
    walk: int = 2**8


def families(sizes: Sizes) -> list[Family]:
    """All families but the one of growing extents."""
    return [*_layouts(sizes), *_boxes(sizes.boxes), *_models(sizes)]


def growing_extents() -> list[tuple[int, ShardMap]]:
    """(log2 of the numel, map): a column split over 8 ranks whose extents alone grow."""
    return [
        (log2, segments_map(f"columns_2^{log2}", 2 ** (log2 - 7), [2**7], 8)) for log2 in range(10, 61, 10)
    ]


def _layouts(sizes: Sizes) -> list[Family]:
    walk = sizes.walk
    return [
        Family(
            "columns",
            "column split of 4096 x 14336, TP 8",
            lambda: [segments_map("columns", 4096, [14336], 8)],
            lambda: [segments_map("columns", walk, [4096], 8)],
        ),
        Family(
            "tall_columns",
            "column split of 10^9 x 8, TP 8",
            lambda: [segments_map("tall_columns", 10**9, [8], 8)],
            lambda: [segments_map("tall_columns", 512 * walk, [8], 8)],
        ),
        Family(
            "fused_qkv",
            "fused QKV of 16384 x 18432, TP 8, 24 pieces",
            lambda: [segments_map("fused_qkv", 16384, [16384, 1024, 1024], 8)],
            lambda: [segments_map("fused_qkv", walk, [1024, 64, 64], 8)],
        ),
        Family(
            "block_gather",
            "512 column blocks of 8192 x 65536 dealt out to 8 ranks, 512 pieces",
            lambda: [block_gather_map("block_gather", 8192, 128, 512, 8)],
            lambda: [block_gather_map("block_gather", max(2, walk // 8), 16, 512, 8)],
        ),
        Family(
            "replicated",
            "replicated 4096 x 14336, TP 8",
            lambda: [replicated_map("replicated", (4096, 14336), 8)],
            lambda: [replicated_map("replicated", (max(2, walk // 8), 4096), 8)],
        ),
    ]


def _boxes(side: int) -> list[Family]:
    """Each tiling with a rank for every box, and with 8 ranks that store theirs one after another."""
    count = side * side
    flat, cube = (128 * side, 128 * side), (8 * side, 8 * side, 8 * side)
    # A walk has to get by with some 2^20 elements, however many boxes there are.
    small_flat, small_cube = (8 * side, 8 * side), (side, side, side)
    tilings = [
        ("rows", "rows", _rows(count, 4096), _rows(count, 64)),
        ("grid", "a 2-D grid", _grid(flat, side), _grid(small_flat, side)),
        ("guillotine_2d", "random 2-D cuts", _guillotine(flat, count), _guillotine(small_flat, count)),
        ("guillotine_3d", "random 3-D cuts", _guillotine(cube, count), _guillotine(small_cube, count)),
    ]
    made = []
    for name, words, large, small in tilings:
        title = f"{count:,} boxes of {words}"
        alone, shared = f"{name}_rank_per_box", f"{name}_8_ranks"
        made += [
            Family(alone, f"{title}, a rank for each", _alone(name, large), _alone(name, small)),
            Family(
                shared,
                f"{title}, stored one after another by 8 ranks",
                _shared(name, large),
                _shared(name, small),
                same_parameter_side_as=alone,
            ),
        ]
    return made


def _alone(name: str, tiling: Tiling) -> Maps:
    return lambda: [box_per_rank_map(name, *tiling())]


def _shared(name: str, tiling: Tiling) -> Maps:
    return lambda: [boxes_in_flat_shards_map(name, *tiling(), 8)]


def _rows(count: int, width: int) -> Tiling:
    return lambda: ((count, width), grid_boxes((count, width), (count, 1)))


def _grid(shape: tuple[int, ...], side: int) -> Tiling:
    return lambda: (shape, grid_boxes(shape, (side, side)))


def _guillotine(shape: tuple[int, ...], count: int) -> Tiling:
    return lambda: (shape, guillotine_boxes(random.Random(SEED), shape, count))


def _models(sizes: Sizes) -> list[Family]:
    return [
        Family(
            "llama_405b",
            f"Llama-3.1-405B's {sizes.layers} layers, TP 8, equal layers",
            lambda: _llama(sizes.layers, 0),
            lambda: [segments_map("columns", sizes.walk, [4096], 8)],
        ),
        Family(
            "llama_405b_all_distinct",
            f"the same {sizes.layers} layers, no two of their maps alike",
            lambda: _llama(sizes.layers, 8),
            lambda: [segments_map("columns", sizes.walk, [4096], 8)],
        ),
        Family(
            "experts",
            f"{sizes.experts} equal experts of 2048 x 7168, a parameter each, TP 8",
            lambda: [segments_map(f"experts.{k}.w1", 2048, [7168], 8) for k in range(sizes.experts)],
            lambda: [segments_map("columns", sizes.walk, [4096], 8)],
        ),
    ]


def _llama(layers: int, growth: int) -> list[ShardMap]:
    """Nine parameters a layer. ``growth``, a multiple of 8, is how many rows or columns a layer has more than
    the one before; the q, o and v, and gate and up of one layer get unequal shapes too."""
    maps = []
    for layer in range(layers):
        more = growth * layer
        odd = more + growth * layers
        name = f"layers.{layer}"
        maps += [
            row_split_map(f"{name}.attention.wq", (16384 + more, 16384), 8),
            row_split_map(f"{name}.attention.wk", (1024 + more, 16384), 8),
            row_split_map(f"{name}.attention.wv", (1024 + odd, 16384), 8),
            segments_map(f"{name}.attention.wo", 16384, [16384 + more], 8),
            row_split_map(f"{name}.feed_forward.w1", (53248 + more, 16384), 8),
            row_split_map(f"{name}.feed_forward.w3", (53248 + odd, 16384), 8),
            segments_map(f"{name}.feed_forward.w2", 16384, [53248 + more], 8),
            replicated_map(f"{name}.attention_norm", (16384 + more,), 8),
            replicated_map(f"{name}.ffn_norm", (16384 + odd,), 8),
        ]
    return maps
