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
    Tree,
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


def assert_separates(tree: Tree, boxes: list[Box]) -> None:
    """No box lies across a cut of its group, and every leaf has at most one."""
    pending = [(tree, boxes)]
    while pending:
        cut, group = pending.pop()
        if cut is None:
            assert len(group) <= 1
            continue
        axis, at, below, above = cut
        low = [box for box in group if box[1][axis] <= at]
        high = [box for box in group if box[0][axis] >= at]
        assert len(low) + len(high) == len(group)
        pending += [(below, low), (above, high)]


def depth(tree: Tree) -> int:
    deepest = 0
    pending = [(tree, 0)]
    while pending:
        cut, level = pending.pop()
        deepest = max(deepest, level)
        if cut is not None:
            pending += [(cut[2], level + 1), (cut[3], level + 1)]
    return deepest


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
            case Separated(tree):
                assert not overlaps(boxes)
                assert_separates(tree, boxes)
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
def test_T7_grids_come_apart_in_shallow_trees(counts: tuple[int, ...]) -> None:
    boxes = grid(*counts)
    random.Random(1).shuffle(boxes)
    found = separate(boxes, pairs=0)
    assert isinstance(found, Separated)
    assert_separates(found.tree, boxes)
    assert depth(found.tree) <= len(boxes).bit_length() + len(counts)


@pytest.mark.parametrize("axes", [1, 2, 3, 4])
def test_T7_guillotine_cuts_come_apart(axes: int) -> None:
    boxes = guillotine(random.Random(axes), 800, axes, 10**6)
    found = separate(boxes, pairs=0)
    assert isinstance(found, Separated)
    assert_separates(found.tree, boxes)


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
    assert isinstance(separate(shallow, pairs=0), Separated)
    left = separate(deep, pairs=PAIRS)
    assert isinstance(left, Undivided)
    assert left.disjoint
    assert len(left.groups[0]) == 10


@pytest.mark.parametrize("boxes", [[], [((0, 0), (1, 1))]])
def test_fewer_than_two_boxes_need_no_cut(boxes: list[Box]) -> None:
    assert separate(boxes, pairs=0) == Separated(None)
