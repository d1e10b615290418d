"""T26, T29: alignment for every size is decided, with the smallest counterexamples; the lemmas hold."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import z3

from verifier.symbolic.alignment import MOST_WORLD, Aligned, AlignmentClaim, Split, decide_alignment

RLIMIT = 200_000_000
"""Of one question to z3; the hardest one takes three million."""


def claim(block: int, rule: str, **more: object) -> AlignmentClaim:
    return AlignmentClaim(block=block, rule=rule, **{"worlds": tuple(range(2, 17)), **more})  # type: ignore[arg-type]


def drawn(rng: random.Random, worlds: tuple[int, ...] | None) -> AlignmentClaim:
    rule, multiple = rng.choice(("chunk", "even", "rows")), rng.choice((1, 1, 2, 3, 4, 10, 12, 15, 60))
    columns = rng.randint(1, 6) if rule == "rows" else None
    return claim(rng.randint(1, 6), rule, worlds=worlds, columns=columns, multiple=multiple)


def by_listing(asked: AlignmentClaim, world: int, most: int) -> Split | None:
    """The smallest extent up to ``most`` whose cuts go through a block, from the definition of a cut."""
    for extent in range(asked.multiple, most + 1, asked.multiple):
        if asked.rule == "even" and extent % world:
            continue
        part = math.ceil(extent / world)
        owner = [min(place // part, world - 1) for place in range(extent) for _ in range(asked.unit)]
        for begin in range(0, len(owner), asked.block):
            inside = owner[begin : begin + asked.block]
            if len({*inside}) > 1:
                cut = next(k for k in range(begin + 1, begin + len(inside)) if owner[k] != owner[k - 1])
                return Split(extent, world, cut, begin // asked.block)
    return None


def by_z3(asked: AlignmentClaim, world: int) -> int | None:
    """The smallest extent with a split block; division and remainder are by numbers, so z3 decides it."""
    optimum = z3.Optimize()
    optimum.set("rlimit", RLIMIT)
    times = z3.Int("times")
    extent = asked.multiple * times
    part = extent / world if asked.rule == "even" else (extent + (world - 1)) / world
    cuts = [z3.And(k * part < extent, (k * part * asked.unit) % asked.block != 0) for k in range(1, world)]
    optimum.add(times >= 1, z3.Or(*cuts), *([extent % world == 0] if asked.rule == "even" else []))
    smallest = optimum.minimize(times)
    answer = optimum.check()
    assert answer != z3.unknown
    return None if answer == z3.unsat else asked.multiple * optimum.lower(smallest).as_long()


def test_T29_answers_are_those_of_a_listing() -> None:
    """A cut depends on the size modulo w * b only, so that twice that many sizes are all."""
    rng = random.Random(1)
    seen = {"aligned": 0, "split": 0}
    for _ in range(200):
        world = rng.randint(2, 5)
        asked = drawn(rng, (world,))
        found = decide_alignment(asked)
        listed = by_listing(asked, world, 2 * math.lcm(world * asked.block, asked.multiple))
        if listed is None:
            assert isinstance(found, Aligned), asked
            seen["aligned"] += 1
        else:
            assert found == listed, asked
            seen["split"] += 1
    assert min(seen.values()) > 20


def test_T29_answers_are_those_of_z3() -> None:
    rng = random.Random(2)
    seen = {"aligned": 0, "split": 0}
    for _ in range(60):
        world = rng.randint(2, 9)
        block, multiple = rng.choice((2, 4, 6, 8, 16, 64)), rng.choice((1, 6, 8, 24, 48, 64, 96, 128, 960))
        rule = rng.choice(("chunk", "even", "rows"))
        columns = rng.choice((1, 4, 6, 100)) if rule == "rows" else None
        asked = claim(block, rule, worlds=(world,), columns=columns, multiple=multiple)
        found, smallest = decide_alignment(asked), by_z3(asked, world)
        assert (found.extent if isinstance(found, Split) else None) == smallest, asked
        seen["aligned" if smallest is None else "split"] += 1
    assert min(seen.values()) > 10


def test_of_several_numbers_of_ranks_the_smallest_parameter_is_named() -> None:
    rng = random.Random(3)
    for _ in range(60):
        asked = drawn(rng, (2, 3, 4, 5))
        most = 2 * math.lcm(60 * asked.block, asked.multiple)
        listed = [found for world in range(2, 6) if (found := by_listing(asked, world, most)) is not None]
        found = decide_alignment(asked)
        if listed:
            assert found == min(listed, key=lambda split: (split.extent, split.world)), asked
        else:
            assert isinstance(found, Aligned)


def test_over_every_number_of_ranks_only_the_unit_counts() -> None:
    rng = random.Random(4)
    for _ in range(100):
        asked = drawn(rng, None)
        found = decide_alignment(asked)
        if asked.unit % asked.block == 0:
            assert isinstance(found, Aligned)
            continue
        assert isinstance(found, Split)
        assert found == by_listing(asked, found.world, found.extent)
        for extent in range(asked.multiple, found.extent, asked.multiple):
            for world in range(2, extent + 2):
                assert by_listing(asked, world, extent) is None


@pytest.mark.parametrize(("columns", "aligned"), [(256, True), (1024, True), (128, False), (100, False)])
def test_rows_are_whole_blocks_iff_columns_are(columns: int, aligned: bool) -> None:
    found = decide_alignment(claim(256, "rows", columns=columns))
    assert isinstance(found, Aligned) == aligned
    every = decide_alignment(claim(256, "rows", columns=columns, worlds=None))
    assert isinstance(every, Aligned) == aligned
    if not aligned:
        assert found == every == Split(2, 2, columns, 0)


def test_equal_lengths_of_whole_blocks_are_aligned_and_others_need_not_be() -> None:
    both = math.lcm(*range(2, 17)) * 256
    assert isinstance(decide_alignment(claim(256, "even", multiple=both)), Aligned)
    assert isinstance(decide_alignment(claim(256, "chunk", multiple=both)), Aligned)
    assert decide_alignment(claim(256, "even", worlds=(2,), multiple=256)) == Split(256, 2, 128, 0)
    assert decide_alignment(claim(256, "chunk", worlds=(2,), multiple=256)) == Split(256, 2, 128, 0)
    assert decide_alignment(claim(256, "chunk", worlds=(2, 3), multiple=512)) == Split(512, 3, 171, 0)


def test_no_multiple_is_right_for_every_number_of_ranks() -> None:
    assert decide_alignment(claim(4, "chunk", worlds=None)) == Split(2, 2, 1, 0)
    assert isinstance(decide_alignment(claim(1, "chunk", worlds=None)), Aligned)
    power = 2**20
    assert decide_alignment(claim(2, "even", worlds=None, multiple=power)) == Split(power, power, 1, 0)
    assert decide_alignment(claim(2, "chunk", worlds=None, multiple=power)) == Split(power, 6, 174763, 87381)


def test_large_numbers_take_no_time() -> None:
    found = decide_alignment(claim(1024, "even", worlds=tuple(range(2, 65)), multiple=65536))
    assert isinstance(found, Aligned)
    every = tuple(range(2, MOST_WORLD + 1))
    assert decide_alignment(claim(2**31, "even", worlds=every, multiple=2**31)) == Split(2**31, 2, 2**30, 0)


@pytest.mark.parametrize(
    "more", [{"block": 0}, {"multiple": 0}, {"worlds": (1,)}, {"worlds": (MOST_WORLD + 1,)}]
)
def test_numbers_out_of_range_are_named(more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|from 2 to 65536"):
        decide_alignment(AlignmentClaim(**{"block": 4, "rule": "chunk", "worlds": (2,), **more}))  # type: ignore[arg-type]


def proved(*hypotheses: z3.BoolRef, conclusion: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.set("rlimit", RLIMIT)
    solver.add(*hypotheses, z3.Not(conclusion))
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.unsat)


@pytest.mark.parametrize("block", [256, 2048])
def test_T26_aligned_cuts_share_no_block_and_a_misaligned_one_does(block: int) -> None:
    size, cut = z3.Ints("n c")
    inside = z3.And(cut > 0, cut < size)
    shared = (cut - 1) / block == cut / block
    assert proved(inside, cut % block == 0, conclusion=z3.Not(shared))
    assert proved(inside, cut % block != 0, conclusion=shared)
    shards = 16
    cuts = z3.Ints(" ".join(f"c{k}" for k in range(shards + 1)))
    ordered = [a <= b for a, b in itertools.pairwise(cuts)]
    aligned = [z3.Or(c % block == 0, c == cuts[-1]) for c in cuts]
    i, j = z3.Ints("i j")
    on_one = [z3.And(a <= i, i < b) == z3.And(a <= j, j < b) for a, b in itertools.pairwise(cuts)]
    within = [cuts[0] == 0, i >= 0, i < cuts[-1], j >= 0, j < cuts[-1], i / block == j / block]
    assert proved(*ordered, *aligned, *within, conclusion=z3.And(*on_one))


def test_counting_blocks_does_not_decide_alignment() -> None:
    """The smallest trap for blocks of 256: 257 elements, cut at 1."""

    def counts(size: int, cut: int) -> bool:
        return -(-cut // 256) + -(-(size - cut) // 256) == -(-size // 256)

    trap = min((n, c) for n in range(1, 300) for c in range(1, n) if counts(n, c) and c % 256)
    assert trap == (257, 1)


def test_divisible_by_block_and_by_ranks_is_not_aligned() -> None:
    """256 divides 768, 2 divides 768, and the cut is at 384."""
    found = min(n for n in range(256, 2000, 256) if n % 2 == 0 and (n // 2) % 256)
    assert found == 256
    assert 768 // 2 % 256 == 128


def test_chunks_are_consecutive_and_complete_and_may_be_empty() -> None:
    """No gap, no overlap, all of n; with n >= w a rank can still have nothing."""
    size, world, part, rank = z3.Ints("n w c r")
    ceil = [size >= 0, world >= 1, part * world >= size, part >= 0, rank >= 0]

    def begin(of: z3.ArithRef) -> z3.ArithRef:
        return z3.If(of * part < size, of * part, size)

    end = z3.If(rank * part + part < size, rank * part + part, size)
    assert proved(*ceil, conclusion=z3.And(end == begin(rank + 1), begin(rank) <= end))
    assert proved(*ceil, conclusion=begin(world) == size)

    def leaves_nothing(extent: int, ranks: int) -> bool:
        return (ranks - 1) * -(-extent // ranks) >= extent

    assert leaves_nothing(15, 7)
    assert min((n, w) for n in range(1, 30) for w in range(2, n + 1) if leaves_nothing(n, w)) == (4, 3)
