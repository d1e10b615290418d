"""Boxes in columns against the listing of all their elements, and against the other engines."""

from __future__ import annotations

import itertools
import random
from array import array
from collections import Counter
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.bulk.generated import Made, Truth, box_map, changed, damaged, guillotine, made, truth
from verifier.answers import Fails, Holds
from verifier.budget import Budget
from verifier.certificates.check_boxes import Rejected, check, check_tiled
from verifier.engines.bulk import BoxAnswer, Outside, Overlap, Tiled, Uncovered, Undecided, decide_boxes
from verifier.engines.registry import engine_named
from verifier.geometry.strided import INT64_MAX
from verifier.model.box_map import BoxMap
from verifier.obligations.faults import Count
from verifier.obligations.questions import Tiling

SEEDS = st.integers(0, 2**32).map(random.Random)
BUDGET = Budget()
STARVED = Budget(monomials=1, boxes=1)


def hold_against(answer: BoxAnswer, true: Truth) -> None:
    """An answer within the budget is the whole truth."""
    match answer:
        case Tiled(evidence):
            assert true.tiled
            check(evidence.to_json())
        case Outside(box, axis, count):
            assert (box, axis) == true.outside[0]
            assert count == len(true.outside)
        case Overlap(first, second, element, least, count, uncovered):
            assert not true.outside
            assert element == true.shared[0]
            assert [first, second] == true.holders[element][:2]
            assert least
            assert count == Count(len(true.shared), exact=True)
            assert (uncovered is None) == (not true.missing)
            if uncovered is not None:
                hold_against(uncovered, Truth((), {}, true.missing))
        case Uncovered(element, count):
            assert not true.outside
            assert not true.shared
            assert element == true.missing[0]
            assert count == Count(len(true.missing), exact=True)
        case Undecided():
            pytest.fail(f"undecided: {answer.reason}")


@settings(max_examples=400, deadline=None)
@given(SEEDS)
def test_every_answer_is_what_a_listing_finds(rng: random.Random) -> None:
    boxes = made(rng)
    hold_against(decide_boxes(boxes.columns(), BUDGET), truth(boxes))


def test_random_boxes_are_of_all_sorts() -> None:
    rng = random.Random("sorts")
    answers = Counter(type(decide_boxes(made(rng).columns(), BUDGET)).__name__ for _ in range(400))
    assert min(answers[sort.__name__] for sort in (Tiled, Outside, Overlap, Uncovered)) > 25, answers


@settings(max_examples=300, deadline=None)
@given(SEEDS)
def test_a_starved_budget_leaves_what_it_says_true(rng: random.Random) -> None:
    boxes = made(rng)
    true = truth(boxes)
    match decide_boxes(boxes.columns(), STARVED):
        case Overlap(first, second, element, least, count, uncovered):
            assert true.holders[element][:2] == [first, second]
            assert not least or element == true.shared[0]
            _hold_count(count, len(true.shared))
            assert not count.exact or (uncovered is None) == (not true.missing)
            if uncovered is not None:
                _hold_count(uncovered.count, len(true.missing))
        case Uncovered(element, count):
            assert element is None or element == true.missing[0]
            _hold_count(count, len(true.missing))
        case Undecided(code):
            assert code == "SM902"
            assert not true.outside
        case answer:
            hold_against(answer, true)


def _hold_count(count: Count, number: int) -> None:
    assert 1 <= count.number <= number
    assert not count.exact or count.number == number


@settings(max_examples=200, deadline=None)
@given(SEEDS)
def test_the_engines_for_views_agree_where_all_boxes_are_inside(rng: random.Random) -> None:
    boxes = made(rng)
    answer = decide_boxes(boxes.columns(), BUDGET)
    if isinstance(answer, Outside):
        return
    shard_map = boxes.columns().to_shard_map()
    question = Tiling(prod(boxes.shape), tuple(piece.source for _, _, piece in shard_map.pieces()))
    for name in ("cancel", "bulk", "boxes"):
        match engine_named(name).decide(question, BUDGET):
            case Holds():
                assert isinstance(answer, Tiled)
            case Fails():
                assert not isinstance(answer, Tiled)


