"""Layouts by the constructors of the installed DeepSpeed, called as its own layers call them.

DeepSpeed and torch are loaded when a layout is first asked for. Tensor-parallel degrees are 2 to 4.
"""

from __future__ import annotations

import random
from dataclasses import replace
from types import ModuleType
from typing import Any

from fuzz.build import shape_of, split
from fuzz.consumers.deepspeed_release import release
from fuzz.layouts import Layout, Posed
from verifier import map_from_affine
from verifier.model.expectation import Expectation

CODEGEN_PARTS = 4
"""Into how many parts the code of CodeGen cuts a fused weight before it cuts each into q, k and v."""


def _posed(theirs: Any) -> Posed:
    """A ``ParamAffineMap`` as our map, through the form that it writes to disk."""
    return replace(map_from_affine(theirs.to_dict(), name="w"), origin=None), Expectation()


def _affine() -> ModuleType:
    return release("affine")


def _degree(rng: random.Random, most: int = 4) -> int:
    return rng.randint(2, max(2, min(4, most)))


def _multiple(rng: random.Random, unit: int, size: int) -> int:
    """A multiple of ``unit`` that leaves room for other axes."""
    return unit * rng.randint(1, max(1, min(size, 40) // unit))


def _around(rng: random.Random, size: int, extent: int, dim: int | None = None) -> tuple[list[int], int]:
    """A shape of 1 to 4 axes with ``extent`` on one of them, and which one."""
    others = shape_of(rng, max(1, size // extent), rng.randint(1 if dim else 0, 3))
    at = rng.randint(0, len(others)) if dim is None else dim % (len(others) + 1)
    return [*others[:at], extent, *others[at:]], at


def _weight_or_bias(rng: random.Random, size: int, rows: int) -> list[int]:
    return [rows] if rng.random() < 0.3 else [rows, rng.randint(1, max(1, min(12, size // rows)))]


def _even(total: int, degree: int) -> list[int]:
    """Widths that differ by at most 1, the wide ones first."""
    return [total // degree + (rank < total % degree) for rank in range(degree)]


def _by_heads(heads: int, width: int, degree: int) -> list[int]:
    """Whole heads of ``width`` rows; with fewer heads than ranks some hold nothing."""
    return [width * held for held in _even(heads, degree)]


def _split(rng: random.Random, size: int, dim: int) -> Posed:
    degree = _degree(rng)
    extent = _multiple(rng, degree, size) if rng.random() < 0.5 else rng.randint(1, min(size, 40))
    even = extent % degree == 0 and rng.random() < 0.7
    widths = _even(extent, degree) if even else split(rng, extent, degree)
    shape, at = _around(rng, size, extent, dim)
    return _posed(_affine().contiguous_split_map(shape, widths, at))


def replicated(rng: random.Random, size: int) -> Posed:
    """Everything on every rank."""
    return _posed(_affine().replicated_map(shape_of(rng, size, rng.randint(1, 4)), _degree(rng)))


def rows(rng: random.Random, size: int) -> Posed:
    """The first axis cut, evenly or not."""
    return _split(rng, size, 0)


def columns(rng: random.Random, size: int) -> Posed:
    """The last axis of at least two cut, evenly or not."""
    return _split(rng, size, -1)


def sub_param(rng: random.Random, size: int) -> Posed:
    """Several parameters in a row, each cut by its own widths."""
    degree = _degree(rng)
    sizes = [rng.randint(1, max(1, min(12, size // 8))) for _ in range(rng.randint(1, 4))]
    shape, dim = _around(rng, size, sum(sizes))
    widths = [split(rng, one, degree) for one in sizes]
    return _posed(_affine().sub_param_map(shape, sizes, widths, dim))


def segmented(rng: random.Random, size: int) -> Posed:
    """Several segments in a row, each cut or whole on every rank; a few have no elements."""
    degree, most = _degree(rng), max(1, min(12, size // 8))
    segments = [
        (0 if rng.random() < 0.1 else rng.randint(1, most), rng.random() < 0.4)
        for _ in range(rng.randint(0, 3))
    ]
    segments.append((rng.randint(1, most), rng.random() < 0.4))
    shape, dim = _around(rng, size, sum(width for width, _ in segments))
    widths = [split(rng, width, degree) for width, whole in segments if not whole]
    return _posed(_affine().segmented_map(shape, segments, dim, degree, widths))


def block_gather(rng: random.Random, size: int) -> Posed:
    """Equal blocks dealt out at random, listed in order or not."""
    degree = _degree(rng)
    width = rng.randint(1, 4)
    blocks = rng.randint(1, max(1, min(16, size // width)))
    held: dict[int, list[int]] = {rank: [] for rank in range(degree)}
    for block in range(blocks):
        held[rng.randrange(degree)].append(block)
    if rng.random() < 0.3:
        held = {rank: rng.sample(mine, len(mine)) for rank, mine in held.items()}
    shape, dim = _around(rng, size, blocks * width)
    return _posed(_affine().block_gather_map(shape, held, width, dim))


def experts(rng: random.Random, size: int) -> Posed:
    """Experts placed anywhere, some on several ranks, each rank's packed in any order."""
    autoep = release("autoep_affine")
    number, degree = rng.randint(1, 10), _degree(rng)
    held: list[list[int]] = [[] for _ in range(degree)]
    for expert in range(number):
        for rank in rng.sample(range(degree), rng.choice((1, 1, 1, 2))):
            held[rank].append(expert)
    if rng.random() < 0.3:
        held = [rng.sample(mine, len(mine)) for mine in held]
    shape = [number, *shape_of(rng, max(1, size // number), rng.randint(1, 2))]
    descriptor = autoep.make_autoep_placement_descriptor(number, held)
    return _posed(autoep.autoep_placement_to_affine_map(descriptor, shape))


def qkv_bloom(rng: random.Random, size: int) -> Posed:
    """Query, key and value of each head together, so heads are cut as one sub-parameter."""
    degree, heads, width = _degree(rng), rng.randint(1, 8), 3 * rng.randint(1, 2)
    widths = _by_heads(heads, width, degree)
    shape = _weight_or_bias(rng, size, heads * width)
    return _posed(_affine().sub_param_map(shape, [heads * width], [widths], 0))


def qkv_glm(rng: random.Random, size: int) -> Posed:
    """All queries, all keys, all values; fewer of the last two in some models."""
    degree, queries, keys = _degree(rng), rng.randint(1, 6), rng.randint(1, 2)
    width = rng.randint(1, max(1, min(3, size // (3 * queries))))
    heads = [queries, queries, queries] if rng.random() < 0.5 else [queries, keys, keys]
    widths = [_by_heads(one, width, degree) for one in heads]
    sizes = [one * width for one in heads]
    return _posed(_affine().sub_param_map(_weight_or_bias(rng, size, sum(sizes)), sizes, widths, 0))


def qkv_codegen(rng: random.Random, size: int) -> Posed:
    """Parts of queries, keys and values, each part cut into a block for each rank, dealt out part by part."""
    degree = _degree(rng, size // (3 * CODEGEN_PARTS))
    width = rng.randint(1, max(1, min(2, size // (3 * CODEGEN_PARTS * degree))))
    order = [
        (part * 3 + third) * degree + block
        for part, block in [divmod(entry, degree) for entry in range(CODEGEN_PARTS * degree)]
        for third in range(3)
    ]
    per_rank = 3 * CODEGEN_PARTS
    held = {rank: order[rank * per_rank : (rank + 1) * per_rank] for rank in range(degree)}
    shape = _weight_or_bias(rng, size, per_rank * degree * width)
    return _posed(_affine().block_gather_map(shape, held, width, 0))


def qkv_bigcode(rng: random.Random, size: int) -> Posed:
    """Queries cut by heads, the one head of keys and values whole on every rank."""
    return _queries_cut(rng, size, 1)


def kv_replicated(rng: random.Random, size: int) -> Posed:
    """Queries cut by heads, keys and values whole on every rank, as two segments."""
    return _queries_cut(rng, size, 2)


def _queries_cut(rng: random.Random, size: int, whole: int) -> Posed:
    degree, heads, width = _degree(rng), rng.randint(1, 6), rng.randint(1, 3)
    shared = 2 * width // whole * rng.randint(1, 2)
    segments = [(heads * width, False), *[(shared, True)] * whole]
    shape = _weight_or_bias(rng, size, sum(extent for extent, _ in segments))
    widths = [_by_heads(heads, width, degree)]
    return _posed(_affine().segmented_map(shape, segments, 0, degree, widths))


def gate_up(rng: random.Random, size: int) -> Posed:
    """Two equal halves, each cut near evenly."""
    degree, half = _degree(rng), rng.randint(1, max(1, min(16, size // 2)))
    shape = _weight_or_bias(rng, size, 2 * half)
    return _posed(_affine().sub_param_map(shape, [half, half], [_even(half, degree)] * 2, 0))


def vocabulary(rng: random.Random, size: int) -> Posed:
    """Rows cut at a grain; the last rank takes what is left."""
    degree, grain = _degree(rng), rng.randint(1, 4)
    grains, left = rng.randint(degree, 4 * degree), rng.randrange(grain)
    widths = [grain * held for held in _even(grains, degree)]
    widths[-1] += left
    shape = [sum(widths), rng.randint(1, max(1, min(12, size // sum(widths))))]
    return _posed(_affine().contiguous_split_map(shape, widths, 0))


def shared_qk(rng: random.Random, size: int) -> Posed:
    """Heads in two runs for each rank, one of either half."""
    degree, width = _degree(rng), rng.randint(1, 2)
    run = rng.randint(1, 2)
    half = degree * run
    held = {
        rank: [start + head for start in (0, half) for head in range(rank * run, (rank + 1) * run)]
        for rank in range(degree)
    }
    shape, dim = _around(rng, size, 2 * half * width, rng.choice((0, -1)))
    return _posed(_affine().block_gather_map(shape, held, width, dim))


IN_TREE: dict[str, Layout] = {
    "ds-replicated": replicated,
    "ds-rows": rows,
    "ds-columns": columns,
    "ds-sub-param": sub_param,
    "ds-segmented": segmented,
    "ds-block-gather": block_gather,
    "ds-experts": experts,
    "ds-qkv-bloom": qkv_bloom,
    "ds-qkv-glm": qkv_glm,
    "ds-qkv-codegen": qkv_codegen,
    "ds-qkv-bigcode": qkv_bigcode,
    "ds-kv-replicated": kv_replicated,
    "ds-gate-up": gate_up,
    "ds-vocabulary": vocabulary,
    "ds-shared-qk": shared_qk,
}
"""Every layout by name. The order is part of a campaign's meaning: cases take their layout by index."""

PLAIN: tuple[str, ...] = ("ds-replicated", "ds-rows", "ds-columns", "ds-sub-param")
"""Everything on every rank, a split of rows or of columns, and several parameters in a row."""
