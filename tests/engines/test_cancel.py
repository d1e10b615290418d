"""What is special about the cancellation engine; the rest is the conformance suite."""

from __future__ import annotations

import random

from verifier.answers import Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation
from verifier.engines.cancel import CancelEngine
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import PairView, SamePairs, Tiling, UnitBoundaries

BUDGET = Budget()


def decide(question: Tiling | SamePairs) -> object:
    return CancelEngine().decide(question, BUDGET)


def test_T12_a_flat_buffer_of_unrelated_widths_is_decided_component_by_component() -> None:
    """Two matrices of widths prime to each other, cut in columns: strides never meet in one component."""
    views: list[StridedView] = []
    offset = 0
    for width in (4099, 11003, 5003, 6007, 7001, 8009, 9001, 10007, 12007, 13001, 14009, 15013, 16001, 17011):
        views += [StridedView(offset + k, (64,), (width,)) for k in range(2)]
        views.append(StridedView(offset + 2, (64, width - 2), (width, 1)))
        offset += 64 * width
    assert decide(Tiling(offset, tuple(views))) == Holds(Cancellation(), "cancel")
    views[3] = StridedView(views[3].offset + 1, (64,), views[3].strides)
    assert decide(Tiling(offset, tuple(views))) == Fails(Defect((64 * 4099,), -1, least=True), "cancel")


def test_a_skipped_component_makes_a_later_defect_not_least() -> None:
    tangle = tuple(StridedView(0, (2,), (s,)) for s in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43))
    beyond = StridedView(1000, (1,), (1,))
    answer = decide(Tiling(900, (*tangle, beyond)))
    assert isinstance(answer, Fails)
    assert not answer.defect.least
    assert isinstance(decide(Tiling(44, tangle)), Unknown)


def test_T5_the_same_pairs_however_they_are_cut_and_the_first_difference() -> None:
    whole = (PairView(StridedView(0, (4, 6), (12, 1)), StridedView(0, (4, 6), (6, 1))),)
    parts = tuple(PairView(StridedView(k, (4, 3), (12, 2)), StridedView(k, (4, 3), (6, 2))) for k in range(2))
    assert decide(SamePairs(whole, parts)) == Holds(Cancellation(), "cancel")
    swapped = (
        PairView(StridedView(0, (4, 3), (12, 2)), StridedView(1, (4, 3), (6, 2))),
        PairView(StridedView(1, (4, 3), (12, 2)), StridedView(0, (4, 3), (6, 2))),
    )
    # Source 0 should go to dest 0; the pair (0, 0) is the least that only one side has.
    assert decide(SamePairs(whole, swapped)) == Fails(Defect((0, 0), 1, least=True), "cancel")


def test_T5_folding_pairs_keeps_the_least_difference() -> None:
    rng = random.Random(5)
    outcomes = {True: 0, False: 0}
    for _ in range(1500):
        sides: list[tuple[PairView, ...]] = []
        for _ in range(2):
            pairs = []
            for _ in range(rng.randrange(1, 3)):
                shape = tuple(rng.randrange(1, 3) for _ in range(2))
                source = StridedView(rng.randrange(3), shape, (rng.randrange(-2, 4), rng.randrange(3)))
                dest = StridedView(rng.randrange(3), shape, (rng.randrange(-2, 4), rng.randrange(3)))
                pairs.append(PairView(source, dest))
            sides.append(tuple(pairs))
        if rng.random() < 0.4:
            sides[1] = tuple(reversed(sides[0]))
        counts: dict[tuple[int, int], int] = {}
        for sign, side in ((1, sides[0]), (-1, sides[1])):
            for pair in side:
                for i in range(pair.source.shape[0]):
                    for j in range(pair.source.shape[1]):
                        key = (pair.source.address((i, j)), pair.dest.address((i, j)))
                        counts[key] = counts.get(key, 0) + sign
        wrong = sorted(key for key, count in counts.items() if count)
        answer = decide(SamePairs(sides[0], sides[1]))
        if wrong:
            assert answer == Fails(Defect(wrong[0], counts[wrong[0]], least=True), "cancel")
        else:
            assert isinstance(answer, Holds)
        outcomes[bool(wrong)] += 1
    assert min(outcomes.values()) > 300


def test_T9_many_axes_of_stride_one_are_no_set_and_cost_nothing() -> None:
    views = (StridedView(0, (2,) * 64, (1,) * 64),)
    answer = CancelEngine().decide(UnitBoundaries(100_000, 4, views), BUDGET)
    assert isinstance(answer, Unknown)
    assert "twice" in answer.reason
