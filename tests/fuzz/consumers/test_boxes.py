"""Boxes of views, held against a walk of every address."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.build import piece, shard_map
from fuzz.consumers.boxes import Box, Chunk, Misfilled, NoBox, box_of, chunks_of, elements, misfilled
from fuzz.dressing import rewritten
from fuzz.walk import addresses
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece

SHAPES = st.lists(st.integers(1, 4), max_size=4)


def digits(address: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The element of an address; the first axis takes what is left."""
    found: list[int] = []
    for extent in reversed(shape[1:]):
        address, digit = divmod(address, extent)
        found.append(digit)
    return (address, *reversed(found))


def walked_box(view: StridedView, shape: Sequence[int]) -> Box | None:
    """The least box around all that a view reaches, when it reaches nothing else, and each element once."""
    reached = [digits(address, shape) for address in addresses(view)]
    columns = list(zip(*reached, strict=True))
    lows = tuple(min(column) for column in columns)
    sizes = tuple(max(column) - min(column) + 1 for column in columns)
    return Box(lows, sizes) if math.prod(sizes) == len(reached) == len(set(reached)) else None


@st.composite
def boxes(draw: st.DrawFn) -> tuple[tuple[int, ...], Box]:
    shape = tuple(draw(SHAPES))
    offsets = tuple([draw(st.integers(0, extent - 1)) for extent in shape])
    sizes = [draw(st.integers(1, extent - low)) for extent, low in zip(shape, offsets, strict=True)]
    return shape, Box(offsets, tuple(sizes))


@given(boxes(), st.randoms(use_true_random=False))
def test_a_box_is_found_however_it_is_written(made, rng) -> None:  # type: ignore[no-untyped-def]
    shape, box = made
    view = box.view(shape)
    assert {digits(address, shape) for address in addresses(view)} == set(elements(box)) or not shape
    written = rewritten(rng, Piece(view, view, (0,))).source
    assert sorted(addresses(written)) == sorted(addresses(view))
    assert box_of(written, shape) == box


@given(
    st.lists(st.sampled_from((1, 2, 2, 3, 4, 6)), min_size=1, max_size=3),
    st.integers(-13, 40),
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from((1, 1, 2, 3, 4, 6, 8, 12, 24))), max_size=4),
)
def test_a_view_is_a_box_iff_the_walk_says_so(
    shape: list[int], offset: int, axes: list[tuple[int, int]]
) -> None:
    view = StridedView(offset, tuple([n for n, _ in axes]), tuple([s for _, s in axes]))
    found = box_of(view, shape)
    assert (found if isinstance(found, Box) else None) == walked_box(view, shape)


@pytest.mark.parametrize(
    ("view", "shape", "expected"),
    [
        (StridedView(0, (16,), (1,)), (4, 4), Box((0, 0), (4, 4))),
        (StridedView(4, (8,), (1,)), (4, 4), Box((1, 0), (2, 4))),
        (StridedView(4, (6,), (1,)), (4, 4), NoBox("not row-major of the parameter")),
        (StridedView(2, (3, 1, 2), (4, -7, 1)), (4, 4), Box((0, 2), (3, 2))),
        (StridedView(3, (3, 2), (4, 1)), (4, 4), NoBox("runs on into the next row")),
        (StridedView(12, (2, 4), (4, 1)), (4, 4), Box((3, 0), (2, 4))),
        (StridedView(-4, (4,), (1,)), (4, 4), Box((-1, 0), (1, 4))),
        (StridedView(3, (4,), (-1,)), (4, 4), NoBox("negative stride")),
        (StridedView(3, (4,), (0,)), (4, 4), NoBox("stride 0")),
        (StridedView(0, (1,), (5,)), (), Box((), ())),
        (StridedView(0, (2,), (1,)), (), NoBox("more than the element of a scalar")),
        (StridedView(0, (2,), (1,)), (3, 0), NoBox("elements of an empty parameter")),
        (StridedView(2, (), ()), (0,), Box((2,), (1,))),
        (StridedView(0, (2, 8), (8, 1)), (1, 1, 8), Box((0, 0, 0), (2, 1, 8))),
    ],
)
def test_boxes_by_hand(view: StridedView, shape: tuple[int, ...], expected: Box | NoBox) -> None:
    assert box_of(view, shape) == expected


@pytest.mark.parametrize(
    ("view", "shape", "expected"),
    [
        (StridedView(4, (4, 0), (8, 1)), (4, 8), Box((0, 4), (4, 0))),
        (StridedView(8, (4, 0), (8, 1)), (4, 8), Box((0, 8), (4, 0))),
        (StridedView(32, (0, 8), (8, 1)), (4, 8), Box((4, 0), (0, 8))),
        (StridedView(0, (3, 0), (0, 1)), (3, 0), Box((0, 0), (3, 0))),
        (StridedView(0, (0,), (1,)), (4, 8), NoBox("empty, with other axes")),
        (StridedView(-3, (4, 0), (8, 1)), (4, 8), NoBox("empty, at no element")),
        (StridedView(0, (5, 0), (8, 1)), (4, 8), NoBox("empty, at no element")),
        (StridedView(90, (4, 0), (8, 1)), (4, 8), NoBox("empty, at no element")),
    ],
)
def test_views_of_no_elements_are_boxes_where_they_have_a_place(
    view: StridedView, shape: tuple[int, ...], expected: Box | NoBox
) -> None:
    assert box_of(view, shape) == expected


def test_the_least_location_saves_a_piece_and_pieces_of_nothing_are_left_out() -> None:
    both = piece([4], (0, [1]), (0, [1]), [1, 3])
    nothing = piece([0, 7], (50, [0, 0]), (0, [0, 0]), [3])
    found = chunks_of(shard_map([4], {1: ([4], [both]), 3: ([4], [nothing, both])}))
    assert found == (Chunk(1, Box((0,), (4,))),)


def test_nobody_saves_a_piece_whose_least_location_is_elsewhere() -> None:
    assert chunks_of(shard_map([4], {1: ([4], [piece([4], (0, [1]), (0, [1]), [3])])})) == ()


def test_a_piece_that_is_no_box_is_named() -> None:
    odd = piece([2], (0, [2]), (0, [1]), [1])
    assert chunks_of(shard_map([4], {1: ([2], [odd])})) == NoBox("not row-major of the parameter")


@given(boxes(), st.integers(0, 3))
def test_misfilled_counts_every_element(made: tuple[tuple[int, ...], Box], axis: int) -> None:
    shape, box = made
    whole = Box((0,) * len(shape), shape)
    assert misfilled([whole], shape) is None
    assert misfilled([whole, box], shape) == Misfilled(box.offsets, 2)
    assert (misfilled([box], shape) is None) == (box == whole)
    assert misfilled([], shape) == Misfilled(whole.offsets, 0)
    if axis < len(shape):
        cut = box.offsets[axis]
        low = Box(whole.offsets, (*shape[:axis], cut, *shape[axis + 1 :]))
        high = Box(
            (*whole.offsets[:axis], cut, *whole.offsets[axis + 1 :]),
            (*shape[:axis], shape[axis] - cut, *shape[axis + 1 :]),
        )
        assert misfilled([low, high], shape) is None
        outside = Box((shape[0], *box.offsets[1:]), box.sizes)
        assert misfilled([low, high, outside], shape) == Misfilled(outside.offsets, 1)
