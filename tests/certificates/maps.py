"""Small right maps by simple constructors, each with what is expected of it; and random ones."""

from fractions import Fraction
from math import prod

from verifier.geometry.strided import StridedView, row_major
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap


def piece(shape, source, dest, locations, scale=Fraction(1)):
    return Piece(
        source=StridedView(source[0], tuple(shape), tuple(source[1])),
        dest=StridedView(dest[0], tuple(shape), tuple(dest[1])),
        locations=tuple(locations),
        scale=scale,
    )


def shard_map(logical_shape, ranks):
    return ShardMap(
        name="w",
        logical_shape=tuple(logical_shape),
        ranks={rank: RankShard(tuple(shape), tuple(pieces)) for rank, (shape, pieces) in ranks.items()},
    )


def column_split():
    ranks = {r: ((3, 4), [piece((3, 4), (4 * r, (8, 1)), (0, (4, 1)), [r])]) for r in range(2)}
    return shard_map((3, 8), ranks), Expectation()


def fused_qkv():
    """Three blocks of 4, 2 and 2 rows, each cut by rows over two ranks and stacked in the shard."""
    ranks = {}
    for r in range(2):
        pieces, row, shard_row = [], 0, 0
        for rows in (4, 2, 2):
            part = rows // 2
            pieces.append(piece((part, 3), (3 * (row + part * r), (3, 1)), (3 * shard_row, (3, 1)), [r]))
            row, shard_row = row + rows, shard_row + part
        ranks[r] = ((4, 3), pieces)
    return shard_map((8, 3), ranks), Expectation()


def fused_qkv_against_rows():
    """The same as a reference that is cut into single rows."""
    here, _ = fused_qkv()
    ranks = {}
    for r, order in enumerate(([0, 1, 4, 6], [2, 3, 5, 7])):
        ranks[r] = ((4, 3), [piece((3,), (3 * row, (1,)), (3 * k, (1,)), [r]) for k, row in enumerate(order)])
    return here, Expectation(reference=shard_map((8, 3), ranks))


def replicated():
    """Rank 1 holds the same as ranks 0 and 2, in two pieces."""
    whole = [piece((2, 3), (0, (3, 1)), (0, (3, 1)), [0, 1, 2])]
    rows = [piece((3,), (3 * k, (1,)), (3 * k, (1,)), [0, 1, 2]) for k in range(2)]
    return shard_map((2, 3), {0: ((6,), whole), 1: ((6,), rows), 2: ((6,), whole)}), Expectation()


