"""Random arguments for each constructor, with what numpy says each rank should hold of an index tensor."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from tests.layouts.applied import PADDING, Shard, index_tensor
from verifier.layouts import (
    AxisCut,
    Cut,
    Padded,
    Ruled,
    Whole,
    attention_heads,
    block_gather,
    contiguous,
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
from verifier.layouts.fused import Segment
from verifier.layouts.rules import RuleName
from verifier.model.shard_map import ShardMap

Expected = dict[int, Shard]
Case = tuple[ShardMap | Padded, Expected]


def rule_widths(rule: RuleName, size: int, parts: int) -> list[int]:
    """The four rules again, each by its own definition: elements are dealt out one by one or cut off."""
    if rule == "even":
        return [len(range(part, size, parts)) for part in range(parts)]
    if rule == "chunk":
        whole = -(-size // parts) or 1
        lengths = [len(range(first, min(first + whole, size))) for first in range(0, size, whole)]
        return (lengths + [0] * parts)[:parts]
    if rule == "floor_first":
        return [len(one) for one in np.array_split(range(size), parts)]
    widths = [0] * parts
    for _ in range(size // parts):
        widths = [one + 1 for one in widths]
    widths[-1] += size - sum(widths)
    return widths


def cuts(tensor: Shard, widths: Sequence[int], axis: int) -> list[Shard]:
    """A tensor cut along an axis."""
    return np.split(tensor, np.cumsum(widths)[:-1], axis=axis)


def _rule(rng: random.Random) -> RuleName:
    return rng.choice(("even", "chunk", "floor_first", "floor_last"))


def _sizes(rng: random.Random, count: int, most: int = 4) -> list[int]:
    return [rng.randint(0, most) for _ in range(count)]


def _shape(rng: random.Random, axes: int | None = None) -> list[int]:
    return [rng.randint(1, 5) for _ in range(axes or rng.randint(1, 3))]


def _with_axis(rng: random.Random, size: int) -> tuple[list[int], int]:
    """A shape with ``size`` on a random axis, and which; the axis counts from the end half of the time."""
    shape = _shape(rng)
    axis = rng.randrange(len(shape))
    shape[axis] = size
    return shape, axis - len(shape) * rng.randint(0, 1)


def _case_replicated(rng: random.Random) -> Case:
    shape, ranks = _shape(rng) if rng.random() < 0.8 else [], rng.randint(1, 4)
    return replicated(shape, ranks), dict.fromkeys(range(ranks), index_tensor(shape))


def _case_contiguous(rng: random.Random) -> Case:
    widths = _sizes(rng, rng.randint(1, 4))
    shape, axis = _with_axis(rng, sum(widths))
    return contiguous(shape, widths, axis), dict(enumerate(cuts(index_tensor(shape), widths, axis)))


def _case_split(rng: random.Random) -> Case:
    ranks, rule = rng.randint(1, 5), _rule(rng)
    shape, axis = _with_axis(rng, rng.randint(0, 3) * ranks if rule == "even" else rng.randint(0, 13))
    parts = cuts(index_tensor(shape), rule_widths(rule, shape[axis], ranks), axis)
    return split(shape, ranks, axis, rule), dict(enumerate(parts))


def _case_fused(rng: random.Random) -> Case:
    ranks = rng.randint(1, 4)
    widths = [_sizes(rng, ranks, 3) for _ in range(rng.randint(1, 4))]
    shape, axis = _with_axis(rng, sum(map(sum, widths)))
    each = cuts(index_tensor(shape), [sum(one) for one in widths], axis)
    parts = [cuts(tensor, one, axis) for tensor, one in zip(each, widths, strict=True)]
    expected = {rank: np.concatenate([part[rank] for part in parts], axis) for rank in range(ranks)}
    return fused(shape, widths, axis), expected


def _case_segmented(rng: random.Random) -> Case:
    ranks = rng.randint(1, 4)
    segments: list[Segment] = []
    widths: list[list[int] | int] = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(3)
        if kind == 0:
            one = _sizes(rng, ranks, 3)
            segments.append(Cut(one))
            widths.append(one)
        elif kind == 1:
            rule = _rule(rng)
            size = ranks * rng.randint(0, 2) if rule == "even" else rng.randint(0, 7)
            segments.append(Ruled(size, rule))
            widths.append(rule_widths(rule, size, ranks))
        else:
            size = rng.randint(0, 4)
            segments.append(Whole(size))
            widths.append(size)
    lengths = [one if isinstance(one, int) else sum(one) for one in widths]
    shape, axis = _with_axis(rng, sum(lengths))
    parts = []
    for tensor, known in zip(cuts(index_tensor(shape), lengths, axis), widths, strict=True):
        parts.append([tensor] * ranks if isinstance(known, int) else cuts(tensor, known, axis))
    expected = {rank: np.concatenate([part[rank] for part in parts], axis) for rank in range(ranks)}
    return segmented(shape, segments, ranks, axis), expected


def _case_gate_up(rng: random.Random) -> Case:
    ranks, groups = rng.choice([(1, 1), (2, 1), (3, 1), (2, 2), (2, 4), (4, 2), (3, 3), (1, 3), (2, 6)])
    rule, hidden = _rule(rng), rng.choice((None, 0, 1, 3))
    parts = max(ranks, groups)
    size = parts * rng.randint(0, 2) if rule == "even" else rng.randint(0, 9)
    half = rule_widths(rule, size, parts)
    groups_of = np.split(np.array(half), groups)
    weight = index_tensor([2 * size] if hidden is None else [2 * size, hidden])
    gate, up = [], []
    rows = [int(one.sum()) for one in groups_of]
    for block, row in zip(cuts(weight, [2 * one for one in rows], 0), rows, strict=True):
        gate.append(block[:row])
        up.append(block[row:])
    held = [sum(half[r * parts // ranks : (r + 1) * parts // ranks]) for r in range(ranks)]
    gates, ups = cuts(np.concatenate(gate), held, 0), cuts(np.concatenate(up), held, 0)
    expected = {rank: np.concatenate([gates[rank], ups[rank]]) for rank in range(ranks)}
    return gate_up(size, hidden, ranks, groups, rule), expected


def _case_heads(rng: random.Random) -> Case:
    heads, ranks = rng.choice([(1, 1), (1, 4), (2, 4), (4, 4), (5, 2), (7, 3), (3, 6), (8, 3)])
    head_dim, hidden = rng.randint(0, 3), rng.choice((None, 1, 3))
    weight = index_tensor([heads * head_dim] if hidden is None else [heads * head_dim, hidden])
    each = np.split(weight, heads)
    expected = {}
    for rank in range(ranks):
        numbers = np.array_split(range(heads), ranks)[rank] if heads >= ranks else [rank * heads // ranks]
        expected[rank] = np.concatenate([each[number] for number in numbers])
    return attention_heads(heads, head_dim, hidden, ranks), expected


def _case_qkv(rng: random.Random) -> Case:
    queries, keys, ranks = rng.choice(
        [(4, 4, 2), (4, 2, 2), (8, 2, 4), (4, 1, 4), (6, 3, 2), (6, 3, 3), (10, 5, 3), (8, 2, 8), (3, 3, 1)]
    )
    head_dim, hidden = rng.randint(0, 3), rng.choice((None, 1, 2))
    order = rng.choice(("concatenated", "grouped"))
    heads = queries + 2 * keys
    weight = index_tensor([heads * head_dim] if hidden is None else [heads * head_dim, hidden])
    each = np.split(weight, heads)
    shared = queries // keys
    # Names of the heads in the order of the weight: ("q", number), ("k", number), ("v", number).
    if order == "concatenated":
        names = [("q", n) for n in range(queries)] + [(kind, n) for kind in "kv" for n in range(keys)]
    else:
        names = []
        for n in range(keys):
            names += [("q", n * shared + k) for k in range(shared)] + [("k", n), ("v", n)]
    expected = {}
    for rank in range(ranks):
        if keys >= ranks:
            mine = {int(n) for n in np.array_split(range(keys), ranks)[rank]}
            asks = {n * shared + k for n in mine for k in range(shared)}
        else:
            asks = set(range(rank * queries // ranks, (rank + 1) * queries // ranks))
            mine = {n // shared for n in asks}
        keep = [
            part for part, (kind, n) in zip(each, names, strict=True) if n in (asks if kind == "q" else mine)
        ]
        expected[rank] = np.concatenate(keep)
    return qkv(queries, keys, head_dim, hidden, ranks, order), expected


def _case_block_gather(rng: random.Random) -> Case:
    blocks, width = rng.randint(0, 6), rng.randint(1, 3)
    ranks = sorted(rng.sample(range(9), rng.randint(1, 4)))
    ids = _dealt(rng, blocks, ranks)
    shape, axis = _with_axis(rng, blocks * width)
    tensor = index_tensor(shape)
    rows = {rank: [n * width + k for n in mine for k in range(width)] for rank, mine in ids.items()}
    return block_gather(shape, ids, width, axis), {r: np.take(tensor, mine, axis) for r, mine in rows.items()}


def _dealt(rng: random.Random, blocks: int, ranks: Sequence[int]) -> dict[int, list[int]]:
    """Each block on one rank or more, in any order; a rank may go without."""
    ids: dict[int, list[int]] = {rank: [] for rank in ranks}
    for block in range(blocks):
        for rank in rng.sample(list(ranks), rng.choice((1, 1, 1, len(ranks)))):
            ids[rank].append(block)
    if rng.random() < 0.5:
        ids = {rank: rng.sample(mine, len(mine)) for rank, mine in ids.items()}
    return ids


def _case_experts(rng: random.Random) -> Case:
    number, positions = rng.randint(1, 5), rng.randint(1, 4)
    placement = list(_dealt(rng, number, range(positions)).values())
    if rng.random() < 0.4:
        shape = _shape(rng, rng.randint(1, 2))
        weight = index_tensor([number, *shape])
        expected = {rank: weight[np.array(mine, dtype=int)] for rank, mine in enumerate(placement)}
        return experts(number, shape, placement), expected
    widths = _sizes(rng, rng.randint(1, 3), 3)
    shape, axis = _with_axis(rng, sum(widths))
    weight = index_tensor([number, *shape])
    expected = {}
    for position, mine in enumerate(placement):
        held = weight[np.array(mine, dtype=int)]
        for part, one in enumerate(cuts(held, widths, axis if axis < 0 else axis + 1)):
            expected[position * len(widths) + part] = one
    return experts(number, shape, placement, axis, widths), expected


def _case_vocabulary(rng: random.Random) -> Case:
    rows, ranks, hidden = rng.randint(0, 20), rng.randint(1, 5), rng.choice((None, 1, 3))
    multiple = None if rng.random() < 0.3 else ranks * rng.randint(1, 4)
    weight = index_tensor([rows] if hidden is None else [rows, hidden])
    padded = -(-rows // (multiple or ranks)) * (multiple or ranks)
    whole = np.full((padded, *weight.shape[1:]), PADDING, dtype=np.int64)
    whole[:rows] = weight
    return vocabulary(rows, hidden, ranks, multiple), dict(enumerate(np.split(whole, ranks)))


def _case_flat(rng: random.Random) -> Case:
    numels, ranks = _sizes(rng, rng.randint(1, 4), 9), rng.randint(1, 4)
    alignment, multiple = rng.randint(1, 4), rng.randint(1, 3)
    buffer: list[int] = []
    element = 0
    for numel in numels:
        while len(buffer) % alignment:
            buffer.append(PADDING)
        buffer += range(element, element + numel)
        element += numel
    while len(buffer) % (ranks * multiple):
        buffer.append(PADDING)
    shards = np.split(np.array(buffer, dtype=np.int64), ranks)
    return flat(numels, ranks, alignment, multiple), dict(enumerate(shards))


def _case_flat_each(rng: random.Random) -> Case:
    numels, ranks = _sizes(rng, rng.randint(1, 4), 9), rng.randint(1, 4)
    parts: list[list[Shard]] = [[] for _ in range(ranks)]
    element = 0
    for numel in numels:
        one = np.full(-(-numel // ranks) * ranks, PADDING, dtype=np.int64)
        one[:numel] = range(element, element + numel)
        element += numel
        for mine, part in zip(parts, np.split(one, ranks), strict=True):
            mine.append(part)
    return flat_each(numels, ranks), {rank: np.concatenate(mine) for rank, mine in enumerate(parts)}


def _case_nested(rng: random.Random) -> Case:
    mesh = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 3)))
    shape = [rng.randint(0, 9) for _ in range(rng.randint(1, 3))]
    chosen = rng.sample(range(len(mesh)), rng.randint(0, len(mesh)))
    rules = ("chunk", "floor_first", "floor_last")
    made = [AxisCut(dim, rng.randrange(len(shape)), rng.choice(rules)) for dim in chosen]
    return nested(shape, mesh, made), _one_after_another(shape, mesh, made)


def _one_after_another(shape: Sequence[int], mesh: Sequence[int], made: Sequence[AxisCut]) -> Expected:
    expected = {}
    for rank, position in enumerate(np.ndindex(*mesh)):
        tensor = index_tensor(shape)
        for cut in made:
            widths = rule_widths(cut.rule, tensor.shape[cut.axis], mesh[cut.mesh_dim])
            tensor = cuts(tensor, widths, cut.axis)[position[cut.mesh_dim]]
        expected[rank] = tensor
    return expected


def _case_fsdp_over_tp(rng: random.Random) -> Case:
    shape, fsdp, tp, tp_axis = _two_cuts(rng)
    made = [AxisCut(1, tp_axis % len(shape)), AxisCut(0, 0)]
    return fsdp_over_tp(shape, fsdp, tp, tp_axis), _one_after_another(shape, (fsdp, tp), made)


def _case_tp_over_fsdp(rng: random.Random) -> Case:
    shape, fsdp, tp, tp_axis = _two_cuts(rng)
    made = [AxisCut(0, 0), AxisCut(1, tp_axis % len(shape))]
    return tp_over_fsdp(shape, fsdp, tp, tp_axis), _one_after_another(shape, (fsdp, tp), made)


def _two_cuts(rng: random.Random) -> tuple[list[int], int, int, int]:
    shape = [rng.randint(0, 14), *_shape(rng)[1:]]
    return shape, rng.randint(1, 4), rng.randint(1, 4), rng.choice((0, -1))


CASES: dict[str, Callable[[random.Random], Case]] = {
    "replicated": _case_replicated,
    "contiguous": _case_contiguous,
    "split": _case_split,
    "fused": _case_fused,
    "segmented": _case_segmented,
    "gate_up": _case_gate_up,
    "attention_heads": _case_heads,
    "qkv": _case_qkv,
    "block_gather": _case_block_gather,
    "experts": _case_experts,
    "vocabulary": _case_vocabulary,
    "flat": _case_flat,
    "flat_each": _case_flat_each,
    "nested": _case_nested,
    "fsdp_over_tp": _case_fsdp_over_tp,
    "tp_over_fsdp": _case_tp_over_fsdp,
}
"""For each constructor but ``dtensor``, which torch itself defines."""
