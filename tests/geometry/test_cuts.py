"""Theory: T7, against comparing every pair of boxes."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.geometry.box_families import grid, guillotine, pinwheel, staircase
from verifier.geometry.cuts import (
    NESTING,
    Overlapping,
    Separated,
    Undivided,
    boxes_overlap,
    least_overlap,
    separate,
)
from verifier.geometry.digits import Box

PAIRS = 10_000


def random_boxes(rng: random.Random) -> list[Box]:
    axes = rng.randint(1, 3)
    if rng.random() < 0.5:
        boxes = guillotine(rng, rng.randint(1, 12), axes, 8)
    else:
        corners = [[rng.randint(0, 6) for _ in range(axes)] for _ in range(rng.randint(0, 5))]
        boxes = [(tuple(c), tuple(low + rng.randint(1, 2) for low in c)) for c in corners]
    if boxes and rng.random() < 0.4:
        lows, highs = boxes[0]
        boxes[0] = (tuple(low + 1 for low in lows), tuple(high + 1 for high in highs))
    return boxes


def overlaps(boxes: list[Box]) -> list[tuple[int, int]]:
    return [(i, j) for i, j in itertools.combinations(range(len(boxes)), 2) if _share(boxes[i], boxes[j])]


def _share(left: Box, right: Box) -> bool:
    axes = zip(*left, *right, strict=True)
    return all(set(range(a, b)) & set(range(c, d)) for a, b, c, d in axes)


def test_T7_separate_agrees_with_comparing_all_pairs() -> None:
    rng = random.Random("separate")
    outcomes: Counter[str] = Counter()
    for _ in range(1500):
        boxes = random_boxes(rng)
        found = separate(boxes, pairs=PAIRS)
        outcomes[type(found).__name__] += 1
        match found:
            case Separated():
                assert not overlaps(boxes)
            case Overlapping(first, second):
                assert (first, second) in overlaps(boxes)
            case Undivided(groups, disjoint):
                assert disjoint
                assert not overlaps(boxes)
                assert all(len(group) >= 5 for group in groups)
    assert outcomes["Separated"] >= 400
    assert outcomes["Overlapping"] >= 200


@settings(max_examples=80, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_T7_least_overlap_is_the_least_shared_point(rng: random.Random) -> None:
    boxes = random_boxes(rng)
    shared: set[tuple[int, ...]] = set()
    for i, j in overlaps(boxes):
        ranges = [range(max(a, c), min(b, d)) for a, b, c, d in zip(*boxes[i], *boxes[j], strict=True)]
        shared |= set(itertools.product(*ranges))
    expected = min(shared, key=lambda point: point[::-1], default=None)
    assert least_overlap(boxes, pairs=PAIRS) == expected


@settings(max_examples=50, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_boxes_overlap_is_sharing_a_point(rng: random.Random) -> None:
    for left, right in itertools.combinations(random_boxes(rng), 2):
        assert boxes_overlap(left, right) == boxes_overlap(right, left) == _share(left, right)


@pytest.mark.parametrize("counts", [(3000,), (60, 50), (15, 14, 13), (1, 1, 1), (1, 7)])
def test_T7_grids_come_apart_in_one_sweep_per_axis(counts: tuple[int, ...]) -> None:
    boxes = grid(*counts)
    random.Random(1).shuffle(boxes)
    # One to look at every edge, one for each axis that divides, and one for each axis that does not.
    assert separate(boxes, pairs=0, sweeps=3 * len(counts) * len(boxes)) == Separated()


@pytest.mark.parametrize("axes", [1, 2, 3, 4])
def test_T7_guillotine_cuts_come_apart(axes: int) -> None:
    boxes = guillotine(random.Random(axes), 800, axes, 10**6)
    assert separate(boxes, pairs=0) == Separated()


@pytest.mark.parametrize("copied", [0, 399, 799])
def test_T7_one_copy_among_many_boxes_is_found_with_few_comparisons(copied: int) -> None:
    boxes = guillotine(random.Random(7), 800, 2, 10**6)
    assert separate([*boxes, boxes[copied]], pairs=5) == Overlapping(copied, len(boxes))


def test_T7_pinwheels_are_disjoint_without_cuts() -> None:
    boxes = pinwheel() + pinwheel(3, 0)
    assert separate(boxes, pairs=PAIRS) == Undivided(((0, 1, 2, 3, 4), (5, 6, 7, 8, 9)), disjoint=True)
    assert separate(boxes, pairs=3) == Undivided(((0, 1, 2, 3, 4), (5, 6, 7, 8, 9)), disjoint=False)
    assert least_overlap(boxes, pairs=PAIRS) is None
    assert least_overlap([*boxes, ((1, 1), (2, 2))], pairs=PAIRS) == (1, 1)


def test_T7_cuts_nested_too_deep_are_left_to_pairs() -> None:
    shallow, deep = staircase(NESTING), staircase(NESTING + 10)
    assert separate(shallow, pairs=0) == Separated()
    left = separate(deep, pairs=PAIRS)
    assert isinstance(left, Undivided)
    assert left.disjoint
    assert len(left.groups[0]) == 10


@pytest.mark.parametrize("boxes", [[], [((0, 0), (1, 1))]])
def test_fewer_than_two_boxes_need_no_cut(boxes: list[Box]) -> None:
    assert separate(boxes, pairs=0) == Separated()


@settings(max_examples=80, deadline=None)
@given(rng=st.randoms(use_true_random=False), sweeps=st.integers(0, 60), pairs=st.integers(0, 20))
def test_T7_little_work_is_never_a_wrong_answer(rng: random.Random, sweeps: int, pairs: int) -> None:
    boxes = random_boxes(rng)
    match separate(boxes, pairs=pairs, sweeps=sweeps):
        case Separated() | Undivided(_, True):
            assert not overlaps(boxes)
        case Overlapping(first, second):
            assert (first, second) in overlaps(boxes)
        case Undivided(groups):
            assert groups
    point = least_overlap(boxes, pairs=pairs, sweeps=sweeps)
    assert point is None or point == least_overlap(boxes, pairs=PAIRS)


def test_T7_without_sweeps_nothing_is_looked_at() -> None:
    boxes = grid(60, 50)
    everything = tuple(range(len(boxes)))
    assert separate(boxes, pairs=PAIRS, sweeps=2 * len(boxes) - 1) == Undivided((everything,), disjoint=False)
    assert least_overlap([*boxes, boxes[0]], pairs=PAIRS, sweeps=2 * len(boxes)) is None
