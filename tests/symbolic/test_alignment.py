"""T26: alignment for every size is decided, its counterexamples are the smallest, and the lemmas hold."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import z3

from verifier.symbolic import alignment
from verifier.symbolic.alignment import Aligned, AlignmentClaim, Split, Unclear, decide_alignment


def claim(block: int, rule: str, **more: object) -> AlignmentClaim:
    return AlignmentClaim(block=block, rule=rule, **{"worlds": tuple(range(2, 17)), **more})  # type: ignore[arg-type]


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


def test_answers_are_those_of_a_listing() -> None:
    """A cut depends on the size modulo w * b only, so that twice that many sizes are all."""
    rng = random.Random(1)
    seen = {"aligned": 0, "split": 0}
    for _ in range(150):
        block, world = rng.randint(1, 6), rng.randint(2, 5)
        rule, multiple = rng.choice(("chunk", "even", "rows")), rng.choice((1, 1, 2, 4, 12, 60))
        columns = rng.randint(1, 6) if rule == "rows" else None
        asked = claim(block, rule, worlds=(world,), columns=columns, multiple=multiple)
        found = decide_alignment(asked)
        listed = by_listing(asked, world, 2 * math.lcm(world * block, multiple))
        if listed is None:
            assert isinstance(found, Aligned), asked
            seen["aligned"] += 1
        else:
            assert isinstance(found, Split)
            assert found == listed, asked
            seen["split"] += 1
    assert min(seen.values()) > 20


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
    assert decide_alignment(claim(256, "even", worlds=(2,), multiple=256)) == Split(256, 2, 128, 0)
    assert decide_alignment(claim(256, "chunk", worlds=(2,), multiple=256)) == Split(256, 2, 128, 0)
    assert decide_alignment(claim(256, "chunk", worlds=(2, 3), multiple=512)) == Split(512, 3, 171, 0)


def test_every_number_of_ranks_is_refuted_or_left_open() -> None:
    assert decide_alignment(claim(4, "chunk", worlds=None)) == Split(2, 2, 1, 0)
    assert isinstance(decide_alignment(claim(1, "chunk", worlds=None)), Aligned)
    most = math.lcm(*range(2, 65)) * 2
    assert isinstance(decide_alignment(claim(2, "even", worlds=None, multiple=most)), Unclear)


def test_a_solver_that_gives_up_leaves_it_open() -> None:
    found = decide_alignment(claim(256, "chunk", worlds=(16,), multiple=4096 * 15), rlimit=1)
    assert found == Unclear("z3 gave up on 16 ranks")


def test_a_counterexample_is_only_called_smallest_where_no_world_was_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decided = alignment._smallest

    def gives_up_on_two(asked: AlignmentClaim, world: int, *rest: object) -> object:
        return None if world == 2 else decided(asked, world, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(alignment, "_smallest", gives_up_on_two)
    assert decide_alignment(claim(4, "chunk", worlds=(2, 3))) == Split(2, 3, 1, 0, smallest=False)


@pytest.mark.parametrize("more", [{"block": 0}, {"multiple": 0}, {"worlds": (1,)}, {"worlds": (65,)}])
def test_numbers_out_of_range_are_named(more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|from 2 to 64"):
        decide_alignment(AlignmentClaim(**{"block": 4, "rule": "chunk", "worlds": (2,), **more}))  # type: ignore[arg-type]


def proved(*hypotheses: z3.BoolRef, conclusion: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.set("timeout", 20_000)
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
