"""Cuts of an axis, one after another, give everybody what a list of the elements, cut alike, gives them."""

from __future__ import annotations

import itertools
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.geometry.axis_parts import MOST_PARTS, AxisPart, chunk_widths, refined, strided_chunks

CUTS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), max_size=3)
"""(chunks, positions) of each cut."""


def chunks(elements: list[int], parts: int) -> list[list[int]]:
    """``torch.chunk`` with the empty chunks that DTensor adds."""
    width = -(-len(elements) // parts)
    return [elements[part * width : (part + 1) * width] for part in range(parts)]


def held(size: int, cuts: list[tuple[int, int]]) -> dict[tuple[int, ...], list[int]]:
    """The elements of each owner, by cutting lists of them."""
    owners: dict[tuple[int, ...], list[int]] = {(): list(range(size))}
    for factor, parts in cuts:
        owners = {
            (*owner, position): [
                element for chunk in chunks(elements, factor) for element in chunks(chunk, parts)[position]
            ]
            for owner, elements in owners.items()
            for position in range(parts)
        }
    return owners


@given(size=st.integers(0, 60), cuts=CUTS)
def test_parts_are_what_lists_of_elements_give(size: int, cuts: list[tuple[int, int]]) -> None:
    parts = [AxisPart(size, ())]
    for factor, positions in cuts:
        parts = refined(parts, partial(strided_chunks, factor, positions))
    starts = itertools.accumulate((part.width for part in parts), initial=0)
    ours: dict[tuple[int, ...], list[int]] = {owner: [] for owner in held(size, cuts)}
    for start, (width, owner) in zip(starts, parts, strict=False):
        ours[owner].extend(range(start, start + width))
    assert ours == held(size, cuts)
    assert sum(part.width for part in parts) == size


@given(size=st.integers(0, 200), parts=st.integers(1, 12))
def test_widths_of_chunks_add_up_and_never_rise(size: int, parts: int) -> None:
    widths = chunk_widths(size, parts)
    assert (len(widths), sum(widths)) == (parts, size)
    assert list(widths) == sorted(widths, reverse=True)


def test_more_parts_than_any_job_has_are_refused() -> None:
    parts = refined([AxisPart(2**40, ())], partial(strided_chunks, 1, 2**10))
    with pytest.raises(ValueError, match=f"over {MOST_PARTS} parts"):
        refined(parts, partial(strided_chunks, 2, 2**10))
