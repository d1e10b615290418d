"""Strided views of a flat address space, in exact integers.

A view is the triple that ``torch.as_strided`` takes: index ``i`` with ``0 <= i_k < shape[k]``
reaches the address ``offset + sum(i_k * strides[k])``. Everything counts elements, never bytes.

Theory: T1 (normal form), T2 (hull).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from verifier.geometry.integers import admitted

INT64_MAX = 2**63 - 1
"""The largest address, count or stride that torch can be handed."""

MOST_AXES = 64
"""Axes of one view; torch itself has no tensor of more."""

Axis = tuple[int, int]
"""(stride, extent) of one axis in normal form."""


def require_integers(what: str, values: object) -> None:
    """Refuse anything but a tuple of plain integers: ``math.prod`` of numpy integers wraps around.

    Inside ``admitting`` the admitted type is let through as well.

    Raises:
        TypeError: ``values`` is no plain tuple, or an item is no plain int (True and 4.0 are none).
    """
    if type(values) is not tuple:
        raise TypeError(f"{what} is a {type(values).__name__}, not a tuple; convert it with tuple()")
    for value in values:
        if type(value) is not int and type(value) is not admitted():
            raise TypeError(
                f"{what} holds a {type(value).__name__}, not a plain int; convert numpy integers with int()"
            )


@dataclass(frozen=True, slots=True)
class StridedView:
    """One strided block of addresses.

    Raises:
        TypeError: offset, shape or strides are not made of plain integers in tuples.
        ValueError: strides and shape differ in length, an extent is negative, or there are over 64 axes.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def __post_init__(self) -> None:
        shape, strides = self.shape, self.strides
        # One test for all numbers: maps have tens of thousands of views.
        plain = (
            type(shape) is tuple
            and type(strides) is tuple
            and {*map(type, (self.offset, *shape, *strides))} == {int}
        )
        if not plain:
            require_integers("offset", (self.offset,))
            require_integers("shape", shape)
            require_integers("strides", strides)
        if len(shape) != len(strides):
            raise ValueError(f"{len(shape)} extents but {len(strides)} strides; give one stride per axis")
        if len(shape) > MOST_AXES:
            raise ValueError(f"{len(shape)} axes, over the limit of {MOST_AXES}; merge axes")
        # The least of symbolic extents would have to be looked for, and each look may split a proof in two.
        if shape and (min(shape) < 0 if plain else any(extent < 0 for extent in shape)):
            axis = next(axis for axis, extent in enumerate(shape) if extent < 0)
            raise ValueError(f"negative extent at axis {axis}; write 0 for an empty block")

    @property
    def numel(self) -> int:
        """How many index tuples the view has."""
        return math.prod(self.shape)

    @property
    def is_empty(self) -> bool:
        """True when no index exists; an empty view touches nothing, whatever its offset."""
        return 0 in self.shape

    @property
    def hull(self) -> tuple[int, int]:
        """The least and the greatest address reached (T2). Meaningless for an empty view."""
        lowest = highest = self.offset
        for extent, stride in zip(self.shape, self.strides, strict=True):
            if stride < 0:
                lowest += (extent - 1) * stride
            else:
                highest += (extent - 1) * stride
        return lowest, highest

    @property
    def lowest(self) -> int:
        """The least address reached (T2). Meaningless for an empty view."""
        return self.hull[0]

    @property
    def highest(self) -> int:
        """The greatest address reached (T2). Meaningless for an empty view."""
        return self.hull[1]

    def address(self, index: Sequence[int]) -> int:
        """The address that ``index`` reaches."""
        return self.offset + sum(i * s for i, s in zip(index, self.strides, strict=True))


class NormalView(NamedTuple):
    """The multiset of addresses of a view, freed of how it was written (T1).

    ``axes`` holds (stride, extent) with stride >= 1 and extent >= 2, sorted by stride, adjacent axes
    merged where ``stride_hi == extent_lo * stride_lo``. ``multiplicity`` is the product of the extents of
    the stride-0 axes: how often the whole block is visited.
    """

    offset: int
    axes: tuple[Axis, ...]
    multiplicity: int = 1

    @property
    def highest(self) -> int:
        """The greatest address reached."""
        reached = self.offset
        for stride, extent in self.axes:
            reached += stride * (extent - 1)
        return reached

    @property
    def distinct(self) -> int:
        """How many index tuples remain after the stride-0 axes are gone."""
        return math.prod(n for _, n in self.axes)


def normal_form(view: StridedView) -> NormalView | None:
    """The normal form of a view, or None for an empty one.

    Theory: T1.
    """
    offset = view.offset
    multiplicity = 1
    axes: list[Axis] = []
    ascending = True
    # The last axis of a tensor is mostly the densest, so that going backwards there is nothing to sort.
    for extent, stride in zip(view.shape[::-1], view.strides[::-1], strict=True):
        if extent == 1:
            continue
        if extent == 0:
            return None
        if stride == 0:
            multiplicity *= extent
            continue
        if stride < 0:
            offset += stride * (extent - 1)
            stride = -stride
        if axes:
            low_stride, low_extent = axes[-1]
            if stride == low_stride * low_extent:
                axes[-1] = (low_stride, low_extent * extent)
                continue
            ascending = ascending and stride >= low_stride
        axes.append((stride, extent))
    if not ascending:
        axes.sort()
        axes = _merged(axes)
    return NormalView(offset, tuple(axes), multiplicity)


def _merged(axes: list[Axis]) -> list[Axis]:
    merged = [axes[0]]
    for stride, extent in axes[1:]:
        low_stride, low_extent = merged[-1]
        if stride == low_stride * low_extent:
            merged[-1] = (low_stride, low_extent * extent)
        else:
            merged.append((stride, extent))
    return merged


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a contiguous row-major tensor of ``shape``."""
    strides = [1] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        strides[k] = strides[k + 1] * shape[k + 1]
    return tuple(strides)


def coordinates(address: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The element of a row-major tensor at a flat address; the first axis takes what is left over."""
    element: list[int] = []
    for stride in row_major(shape):
        quotient, address = divmod(address, stride) if stride else (0, address)
        element.append(quotient)
    return tuple(element)


def intervals(addresses: Iterable[int]) -> list[tuple[int, int]]:
    """Sorted distinct addresses as maximal half-open runs ``[low, high)``."""
    runs: list[tuple[int, int]] = []
    for address in sorted(set(addresses)):
        if runs and runs[-1][1] == address:
            runs[-1] = (runs[-1][0], address + 1)
        else:
            runs.append((address, address + 1))
    return runs
