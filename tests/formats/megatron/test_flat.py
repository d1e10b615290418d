"""Flattened optimizer state: what the distributed optimizer cuts is seen as pieces of the parameter again."""

from __future__ import annotations

from array import array
from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.audited import said
from tests.formats.documents import SAMPLES
from verifier.formats import BoxSubject, read
from verifier.formats.dcp.contents import NOWHERE, StoredTensor
from verifier.formats.megatron.flat import HOLDER, unflattened
from verifier.geometry.strided import row_major
from verifier.model.box_map import COLUMN, BoxMap

Chunk = tuple[tuple[int, ...], int, int]
"""The cell, and the range of it that a rank holds."""


def stored(grid: tuple[int, ...], cell: tuple[int, ...], chunks: list[Chunk]) -> StoredTensor:
    """What Megatron-core stores of a parameter of shape grid x cell."""
    return StoredTensor(
        name="w",
        dtype="float32",
        shape=(*grid, prod(cell)),
        count=len(chunks),
        offsets=array(COLUMN, [number for at, start, _ in chunks for number in (*at, start)]),
        sizes=array(
            COLUMN, [number for _, start, end in chunks for number in (*[1] * len(grid), end - start)]
        ),
        entries=array(COLUMN, [NOWHERE] * len(chunks)),
    )


def subject(tensor: StoredTensor) -> BoxSubject:
    boxes = BoxMap(
        name=tensor.name,
        logical_shape=tensor.shape,
        offsets=tensor.offsets,
        sizes=tensor.sizes,
        count=tensor.count,
    )
    return BoxSubject(boxes=boxes)


def elements(boxes: BoxMap) -> list[tuple[int, ...]]:
    """The elements of all boxes, in their order."""
    found = []
    for position in range(boxes.count):
        offsets, sizes = boxes.box(position)
        found += [tuple(map(sum, zip(offsets, index, strict=True))) for index in product(*map(range, sizes))]
    return found


@st.composite
def cuts(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], list[Chunk]]:
    axes = draw(st.integers(1, 3))
    grid = tuple(draw(st.lists(st.integers(1, 2), min_size=axes, max_size=axes)))
    cell = tuple(draw(st.lists(st.integers(1, 4), min_size=axes, max_size=axes)))
    chunks: list[Chunk] = []
    for at in product(*map(range, grid)):
        ends = sorted(draw(st.lists(st.integers(0, prod(cell)), max_size=3)))
        chunks += [(at, start, end) for start, end in zip([0, *ends], [*ends, prod(cell)], strict=True)]
    return grid, cell, chunks


@given(cuts())
def test_the_boxes_are_the_elements_of_each_chunk_in_the_order_they_are_stored(
    given: tuple[tuple[int, ...], tuple[int, ...], list[Chunk]],
) -> None:
    grid, cell, chunks = given
    shape = tuple(number * extent for number, extent in zip(grid, cell, strict=True))
    whole = unflattened(subject(stored(grid, cell, chunks)), stored(grid, cell, chunks), shape).boxes
    expected = []
    for at, start, end in chunks:
        for address in range(start, end):
            index = [address // stride % extent for stride, extent in zip(row_major(cell), cell, strict=True)]
            expected.append(tuple(a * c + i for a, c, i in zip(at, cell, index, strict=True)))
    assert elements(whole) == expected
    assert (whole.logical_shape, whole.holder) == (shape, HOLDER)
    assert sorted(expected) == [*product(*map(range, shape))]


@pytest.mark.parametrize("shape", [(8, 7), (8, 6, 1), (8,), (4, 6), (16, 6)])
def test_a_shape_that_does_not_fit_the_cells_is_said(shape: tuple[int, ...]) -> None:
    tensor = stored((2, 1), (4, 6), [((0, 0), 0, 24), ((1, 0), 0, 24)])
    (fault,) = unflattened(subject(tensor), tensor, shape).faults
    assert (fault.code, fault.values["stated"], fault.values["found"]) == ("SM507", shape, (2, 1, 24))


@pytest.mark.parametrize("chunk", [((2, 0), 0, 24), ((1, 0), 1, 25), ((1, 0), -1, 24)])
def test_a_chunk_outside_of_its_cell_is_left_to_the_judge_of_boxes(chunk: Chunk) -> None:
    tensor = stored((2, 1), (4, 6), [((0, 0), 0, 24), chunk])
    kept = subject(tensor)
    assert unflattened(kept, tensor, (8, 6)) is kept


def test_a_chunk_over_several_cells_is_no_range_of_one() -> None:
    tensor = stored((2, 1), (4, 6), [((0, 0), 0, 24)])
    tensor.sizes[0] = 2
    kept = subject(tensor)
    assert unflattened(kept, tensor, (8, 6)) is kept


def test_a_recorded_checkpoint_is_seen_with_its_own_shapes() -> None:
    document = read(SAMPLES / "megatron" / "v012_torch_dist_flat")
    shapes = {boxes.boxes.name: boxes.boxes.logical_shape for boxes in document.boxes}
    assert shapes == {"w": (8, 6), "opt.w": (8, 6), "r": (4, 10), "opt.r": (6, 10)}


def test_what_the_file_does_not_say_is_said(tmp_path: Path) -> None:
    found = said(SAMPLES / "megatron" / "damaged" / "flat_shape_lost")
    assert (found.verdict, found.warnings) == ("proved", ("CK203",))
    assert any("mcore_data does not say (4)" in note for note in found.unchecked)
