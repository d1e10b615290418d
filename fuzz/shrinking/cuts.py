"""Runs of one axis taken out of an address space, and what that leaves of strided views.

Everything is done on coordinates, so the cost does not depend on sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from verifier.geometry.strided import StridedView, coordinates, row_major

Shape = tuple[int, ...]
Span = tuple[int, int]
"""(least, greatest) coordinate on one axis."""


class MisfitError(ValueError):
    """What is left is no strided view, or none that is found here."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The part of a view that is taken out: indices from ``start`` to before ``stop`` of one axis."""

    axis: int
    start: int
    stop: int


WHOLE = Taken(-1, 0, 0)


@dataclass(frozen=True, slots=True)
class Cut:
    """A run of one axis taken out of an address space that is read as a row-major ``grid``."""

    grid: Shape
    axis: int
    start: int
    width: int

    @property
    def stop(self) -> int:
        """The first coordinate behind the run."""
        return self.start + self.width

    @property
    def after(self) -> Shape:
        """The grid that is left."""
        return tuple([n - self.width * (axis == self.axis) for axis, n in enumerate(self.grid)])

    def shape_after(self, shape: Shape) -> Shape:
        """A shape of the space afterwards, in the dimensions it had if these are made of axes of the grid."""
        left = list(zip(self.grid, self.after, strict=True))
        found: list[int] = []
        for n in shape:
            size = new = 1
            while left and size < n:
                old, kept = left.pop(0)
                size, new = size * old, new * kept
            if size != n:
                return self.after
            found.append(new)
        return tuple(found) if not left else self.after

    def address_after(self, address: int) -> int | None:
        """Where an address is afterwards, None if it was taken out."""
        place = list(coordinates(address, self.grid))
        if self.start <= place[self.axis] < self.stop:
            return None
        return self._address(place)

    def taken(self, view: StridedView) -> Taken | None:
        """What of a view is taken out, None if nothing.

        Raises:
            MisfitError: that is no run of one axis.
        """
        steps = [steps_of(s, self.grid) for s in view.strides]
        spans = spans_of(view, self.grid)
        if any(low < 0 or high >= n for (low, high), n in zip(spans[1:], self.grid[1:], strict=True)):
            raise MisfitError("the view runs over the end of a row")
        low, high = spans[self.axis]
        if high < self.start or low >= self.stop:
            return None
        if self.start <= low and high < self.stop:
            return WHOLE
        walking = [axis for axis, n in enumerate(view.shape) if n > 1 and steps[axis][self.axis]]
        if len(walking) != 1 or steps[walking[0]][self.axis] < 0:
            raise MisfitError("the view walks the axis in several ways")
        (axis,) = walking
        step, n = steps[axis][self.axis], view.shape[axis]
        first = max(0, -((low - self.start) // step))
        stop = min(n, -((low - self.stop) // step))
        if first >= stop or (first > 0 and stop < n and (stop - first) * step != self.width):
            raise MisfitError("what is left is not evenly spaced")
        return Taken(axis, first, stop)

    def view_after(self, view: StridedView, taken: Taken | None) -> StridedView:
        """A view afterwards, without the part that was taken out of it."""
        shape, offset = view.shape, view.offset
        if taken is not None:
            shape = _shortened(shape, taken)
            offset += view.strides[taken.axis] * (taken.stop if taken.start == 0 else 0)
        moved = self._address(list(coordinates(offset, self.grid)))
        full = row_major(self.after)
        strides = [
            sum(a * b for a, b in zip(steps_of(s, self.grid), full, strict=True)) for s in view.strides
        ]
        return StridedView(moved, shape, tuple(strides))

    def _address(self, place: list[int]) -> int:
        if place[self.axis] >= self.stop:
            place[self.axis] -= self.width
        return sum(a * b for a, b in zip(place, row_major(self.after), strict=True))


def steps_of(stride: int, grid: Shape) -> Shape:
    """A stride as a step on each axis."""
    if stride >= 0:
        return coordinates(stride, grid)
    return tuple([-step for step in coordinates(-stride, grid)])


def spans_of(view: StridedView, grid: Shape) -> list[Span]:
    """How far a view reaches on each axis, as if there were no next row."""
    starts = coordinates(view.offset, grid)
    walked = [(n - 1, steps_of(s, grid)) for n, s in zip(view.shape, view.strides, strict=True) if n > 1]
    spans = []
    for axis, start in enumerate(starts):
        reach = [count * steps[axis] for count, steps in walked]
        spans.append((start + sum(r for r in reach if r < 0), start + sum(r for r in reach if r > 0)))
    return spans


def narrowed(view: StridedView, taken: Taken | None) -> StridedView:
    """A view without a part, everything else where it was.

    Raises:
        MisfitError: the part lies in the middle.
    """
    if taken is None:
        return view
    n, stride = view.shape[taken.axis], view.strides[taken.axis]
    if stride and taken.start > 0 and taken.stop < n:
        raise MisfitError("what is left is not evenly spaced")
    shape = _shortened(view.shape, taken)
    return StridedView(view.offset + stride * (taken.stop if taken.start == 0 else 0), shape, view.strides)


def run_of(view: StridedView, taken: Taken, grid: Shape) -> tuple[int, int, int]:
    """(axis, start, stop) of the hyperplanes in which a part of a view lies.

    Raises:
        MisfitError: the part goes through several axes, or it is the whole view and no run of one axis.
    """
    spans = spans_of(view, grid)
    if not grid or any(low < 0 or high >= n for (low, high), n in zip(spans, grid, strict=True)):
        raise MisfitError("the view is no block of the grid")
    if taken is WHOLE:
        axes = [axis for axis, (low, high) in enumerate(spans) if high - low + 1 < grid[axis]] or [0]
        low, high = spans[axes[0]]
    else:
        steps = steps_of(view.strides[taken.axis], grid)
        axes = [axis for axis, step in enumerate(steps) if step > 0]
        if not axes:
            raise MisfitError("the part stays where it is, or goes backwards")
        start, step = coordinates(view.offset, grid)[axes[0]], steps[axes[0]]
        low, high = start + taken.start * step, start + (taken.stop - 1) * step
    if len(axes) > 1:
        raise MisfitError("the part is no run of one axis")
    return axes[0], low, high + 1


def grids_shown(numel: int, views: Sequence[StridedView]) -> tuple[Shape, Shape]:
    """The grid that the strides of views show, and the one that their strides and widths show."""
    axes = [
        (abs(s), n) for view in views for n, s in zip(view.shape, view.strides, strict=True) if n > 1 and s
    ]
    strides = {stride for stride, _ in axes}
    widths = {stride * n for stride, n in axes}
    return _grid(numel, strides), _grid(numel, strides | widths)


def _grid(numel: int, units: set[int]) -> Shape:
    """A grid in which one step on an axis is one of these units, each a multiple of the one before."""
    chain = [1]
    for unit in (*sorted(units), numel):
        if unit > chain[-1] and unit % chain[-1] == 0 and numel % unit == 0:
            chain.append(unit)
    return tuple([high // low for low, high in pairwise(chain)][::-1]) or (numel,)


def _shortened(shape: Shape, taken: Taken) -> Shape:
    return tuple([n - (taken.stop - taken.start) * (axis == taken.axis) for axis, n in enumerate(shape)])
