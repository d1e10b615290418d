"""Layouts that are right by construction, each a function of its own random numbers.

A layout returns a map with the expectation that it meets. ``size`` bounds the elements of the parameter, and
roughly those of each shard.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from fuzz.build import chance, factored, labels, piece, shape_of, shard_map, split, stored_strides
from fuzz.dressing import empty_piece, recut, with_junk_axis
from fuzz.irregular import guillotine, strided_tiling, whole, wrapped_tiling
from verifier.geometry.strided import StridedView, row_major
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Piece, Scale, exact_scale
from verifier.model.shard_map import ShardMap

Posed = tuple[ShardMap, Expectation]
Layout = Callable[[random.Random, int], Posed]

SIZE = 240
"""Most elements of a parameter unless told otherwise."""
SOUNDNESS = Expectation()
SCALES: tuple[Scale, ...] = (
    Fraction(2),
    Fraction(1, 3),
    exact_scale(0.1),
    exact_scale(-7.3),
    Fraction(2) ** 300,
)

Range = tuple[int, int]
"""(start, width) along one axis."""


def gathered(
    rng: random.Random,
    shape: Sequence[int],
    axis: int,
    held: Mapping[int, Sequence[Range]],
    scales: Mapping[Range, Scale] | None = None,
) -> ShardMap:
    """Each rank holds ranges of one axis, in the order of its list. Two ranges are equal or disjoint."""
    holders: dict[Range, list[int]] = {}
    for rank, ranges in held.items():
        for found in ranges:
            holders.setdefault(found, []).append(rank)
    full = row_major(shape)
    shards: dict[int, tuple[list[int], list[Piece]]] = {}
    for rank, ranges in held.items():
        mine = [sum(width for _, width in ranges) if a == axis else n for a, n in enumerate(shape)]
        stored, strides = stored_strides(rng, mine)
        pieces, at = [], 0
        for start, width in ranges:
            block = [width if a == axis else n for a, n in enumerate(shape)]
            scale = ONE if scales is None else scales[start, width]
            source, dest = (start * full[axis], full), (at * strides[axis], strides)
            pieces.append(piece(block, source, dest, holders[start, width], scale))
            at += width
        shards[rank] = (stored, pieces)
    return shard_map(shape, shards)


def _consecutive(widths: Sequence[int], start: int = 0) -> list[Range]:
    ranges = []
    for width in widths:
        ranges.append((start, width))
        start += width
    return ranges


def _split_along(rng: random.Random, size: int, axis: int, axes: int) -> ShardMap:
    shape = shape_of(rng, size, axes)
    ranks = labels(rng, rng.randint(1, 5))
    ranges = _consecutive(split(rng, shape[axis], len(ranks)))
    return gathered(rng, shape, axis % axes, {rank: [r] for rank, r in zip(ranks, ranges, strict=True)})


def column(rng: random.Random, size: int) -> Posed:
    """The last axis cut unevenly."""
    return _split_along(rng, size, -1, rng.randint(2, 5)), SOUNDNESS


def row(rng: random.Random, size: int) -> Posed:
    """The first axis cut unevenly."""
    return _split_along(rng, size, 0, rng.randint(1, 4)), SOUNDNESS


def contiguous(rng: random.Random, size: int) -> Posed:
    """The flattened parameter cut unevenly, as flat buffers do; blocks ignore the axes."""
    flat = _split_along(rng, size, 0, 1)
    return replace(flat, logical_shape=tuple(factored(rng, flat.numel))), SOUNDNESS


def fused(rng: random.Random, size: int) -> Posed:
    """Q, K and V in one parameter: each segment cut on its own, or whole on every rank."""
    shape = shape_of(rng, size, rng.randint(1, 3))
    axis = rng.randrange(len(shape))
    ranks = labels(rng, rng.randint(1, 4))
    held: dict[int, list[Range]] = {rank: [] for rank in ranks}
    for start, width in _consecutive(split(rng, shape[axis], rng.randint(2, 4))):
        if width and chance(rng, 0.25):
            parts = [(start, width)] * len(ranks)
        else:
            parts = _consecutive(split(rng, width, len(ranks)), start)
        for rank, part in zip(ranks, parts, strict=True):
            if part[1]:
                held[rank].append(part)
    return gathered(rng, shape, axis, held), SOUNDNESS


def block_gather(rng: random.Random, size: int) -> Posed:
    """Blocks of one axis, such as experts, dealt to the ranks in any order."""
    shape = shape_of(rng, size, rng.randint(1, 3))
    ranks = labels(rng, rng.randint(1, 4))
    held: dict[int, list[Range]] = {rank: [] for rank in ranks}
    blocks = [r for r in _consecutive(split(rng, shape[0], rng.randint(2, 9))) if r[1]]
    rng.shuffle(blocks)
    for block in blocks:
        held[rng.choice(ranks)].append(block)
    return gathered(rng, shape, 0, held), SOUNDNESS


def replicated(rng: random.Random, size: int) -> Posed:
    """Every rank holds everything."""
    shape = shape_of(rng, size, rng.randint(1, 4))
    ranks = labels(rng, rng.randint(1, 4))
    return gathered(rng, shape, 0, {rank: [(0, shape[0])] for rank in ranks}), SOUNDNESS


def uneven_replicas(rng: random.Random, size: int) -> Posed:
    """Replicas whose pieces are cut at other boundaries on each rank."""
    whole_map, _ = replicated(rng, size)
    ranks = {}
    for rank, shard in whole_map.ranks.items():
        pieces = shard.pieces
        for _ in range(rng.randint(0, 3)):
            at = rng.randrange(len(pieces))
            pieces = (*pieces[:at], *recut(rng, pieces[at]), *pieces[at + 1 :])
        ranks[rank] = replace(shard, pieces=pieces)
    return replace(whole_map, ranks=ranks), SOUNDNESS


def kv_heads(rng: random.Random, size: int) -> Posed:
    """Fewer KV heads than ranks: neighbouring ranks hold the same head."""
    heads, copies = rng.randint(1, 4), rng.randint(2, 3)
    width = rng.randint(1, max(1, min(6, size // heads)))
    columns = rng.randint(1, max(1, min(8, size // (heads * width))))
    ranks = labels(rng, heads * copies)
    held = {rank: [(k // copies * width, width)] for k, rank in enumerate(ranks)}
    return gathered(rng, [heads * width, columns], 0, held), SOUNDNESS


def digit_tiling(rng: random.Random, size: int) -> Posed:
    """A digit grid split at random; each part stored on some ranks with its axes in any order, cut again."""
    dims = shape_of(rng, size, rng.randint(1, 5))
    full = row_major(dims)
    ranks = labels(rng, rng.randint(1, 4))
    shards: dict[int, list[Piece]] = {rank: [] for rank in ranks}
    sizes = dict.fromkeys(ranks, 0)
    for region in guillotine(rng, whole(dims), rng.randint(0, 5)):
        holders = rng.sample(ranks, rng.randint(1, len(ranks)) if chance(rng, 0.3) else 1)
        for rank in holders:
            _, strides = stored_strides(rng, region.extents)
            for part in guillotine(rng, region, rng.randint(0, 2)):
                dest = sizes[rank] + part.offset(strides) - region.offset(strides)
                shards[rank].append(piece(part.extents, (part.offset(full), full), (dest, strides), holders))
            sizes[rank] += math.prod(region.extents)
    joined = math.prod(dims[:2])
    logical = [joined, *dims[2:]] if len(dims) > 1 and chance(rng, 0.3) else dims
    held = {rank: (factored(rng, sizes[rank]), pieces) for rank, pieces in shards.items()}
    return shard_map(logical, held), SOUNDNESS


def _irregular_dests(
    rng: random.Random, tilings: Mapping[int, tuple[Sequence[int], list[StridedView]]]
) -> ShardMap:
    """Shards tiled by any views; the parameter is read front to back."""
    start = 0
    shards: dict[int, tuple[Sequence[int], list[Piece]]] = {}
    for rank, (shape, views) in tilings.items():
        pieces = []
        for view in views:
            source = (start, row_major(view.shape))
            pieces.append(piece(view.shape, source, (view.offset, view.strides), [rank]))
            start += view.numel
        rng.shuffle(pieces)
        shards[rank] = (shape, pieces)
    return shard_map(factored(rng, start), shards)


def wrapped(rng: random.Random, size: int) -> Posed:
    """Blocks that start late in a row of their shard and run on into the next one."""
    tilings: dict[int, tuple[Sequence[int], list[StridedView]]] = {}
    for rank in labels(rng, rng.randint(1, 3)):
        rows, columns = rng.randint(2, 5), rng.randint(2, max(2, min(7, size // 15)))
        tilings[rank] = ((rows, columns), wrapped_tiling(rng, rows, columns))
    return _irregular_dests(rng, tilings), SOUNDNESS


def coprime_dests(rng: random.Random, size: int) -> Posed:
    """Shards tiled by blocks of unrelated strides, such as (2, 3) over (3, 2)."""
    tilings: dict[int, tuple[Sequence[int], list[StridedView]]] = {}
    for rank in labels(rng, rng.randint(1, 3)):
        numel = rng.randint(0, max(1, min(48, size // 3)))
        tilings[rank] = (factored(rng, numel), strided_tiling(rng, numel))
    return _irregular_dests(rng, tilings), SOUNDNESS


def coprime_sources(rng: random.Random, size: int) -> Posed:
    """The parameter tiled by blocks of unrelated strides, dealt to the ranks."""
    numel = rng.randint(1, min(96, size))
    ranks = labels(rng, rng.randint(1, 3))
    held: dict[int, list[Piece]] = {rank: [] for rank in ranks}
    sizes = dict.fromkeys(ranks, 0)
    for view in strided_tiling(rng, numel):
        holders = rng.sample(ranks, rng.choice((1, 1, len(ranks))))
        for rank in holders:
            dest = (sizes[rank], row_major(view.shape))
            held[rank].append(piece(view.shape, (view.offset, view.strides), dest, holders))
            sizes[rank] += view.numel
    shards = {rank: (factored(rng, sizes[rank]), pieces) for rank, pieces in held.items()}
    return shard_map(factored(rng, numel), shards), SOUNDNESS


def empties(rng: random.Random, size: int) -> Posed:
    """Ranks that hold nothing, pieces of no elements, or a parameter of none."""
    base = shard_map([rng.randint(0, 3), 0], {0: ([0], [])}) if chance(rng, 0.3) else row(rng, size)[0]
    ranks = {}
    for rank, shard in base.ranks.items():
        extra = tuple(empty_piece(rng, (rank,)) for _ in range(rng.randint(1, 2)))
        ranks[rank] = replace(shard, pieces=extra + shard.pieces)
    spare = max(base.ranks) + rng.randint(1, 3)
    held: tuple[Piece, ...] = (empty_piece(rng, (spare,)),) if chance(rng, 0.5) else ()
    nothing = replace(ranks[min(ranks)], shard_shape=rng.choice(((0,), (4, 0))), pieces=held)
    return replace(base, ranks={**ranks, spare: nothing}), SOUNDNESS


def junk_axes(rng: random.Random, size: int) -> Posed:
    """Axes of extent 1 whose strides mean nothing."""
    base, expectation = rng.choice((row, replicated, kv_heads, fused))(rng, size)
    ranks = {
        rank: replace(shard, pieces=tuple([with_junk_axis(rng, p) for p in shard.pieces]))
        for rank, shard in base.ranks.items()
    }
    return replace(base, ranks=ranks), expectation


def scalar(rng: random.Random, size: int) -> Posed:
    """A parameter without axes, held by some ranks, not by others."""
    ranks = labels(rng, rng.randint(1, min(4, size)))
    holders = sorted(rng.sample(ranks, rng.randint(1, len(ranks))))
    one = piece([], (0, []), (0, []), holders)
    shards = {rank: (((), [one]) if rank in holders else ((0,), [])) for rank in ranks}
    return shard_map([], shards), SOUNDNESS


def scaled(rng: random.Random, size: int) -> Posed:
    """Ranges of rows under their own scales, some of them replicated."""
    shape = shape_of(rng, size, rng.randint(1, 3))
    ranks = labels(rng, rng.randint(1, 4))
    held: dict[int, list[Range]] = {rank: [] for rank in ranks}
    scales: dict[Range, Scale] = {}
    for found in [r for r in _consecutive(split(rng, shape[0], rng.randint(1, 5))) if r[1]]:
        scales[found] = rng.choice((ONE, *SCALES))
        for rank in rng.sample(ranks, rng.randint(1, len(ranks))):
            held[rank].append(found)
    return gathered(rng, shape, 0, held, scales), SOUNDNESS


def padded(rng: random.Random, size: int) -> Posed:
    """Shards with cells that stay unwritten by declaration, before, between and after the pieces."""
    base, _ = rng.choice((contiguous, block_gather, coprime_dests))(rng, size)
    ranks, holes = {}, {}
    for rank, shard in base.ranks.items():
        front, back = rng.randint(0, 3), rng.randint(0, 5)
        total = shard.numel + front + back
        pieces = [replace(p, dest=replace(p.dest, offset=p.dest.offset + front)) for p in shard.pieces]
        ranks[rank] = replace(shard, shard_shape=(total,), pieces=tuple(pieces))
        cells = [*range(front), *range(total - back, total)]
        if front and not pieces and chance(rng, 0.5):
            cells = list(range(total))
        # A declared cell may be written all the same.
        cells += [front] if shard.numel and chance(rng, 0.3) else []
        holes[rank] = tuple(sorted(set(cells)))
    return replace(base, ranks=ranks), Expectation(holes=holes)


def gapped(rng: random.Random, size: int) -> Posed:
    """A parameter some of whose elements nobody holds, by declaration or because coverage is not asked."""
    base, _ = rng.choice((block_gather, digit_tiling))(rng, size)
    places = [(rank, at) for rank, at, _ in base.pieces()]
    if not places:
        return base, SOUNDNESS
    rank, at = rng.choice(places)
    chosen = base.ranks[rank].pieces[at]
    if chosen.locations != (rank,):
        return base, Expectation(cover=False)
    left = tuple(p for k, p in enumerate(base.ranks[rank].pieces) if k != at)
    shard = replace(base.ranks[rank], pieces=left)
    holes = {rank: _cells(chosen.dest)}
    dropped = replace(base, ranks={**base.ranks, rank: shard})
    if chance(rng, 0.5):
        return dropped, Expectation(gaps=_cells(chosen.source), holes=holes)
    return dropped, Expectation(cover=False, holes=holes)


def _cells(view: StridedView) -> tuple[int, ...]:
    found = [view.offset]
    for extent, stride in zip(view.shape, view.strides, strict=True):
        found = [address + i * stride for address in found for i in range(extent)]
    return tuple(sorted(found))


def partial(rng: random.Random, size: int) -> Posed:
    """A bias added by several ranks, each its share: the scales of an element sum to 1."""
    shape = shape_of(rng, size, rng.randint(1, 2))
    ranks = labels(rng, rng.randint(1, 5))
    base = gathered(rng, shape, 0, {rank: [(0, shape[0])] for rank in ranks})
    weights = [rng.randint(1, 9) for _ in ranks]
    shards = {}
    for rank, weight in zip(ranks, weights, strict=True):
        share = exact_scale(weight / sum(weights))
        shard = base.ranks[rank]
        shards[rank] = replace(shard, pieces=tuple([replace(p, scale=share) for p in shard.pieces]))
    return replace(base, ranks=shards), Expectation(partial=True)


def lookup(rng: random.Random, size: int) -> Posed:
    """A read-only table: rows in any order, some several times, some never; the reference says which."""
    rows, width = rng.randint(1, 9), rng.randint(1, max(1, min(8, size // 9)))
    shards: dict[int, tuple[list[int], list[Piece]]] = {}
    for rank in labels(rng, rng.randint(1, 3)):
        wanted = [rng.randrange(rows) for _ in range(rng.randint(0, 8))]
        pieces = [
            piece([width], (source * width, [1]), (k * width, [1]), [rank]) for k, source in enumerate(wanted)
        ]
        shards[rank] = ([len(wanted), width], pieces)
    table = shard_map([rows, width], shards)
    return table, Expectation(lookup=True, reference=table)


def stored_in_units(rng: random.Random, size: int) -> Posed:
    """Ranges of the flat parameter that begin and end at the edges of storage units."""
    unit = rng.randint(2, 6)
    numel = rng.randint(1, size)
    ranks = labels(rng, rng.randint(1, 4))
    held: dict[int, list[Range]] = {rank: [] for rank in ranks}
    for found in _consecutive(split(rng, numel, rng.randint(1, 6), unit)):
        if found[1]:
            held[rng.choice(ranks)].append(found)
    return gathered(rng, [numel], 0, held), Expectation(write_unit=unit)


LAYOUTS: dict[str, Layout] = {
    "column": column,
    "row": row,
    "contiguous": contiguous,
    "fused": fused,
    "block-gather": block_gather,
    "replicated": replicated,
    "uneven-replicas": uneven_replicas,
    "kv-heads": kv_heads,
    "digit-tiling": digit_tiling,
    "wrapped": wrapped,
    "coprime-dests": coprime_dests,
    "coprime-sources": coprime_sources,
    "empties": empties,
    "junk-axes": junk_axes,
    "scalar": scalar,
    "scaled": scaled,
    "padded": padded,
    "gapped": gapped,
    "partial": partial,
    "lookup": lookup,
    "storage-units": stored_in_units,
}
"""Every kind of layout by name. The order is part of a campaign's meaning: cases take their kind by index."""