def gqa_replicas():
    """Two KV heads on four ranks."""
    ranks = {
        r: ((2, 2), [piece((2, 2), (4 * (r // 2), (2, 1)), (0, (2, 1)), [r // 2 * 2, r // 2 * 2 + 1])])
        for r in range(4)
    }
    return shard_map((4, 2), ranks), Expectation()


def wrapped_shard():
    """A dest view that wraps the rows of a 3x3 shard: 2, 3, 5, 6."""
    pieces = [
        piece((2, 2), (0, (2, 1)), (2, (3, 1)), [0]),
        piece((2,), (4, (1,)), (0, (1,)), [0]),
        piece((1,), (6, (7,)), (4, (5,)), [0]),
        piece((2, 1), (7, (1, 0)), (7, (1, 9)), [0]),
    ]
    return shard_map((9,), {0: ((3, 3), pieces)}), Expectation()


def interleaved_strides():
    """Strides (2, 3) over (3, 2), which no divisibility chain holds, and the two addresses it leaves out."""
    pieces = [
        piece((3, 2), (0, (2, 3)), (0, (2, 3)), [0]),
        piece((2,), (1, (5,)), (1, (5,)), [0]),
    ]
    return shard_map((8,), {0: ((8,), pieces)}), Expectation()


def sums_of_twos_and_threes():
    """Strides (2, 3) over (3, 3): injective, though 3 * 2 == 2 * 3 and no stride spans the axis below."""
    pieces = [
        piece((3, 3), (0, (2, 3)), (0, (2, 3)), [0]),
        piece((2,), (1, (8,)), (1, (8,)), [0]),
    ]
    return shard_map((11,), {0: ((11,), pieces)}), Expectation()


def padded():
    ranks = {
        0: ((2, 3), [piece((2, 3), (0, (3, 1)), (0, (3, 1)), [0])]),
        1: (
            (2, 3),
            [piece((1, 3), (6, (3, 1)), (0, (3, 1)), [1]), piece((0, 3), (-7, (3, 1)), (99, (3, 1)), [])],
        ),
    }
    return shard_map((3, 3), ranks), Expectation(holes={1: (5, 3, 4, 2)})


def gapped():
    """Elements 2 and 3 may be missing; 2 is held all the same."""
    ranks = {
        0: ((3,), [piece((3,), (0, (1,)), (0, (1,)), [0])]),
        1: ((2,), [piece((2,), (4, (1,)), (0, (1,)), [1])]),
    }
    return shard_map((6,), ranks), Expectation(gaps=(2, 3))


def uncovered():
    return shard_map((9,), {0: ((2,), [piece((2,), (3, (1,)), (0, (1,)), [0])])}), Expectation(cover=False)


def lookup():
    """Both ranks hold row 1, and rank 1 holds it twice; locations say nothing."""
    ranks = {
        0: ((2, 2), [piece((2, 2), (0, (2, 1)), (0, (2, 1)), [])]),
        1: ((2, 2), [piece((2, 2), (2, (0, 1)), (0, (2, 1)), [5])]),
    }
    here = shard_map((3, 2), ranks)
    return here, Expectation(lookup=True, reference=here)


def partial_sum():
    ranks = {
        r: ((4,), [piece((4,), (0, (1,)), (0, (1,)), [0, 1, 2], Fraction(scale))])
        for r, scale in enumerate((0.7, 0.2, 0.1))
    }
    return shard_map((4,), ranks), Expectation(partial=True)


def scaled():
    ranks = {r: ((2,), [piece((2,), (0, (1,)), (0, (1,)), [0, 3], Fraction(3, 2))]) for r in (0, 3)}
    return shard_map((2,), ranks), Expectation(scale=Fraction(3, 2))


def two_scales():
    pieces = [piece((2,), (0, (1,)), (0, (1,)), [0], Fraction(2)), piece((2,), (2, (1,)), (2, (1,)), [0])]
    here = shard_map((4,), {0: ((4,), pieces)})
    there = [piece((1,), (k, (1,)), (k, (1,)), [0], Fraction(2 if k < 2 else 1)) for k in range(4)]
    return here, Expectation(reference=shard_map((4,), {0: ((4,), there)}))


def write_units():
    """Units of 4 in 10 elements: the last one is short. Rank 1's set is made of interleaved pieces."""
    ranks = {
        0: ((6,), [piece((4,), (0, (1,)), (0, (1,)), [0]), piece((2,), (8, (1,)), (4, (1,)), [0])]),
        1: ((4,), [piece((2,), (4, (2,)), (0, (2,)), [1]), piece((2,), (5, (2,)), (1, (2,)), [1])]),
    }
    return shard_map((10,), ranks), Expectation(write_unit=4, index_bits=5)


def column_units():
    ranks = {r: ((3, 4), [piece((3, 4), (4 * r, (8, 1)), (0, (4, 1)), [r])]) for r in range(2)}
    return shard_map((3, 8), ranks), Expectation(write_unit=2)


def empty_parameter():
    return shard_map((0, 5), {0: ((0,), []), 1: ((), [])}), Expectation(holes={1: (0,)})


RIGHT = (
    column_split, fused_qkv, fused_qkv_against_rows, replicated, gqa_replicas, wrapped_shard,
    interleaved_strides, sums_of_twos_and_threes, padded, gapped, uncovered, lookup, partial_sum, scaled,
    two_scales, write_units, column_units, empty_parameter,
)  # fmt: skip


def random_map(rng):
    """A right map of blocks of a random grid, in a random order, over random sets of ranks."""
    shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 2))]
    strides = row_major(shape)
    world = rng.randint(1, 3)
    blocks = [([0] * len(shape), shape)]
    for _ in range(rng.randint(0, 3)):
        low, size = blocks.pop(rng.randrange(len(blocks)))
        axis = rng.randrange(len(shape))
        at = rng.randint(0, size[axis])
        blocks.append((low, [*size[:axis], at, *size[axis + 1 :]]))
        blocks.append(
            (
                [*low[:axis], low[axis] + at, *low[axis + 1 :]],
                [*size[:axis], size[axis] - at, *size[axis + 1 :]],
            )
        )
    held = {rank: [] for rank in range(world)}
    for low, size in blocks:
        locations = sorted(rng.sample(range(world), rng.choice([1, 1, rng.randint(1, world)])))
        for rank in locations:
            held[rank].append((low, size, locations))
    ranks = {}
    for rank, kept in held.items():
        rng.shuffle(kept)
        pieces, filled = [], 0
        for low, size, locations in kept:
            order = rng.sample(range(len(size)), len(size))
            extents = [size[k] for k in order]
            offset = sum(x * s for x, s in zip(low, strides, strict=True))
            by_source = [strides[k] for k in order]
            pieces.append(piece(extents, (offset, by_source), (filled, row_major(extents)), locations))
            filled += prod(size)
        ranks[rank] = ((filled,), pieces)
    return shard_map(shape, ranks)


def random_expectation(rng, here):
    """Demands and waivers, most of which do no harm to a right map."""
    choice = rng.randrange(9)
    if choice == 0:
        return Expectation(reference=random_map(rng) if rng.random() < 0.2 else here)
    if choice == 1:
        return Expectation(write_unit=rng.randint(1, 3))
    if choice == 2:
        return Expectation(gaps=tuple(rng.sample(range(here.numel), rng.randint(0, here.numel))))
    if choice == 3:
        shards = [(rank, shard.numel) for rank, shard in here.ranks.items()]
        return Expectation(holes={rank: tuple(rng.sample(range(n), rng.randint(0, n))) for rank, n in shards})
    if choice == 4:
        return Expectation(lookup=True, reference=here if rng.random() < 0.5 else None)
    if choice == 5:
        return Expectation(index_bits=rng.randint(2, 6))
    if choice == 6:
        return Expectation(cover=False)
    return Expectation()
