"""Theory: T6, against listing every address."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.geometry.digits import (
    Box,
    address_of,
    digit_boxes,
    divisibility_chain,
    least_difference,
    visits_twice,
)
from verifier.geometry.strided import NormalView, StridedView, normal_form

CAP = 10_000


def random_chain(rng: random.Random) -> tuple[int, ...]:
    radices = [1]
    for _ in range(rng.randint(0, 4)):
        radices.append(radices[-1] * rng.randint(2, 4))
    return tuple(radices)


def random_view(rng: random.Random, radices: tuple[int, ...]) -> StridedView:
    axes = rng.randint(0, 4)
    strides = [rng.choice(radices) * rng.choice((1, 1, 1, -1)) for _ in range(axes)]
    strides = [0 if rng.random() < 0.05 else stride for stride in strides]
    return StridedView(rng.randint(-30, 60), tuple(rng.randint(1, 5) for _ in range(axes)), tuple(strides))


def visits(view: StridedView) -> Counter[int]:
    return Counter(view.address(index) for index in itertools.product(*map(range, view.shape)))


def cells(box: Box, radices: tuple[int, ...]) -> list[int]:
    ranges = [range(low, high) for low, high in zip(*box, strict=True)]
    return [address_of(digits, radices) for digits in itertools.product(*ranges)]


def normal(view: StridedView) -> NormalView:
    form = normal_form(view)
    assert form is not None
    return form


@settings(max_examples=150, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_T6_boxes_count_every_visit_once(rng: random.Random) -> None:
    radices = random_chain(rng)
    view = random_view(rng, radices)
    form = normal(view)
    boxes = digit_boxes(form, radices, cap=CAP)
    assert boxes is not None
    counted = Counter(cell for box in boxes for cell in cells(box, radices))
    assert Counter({cell: n * form.multiplicity for cell, n in counted.items()}) == visits(view)
    for lows, highs in boxes:
        assert all(low < high for low, high in zip(lows, highs, strict=True))
        for k in range(len(radices) - 1):
            assert lows[k] >= 0
            assert highs[k] <= radices[k + 1] // radices[k]


def test_T6_self_overlap_on_a_chain_is_exact_and_its_address_the_least() -> None:
    rng = random.Random("self-overlap")
    outcomes: Counter[bool] = Counter()
    wrapped = 0
    for _ in range(2000):
        radices = random_chain(rng)
        view = random_view(rng, radices)
        twice = visits_twice(normal(view))
        repeated = [address for address, count in visits(view).items() if count > 1]
        assert twice == min(repeated, default=None)
        outcomes[twice is not None] += 1
        boxes = digit_boxes(normal(view), radices, cap=CAP)
        wrapped += boxes is not None and len(boxes) > 1 and twice is None
    assert min(outcomes.values()) >= 300
    assert wrapped >= 100


@settings(max_examples=100, deadline=None)
@given(
    offset=st.integers(-5, 20),
    axes=st.lists(st.tuples(st.integers(-12, 12), st.integers(1, 4)), max_size=4),
)
def test_T6_a_repeated_address_off_a_chain_is_a_true_one(offset: int, axes: list[tuple[int, int]]) -> None:
    view = StridedView(offset, tuple(n for _, n in axes), tuple(s for s, _ in axes))
    twice = visits_twice(normal(view))
    assert twice is None or visits(view)[twice] > 1


@settings(max_examples=100, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_T6_least_difference_is_the_least_address_that_differs(rng: random.Random) -> None:
    radices = random_chain(rng)
    sides = [[random_view(rng, radices) for _ in range(rng.randint(0, 3))] for _ in range(2)]
    if rng.random() < 0.3:
        sides[1] = list(reversed(sides[0]))
    boxed = [
        [
            (box, normal(view).multiplicity)
            for view in side
            for box in digit_boxes(normal(view), radices, cap=CAP) or ()
        ]
        for side in sides
    ]
    excess = sum((visits(view) for view in sides[0]), Counter())
    excess.subtract(sum((visits(view) for view in sides[1]), Counter()))
    least = min((address for address, count in excess.items() if count), default=None)
    expected = None if least is None else (least, excess[least])
    assert least_difference(boxed[0], boxed[1], radices) == expected


@pytest.mark.parametrize(
    ("strides", "expected"),
    [((), (1,)), ((8, 1), (1, 8)), ((6, 3), (1, 3, 6)), ((6, 4), None), ((4096, 11008), None)],
)
def test_divisibility_chain(strides: tuple[int, ...], expected: tuple[int, ...] | None) -> None:
    view = NormalView(0, tuple((stride, 2) for stride in sorted(strides)))
    assert divisibility_chain([view]) == expected


def test_T6_a_wrapped_row_is_head_and_tail() -> None:
    """Shape (2, 2), offset 2, strides (3, 1) in a 3 x 3 shard."""
    view = normal(StridedView(2, (2, 2), (3, 1)))
    assert digit_boxes(view, (1, 3), cap=CAP) == (((2, 0), (3, 2)), ((0, 1), (1, 3)))


def test_boxes_stop_at_their_cap_without_making_more() -> None:
    view = NormalView(0, ((1, 10**15), (2, 10**15)))
    assert digit_boxes(view, (1, 2), cap=1000) is None
    assert digit_boxes(NormalView(0, ((1, 5),)), (1,), cap=0) is None


def test_T6_cost_does_not_depend_on_extents() -> None:
    view = NormalView(10**17 + 5, ((1, 10**9), (10**10, 10**9)))
    boxes = digit_boxes(view, (1, 10**10), cap=2)
    assert boxes == (((5, 10**7), (10**9 + 5, 10**7 + 10**9)),)