# Large numbers.


def stretched(rng: random.Random, boxes: Made) -> tuple[BoxMap, list[list[int]]]:
    """The same boxes with other numbers in the place of 0, 1, 2, ..., up to 2^63 - 1 elements."""
    marks, room = [], INT64_MAX
    for axis, extent in enumerate(boxes.shape):
        far = room if axis == len(boxes.shape) - 1 else min(room, 2 ** rng.choice((4, 21, 31, 40)))
        far = max(far if rng.random() < 0.8 else extent, extent)
        inner = sorted(rng.sample(range(1, far), extent - 1)) if extent > 1 else []
        marks.append([0, *inner, far] if extent else [0])
        room //= max(far, 1)
    ends = [
        [(edges[low], edges[low + size]) for edges, low, size in zip(marks, offsets, sizes, strict=True)]
        for offsets, sizes in boxes.boxes
    ]
    moved = [(tuple(low for low, _ in box), tuple(high - low for low, high in box)) for box in ends]
    return box_map([edges[-1] for edges in marks], moved), marks


@settings(max_examples=200, deadline=None)
@given(SEEDS)
def test_large_numbers_change_places_and_counts_only(rng: random.Random) -> None:
    boxes = made(rng)
    true = truth(boxes)
    if true.outside or 0 in boxes.shape:
        return
    large, marks = stretched(rng, boxes)
    if large.numel > INT64_MAX:
        return

    def volume(elements: list[tuple[int, ...]]) -> int:
        cells = [[marks[k][c + 1] - marks[k][c] for k, c in enumerate(element)] for element in elements]
        return sum(map(prod, cells))

    match decide_boxes(large, BUDGET):
        case Tiled(evidence):
            assert true.tiled
            check(evidence.to_json())
        case Overlap(first, second, element, _, count):
            assert element == tuple(marks[k][c] for k, c in enumerate(true.shared[0]))
            assert [first, second] == true.holders[true.shared[0]][:2]
            assert count == Count(volume(true.shared), exact=True)
        case Uncovered(element, count):
            assert element == tuple(marks[k][c] for k, c in enumerate(true.missing[0]))
            assert count == Count(volume(list(true.missing)), exact=True)
        case answer:
            pytest.fail(f"{answer}")


@pytest.mark.parametrize(
    ("offset", "size"),
    [
        (INT64_MAX, 1),
        (INT64_MAX, INT64_MAX),
        (1, INT64_MAX),
        (-(2**63), 0),
        (-(2**63), INT64_MAX),
        (-1, INT64_MAX),
        (-1, 1),
        (9, 0),
        (0, 9),
    ],
)
def test_sums_past_64_bits_do_not_come_back_inside(offset: int, size: int) -> None:
    boxes = box_map((8, 2), [((0, 0), (8, 2)), ((offset, 0), (size, 2))])
    assert decide_boxes(boxes, BUDGET) == Outside(box=1, axis=0, count=1, empty=int(size == 0))
    with pytest.raises(Rejected):
        check_tiled(boxes.logical_shape, boxes.count, boxes.offsets, boxes.sizes)


@pytest.mark.parametrize("shape", [(2**63,), (2**40, 2**40), (2**63, 0)])
def test_more_than_2_63_elements_are_left_to_exact_integers(shape: tuple[int, ...]) -> None:
    answer = decide_boxes(box_map(shape, []), BUDGET)
    assert isinstance(answer, Undecided)
    assert answer.code == "SM901"
    with pytest.raises(Rejected, match="elements"):
        check_tiled(shape, 0, array("q"), array("q"))


def test_all_of_2_63_in_two() -> None:
    boxes = box_map((INT64_MAX,), [((0,), (5,)), ((5,), (INT64_MAX - 5,))])
    assert isinstance(decide_boxes(boxes, BUDGET), Tiled)


