"""T1 and T2 against listing every address."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.geometry.strided import (
    NormalView,
    StridedView,
    coordinates,
    intervals,
    normal_form,
    row_major,
)


def addresses(view: StridedView) -> Counter[int]:
    return Counter(view.address(i) for i in itertools.product(*[range(n) for n in view.shape]))


def normal_addresses(view: NormalView) -> Counter[int]:
    listed = [
        view.offset + sum(i * s for i, (s, _) in zip(index, view.axes, strict=True))
        for index in itertools.product(*[range(n) for _, n in view.axes])
    ]
    return Counter({a: k * view.multiplicity for a, k in Counter(listed).items()})


@st.composite
def views(draw: st.DrawFn) -> StridedView:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    strides = tuple(draw(st.lists(st.integers(-7, 12), min_size=len(shape), max_size=len(shape))))
    return StridedView(draw(st.integers(-20, 20)), shape, strides)


@settings(max_examples=400, deadline=None)
@given(views())
def test_T1_normal_form_keeps_the_multiset_of_addresses(view: StridedView) -> None:
    normal = normal_form(view)
    if view.is_empty:
        assert normal is None
    else:
        assert normal is not None
        assert normal_addresses(normal) == addresses(view)
        strides = [s for s, _ in normal.axes]
        assert strides == sorted(strides)
        assert all(s >= 1 and n >= 2 for s, n in normal.axes)
        assert all(hi[0] != lo[0] * lo[1] for lo, hi in itertools.pairwise(normal.axes))


@settings(max_examples=400, deadline=None)
@given(views())
def test_T2_the_hull_is_tight(view: StridedView) -> None:
    if not view.is_empty:
        reached = addresses(view)
        assert view.hull == (min(reached), max(reached))
        normal = normal_form(view)
        assert normal is not None
        assert (normal.offset, normal.highest) == view.hull


def test_merged_axes_of_a_contiguous_block_are_one_axis() -> None:
    assert normal_form(StridedView(5, (2, 3, 4), (12, 4, 1))) == NormalView(5, ((1, 24),))


@pytest.mark.parametrize(
    ("shape", "strides"), [((2,), (1, 1)), ((2, 2), (1,)), ((), (1,)), ((-1,), (1,)), ((2, -3), (3, 1))]
)
def test_a_view_that_cannot_exist_is_refused(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"extent|negative"):
        StridedView(0, shape, strides)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_coordinates_invert_row_major_addresses(shape: list[int]) -> None:
    view = StridedView(0, tuple(shape), row_major(shape))
    for index in itertools.product(*[range(n) for n in shape]):
        assert coordinates(view.address(index), shape) == index


@given(st.sets(st.integers(-10, 30)))
def test_intervals_are_maximal_runs(cells: set[int]) -> None:
    runs = intervals(cells)
    assert {a for low, high in runs for a in range(low, high)} == cells
    assert all(left[1] < right[0] for left, right in itertools.pairwise(runs))
