"""Random maps that are right by construction, and maps with one number wrong."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier.geometry.strided import StridedView, row_major
from verifier.model.piece import ONE, Piece
from verifier.model.shard_map import RankShard, ShardMap

SCALES = (ONE, Fraction(3), Fraction(1, 10), Fraction(0.1), Fraction(-7.3), Fraction(2) ** 900)


def shard_map(logical_shape: Sequence[int], ranks: dict[int, tuple[Sequence[int], list[Piece]]]) -> ShardMap:
    return ShardMap(
        name="w",
        logical_shape=tuple(logical_shape),
        ranks={r: RankShard(tuple(shape), tuple(pieces)) for r, (shape, pieces) in ranks.items()},
    )


def piece(
    shape: Sequence[int],
    source: tuple[int, Sequence[int]],
    dest: tuple[int, Sequence[int]],
    locations: Sequence[int],
    scale: Fraction | float = ONE,
) -> Piece:
    return Piece(
        StridedView(source[0], tuple(shape), tuple(source[1])),
        StridedView(dest[0], tuple(shape), tuple(dest[1])),
        tuple(locations),
        scale,
    )


def split(rng: random.Random, size: int, parts: int) -> list[int]:
    """Widths that add up to size; some may be 0."""
    cuts = sorted(rng.randint(0, size) for _ in range(parts - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, size], strict=True)]


def labels(rng: random.Random) -> list[int]:
    return sorted(rng.sample(range(12), rng.randint(1, 4)))


def fused(rng: random.Random, segments: int | None = None) -> ShardMap:
    """Segments along one axis, each split over the ranks or replicated, the shard stored in any axis order.

    One segment gives a plain column or row split; segments that are all replicated a replicated map.
    """
    shape = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    axis = rng.randrange(len(shape))
    ranks = labels(rng)
    order = rng.sample(range(len(shape)), len(shape))
    sizes = split(rng, shape[axis], segments or rng.randint(1, 3))
    replicated = [rng.random() < 0.3 for _ in sizes]
    widths = [
        [size] * len(ranks) if whole else split(rng, size, len(ranks))
        for size, whole in zip(sizes, replicated, strict=True)
    ]
    scale = rng.choice(SCALES) if rng.random() < 0.3 else ONE
    full = row_major(shape)
    held: dict[int, tuple[Sequence[int], list[Piece]]] = {}
    for k, rank in enumerate(ranks):
        extent = sum(w[k] for w in widths)
        mine = [extent if a == axis else n for a, n in enumerate(shape)]
        stored = [mine[a] for a in order]
        stored_strides = row_major(stored)
        strides = [stored_strides[order.index(a)] for a in range(len(shape))]
        pieces, dest_start, source_start = [], 0, 0
        for size, whole, width in zip(sizes, replicated, widths, strict=True):
            begin = source_start + (0 if whole else sum(width[:k]))
            block = [width[k] if a == axis else n for a, n in enumerate(shape)]
            pieces.append(
                piece(
                    block,
                    (begin * full[axis], full),
                    (dest_start * strides[axis], strides),
                    ranks if whole else [rank],
                    scale,
                )
            )
            dest_start += width[k]
            source_start += size
        held[rank] = (stored, pieces)
    return shard_map(shape, held)


def wrapped(rng: random.Random) -> ShardMap:
    """Shards whose blocks start late in a row and run on into the next one; the rest is filled by runs."""
    ranks = labels(rng)
    held: dict[int, tuple[Sequence[int], list[Piece]]] = {}
    start = 0
    for rank in ranks:
        rows, columns = rng.randint(2, 4), rng.randint(2, 5)
        width = rng.randint(1, columns)
        offset = rng.randint(0, columns - 1)
        high = rows - 1 if offset + width > columns else rows
        pieces = [piece([high, width], (start, [width, 1]), (offset, [columns, 1]), [rank])]
        start += high * width
        block_cells = {offset + i * columns + j for i in range(high) for j in range(width)}
        free = [cell for cell in range(rows * columns) if cell not in block_cells]
        while free:
            run = 1
            while run < len(free) and free[run] == free[0] + run:
                run += 1
            pieces.append(piece([run], (start, [1]), (free[0], [1]), [rank]))
            start += run
            free = free[run:]
        rng.shuffle(pieces)
        held[rank] = ((rows, columns), pieces)
    return shard_map([start], held)


def replicated(rng: random.Random) -> ShardMap:
    """Every rank holds everything, each in runs of its own, in an order of its own."""
    ranks = sorted(rng.sample(range(12), rng.randint(2, 4)))
    numel = rng.randint(1, 12)
    held: dict[int, tuple[Sequence[int], list[Piece]]] = {}
    for rank in ranks:
        runs = split(rng, numel, rng.randint(1, 3))
        starts = [sum(runs[:k]) for k in range(len(runs))]
        pieces, filled = [], 0
        for k in rng.sample(range(len(runs)), len(runs)):
            pieces.append(piece([runs[k]], (starts[k], [1]), (filled, [1]), ranks))
            filled += runs[k]
        held[rank] = ((numel,), pieces)
    return shard_map([numel], held)


def right_map(rng: random.Random) -> ShardMap:
    family = rng.randrange(4)
    if family == 0:
        return wrapped(rng)
    if family == 3:
        return replicated(rng)
    return fused(rng, segments=1 if family == 1 else None)


def corrupted(rng: random.Random, good: ShardMap) -> ShardMap:
    """One offset or stride of one piece that carries something, moved by a little."""
    rank, position, chosen = rng.choice([p for p in good.pieces() if not p[2].is_empty])
    side = rng.choice(("source", "dest"))
    view: StridedView = getattr(chosen, side)
    step = rng.choice((-4, -2, -1, 1, 1, 2, 3, 5))
    axis = rng.randint(-1, len(view.strides) - 1)
    if axis < 0:
        wrong = replace(view, offset=view.offset + step)
    else:
        strides = [s + step if a == axis else s for a, s in enumerate(view.strides)]
        wrong = replace(view, strides=tuple(strides))
    pieces = list(good.ranks[rank].pieces)
    pieces[position] = replace(chosen, **{side: wrong})
    ranks = {**good.ranks, rank: replace(good.ranks[rank], pieces=tuple(pieces))}
    return replace(good, ranks=ranks)