# Empty boxes, and no dimensions.


def test_an_empty_box_may_begin_at_the_end_and_not_past_it() -> None:
    whole = ((0, 0), (4, 3))
    assert isinstance(decide_boxes(box_map((4, 3), [whole, ((4, 0), (0, 3))]), BUDGET), Tiled)
    past = box_map((4, 3), [whole, ((5, 0), (0, 3)), ((0, 2), (4, 2))])
    assert decide_boxes(past, BUDGET) == Outside(box=1, axis=0, count=2, empty=1)


def test_an_empty_box_inside_another_is_no_overlap() -> None:
    assert isinstance(decide_boxes(box_map((4,), [((0,), (4,)), ((2,), (0,))]), BUDGET), Tiled)


@pytest.mark.parametrize(
    ("count", "answer"), [(0, Uncovered((), Count(1, exact=True))), (1, Tiled), (3, Overlap)]
)
def test_a_scalar_is_stored_once(count: int, answer: object) -> None:
    boxes = box_map((), [((), ())] * count)
    found = decide_boxes(boxes, BUDGET)
    assert found == answer or type(found) is answer
    if isinstance(found, Overlap):
        assert (found.first, found.second, found.element, found.count.number) == (0, 1, (), 1)


def test_a_parameter_without_elements_needs_no_box_and_admits_empty_ones() -> None:
    assert isinstance(decide_boxes(box_map((0, 5), []), BUDGET), Tiled)
    assert isinstance(decide_boxes(box_map((0, 5), [((0, 2), (0, 3))]), BUDGET), Tiled)
    assert isinstance(decide_boxes(box_map((0, 5), [((0, 2), (1, 3))]), BUDGET), Outside)


# Many boxes.


