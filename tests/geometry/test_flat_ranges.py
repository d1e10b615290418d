"""Ranges of flat addresses as boxes, against the list of their addresses."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.geometry.flat_ranges import range_boxes
from verifier.geometry.strided import row_major


def addresses(shape: tuple[int, ...], offsets: tuple[int, ...], sizes: tuple[int, ...]) -> list[int]:
    """Flat addresses of a box, in its own row-major order."""
    strides = row_major(shape)
    return [
        sum((o + i) * s for o, i, s in zip(offsets, index, strides, strict=True))
        for index in product(*map(range, sizes))
    ]


@st.composite
def ranges(draw: st.DrawFn) -> tuple[tuple[int, ...], int, int]:
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=4)))
    end = draw(st.integers(0, prod(shape)))
    return shape, draw(st.integers(0, end)), end


@given(ranges())
def test_T24_the_boxes_hold_the_range_in_order_and_are_few(given: tuple[tuple[int, ...], int, int]) -> None:
    shape, start, end = given
    boxes = range_boxes(shape, start, end)
    assert [at for box in boxes for at in addresses(shape, *box)] == list(range(start, end))
    assert len(boxes) <= max(1, 2 * len(shape) - 1)
    if start == 0 or end == prod(shape):
        assert len(boxes) <= max(1, len(shape))


def test_a_range_of_a_huge_tensor_costs_nothing() -> None:
    side = 10**9
    boxes = range_boxes((side, side, side), 1, side**3 - 1)
    assert len(boxes) == 5
    assert sum(prod(sizes) for _, sizes in boxes) == side**3 - 2


def test_the_most_boxes_are_reached() -> None:
    assert len(range_boxes((4, 4, 4), 1, 63)) == 5


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (0, 7), (4, 3)])
def test_a_range_outside_of_the_tensor_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="not inside a tensor"):
        range_boxes((2, 3), start, end)