def rows(count: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [((k, 0), (1, 64)) for k in range(count)]


def test_every_box_twice_is_counted_exactly() -> None:
    boxes = rows(5000) * 2
    random.Random(1).shuffle(boxes)
    answer = decide_boxes(box_map((5000, 64), boxes), BUDGET)
    assert isinstance(answer, Overlap)
    assert answer.element == (0, 0)
    assert answer.count == Count(5000 * 64, exact=True)
    assert answer.uncovered is None


def test_one_box_of_many_a_column_too_wide() -> None:
    boxes = [((i, j), (1, 1)) for i in range(100) for j in range(100)]
    boxes[4242] = ((42, 42), (1, 2))
    answer = decide_boxes(box_map((100, 100), boxes), BUDGET)
    assert answer == Overlap(4242, 4243, (42, 43), True, Count(1, exact=True), None)


def test_a_hole_before_an_overlap_does_not_hide_it() -> None:
    boxes = rows(3000)
    boxes[2000] = boxes[2001]
    del boxes[7]
    answer = decide_boxes(box_map((3000, 64), boxes), BUDGET)
    holes = Uncovered((7, 0), Count(128, exact=True))
    assert answer == Overlap(1999, 2000, (2001, 0), True, Count(64, exact=True), holes)


def test_an_overlap_before_a_hole_does_not_hide_it() -> None:
    boxes = rows(3000)
    boxes[7] = boxes[8]
    del boxes[2000]
    answer = decide_boxes(box_map((3000, 64), boxes), BUDGET)
    assert isinstance(answer, Overlap)
    assert answer.uncovered == Uncovered((7, 0), Count(128, exact=True))
    boxes[7] = ((7, 0), (2, 64))
    answer = decide_boxes(box_map((3000, 64), boxes), BUDGET)
    assert isinstance(answer, Overlap)
    assert answer.element == (8, 0)
    assert answer.uncovered == Uncovered((2000, 0), Count(64, exact=True))


def test_a_thousand_boxes_on_one_heap_are_counted_at_least() -> None:
    rng = random.Random(3)
    boxes = [((rng.randrange(900), rng.randrange(900)), (100, 100)) for _ in range(2000)]
    answer = decide_boxes(box_map((1000, 1000), boxes), BUDGET)
    assert isinstance(answer, Overlap)
    assert not answer.count.exact
    holding = [k for k, box in enumerate(boxes) if _holds(box, answer.element)]
    assert holding[:2] == [answer.first, answer.second]


def test_a_large_group_without_cuts_is_compared_in_pairs() -> None:
    """Pinwheels inside one another: each a step of a long spiral that no cut divides."""
    boxes, low, high = [], 0, 4 * 400 + 1
    while high - low > 1:
        boxes += [
            ((low, low), (1, high - low - 1)),
            ((low, high - 1), (high - low - 1, 1)),
            ((high - 1, low + 1), (1, high - low - 1)),
            ((low + 1, low), (high - low - 1, 1)),
        ]
        low, high = low + 1, high - 1
    side = 4 * 400 + 1
    assert isinstance(decide_boxes(box_map((side, side), [*boxes, ((low, low), (1, 1))]), BUDGET), Tiled)
    hole = Uncovered((low, low), Count(1, exact=False))
    assert decide_boxes(box_map((side, side), boxes), BUDGET) == hole
    larger = Budget(boxes=20_000_000)
    assert decide_boxes(box_map((side, side), boxes), larger) == Uncovered((low, low), Count(1, exact=True))


def _holds(box: tuple[tuple[int, ...], tuple[int, ...]], element: tuple[int, ...]) -> bool:
    return all(low <= at < low + size for low, size, at in zip(*box, element, strict=True))


def test_more_corners_than_the_checker_takes_are_not_called_tiled() -> None:
    """Halves along each of 14 axes: 2^14 boxes of 2^14 corners."""
    axes = 14
    cells = list(itertools.product((0, 1), repeat=axes))
    boxes = [(cell, (1,) * axes) for cell in cells]
    answer = decide_boxes(box_map((2,) * axes, boxes), BUDGET)
    assert isinstance(answer, Undecided)
    assert answer.code == "SM902"
    assert decide_boxes(box_map((2,) * axes, boxes[1:]), BUDGET) == Uncovered(None, Count(1, exact=True))
    twice = decide_boxes(box_map((2,) * axes, [*boxes, boxes[5]]), BUDGET)
    assert twice == Overlap(5, len(boxes), cells[5], True, Count(1, exact=True), None)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_thousands_of_random_cuts(dimensions: int) -> None:
    rng = random.Random(dimensions)
    shape = (10**6, 3000, 400)[:dimensions]
    boxes = guillotine(rng, shape, 3000)
    rng.shuffle(boxes)
    answer = decide_boxes(box_map(shape, boxes), BUDGET)
    assert isinstance(answer, Tiled)
    check_tiled(shape, len(boxes), *(answer.evidence.boxes.offsets, answer.evidence.boxes.sizes))
    largest = max(range(len(boxes)), key=lambda k: prod(boxes[k][1]))
    offsets, sizes = boxes[largest]
    boxes[largest] = (offsets, changed(sizes, 0, sizes[0] - 1))
    answer = decide_boxes(box_map(shape, boxes), BUDGET)
    place = changed(offsets, 0, offsets[0] + sizes[0] - 1)
    assert answer == Uncovered(place, Count(prod(sizes[1:]), exact=True))


def test_damages_are_often_found_and_never_in_vain() -> None:
    rng = random.Random("damages")
    found = 0
    for _ in range(150):
        whole = Made((6, 7), tuple(guillotine(rng, (6, 7), 8)))
        assert isinstance(decide_boxes(whole.columns(), BUDGET), Tiled)
        broken = damaged(rng, whole)
        answer = decide_boxes(broken.columns(), BUDGET)
        assert isinstance(answer, Tiled) == truth(broken).tiled
        found += not isinstance(answer, Tiled)
    assert found > 90
