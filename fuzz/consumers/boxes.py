"""Hyper-rectangles of a parameter, the only blocks that most checkpoint libraries know.

A strided view is a box when its addresses are, each once, those of a box of the row-major parameter. How it
is written does not matter: its axes may be merged, factored or in another order.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from verifier.geometry.strided import Axis, StridedView, coordinates, row_major
from verifier.model.shard_map import ShardMap

MOST_ELEMENTS = 200_000
"""Larger parameters are not walked."""


@dataclass(frozen=True, slots=True)
class Box:
    """The elements ``offsets[k] <= index[k] < offsets[k] + sizes[k]`` of a parameter, one entry per axis.

    Along the first axis it may reach out of the parameter: there an address still names one element.
    """

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def is_empty(self) -> bool:
        """True when no element lies in it."""
        return 0 in self.sizes

    def within(self, shape: Sequence[int]) -> bool:
        """True when it does not reach out of a parameter of that shape."""
        return all(
            0 <= offset <= offset + size <= extent
            for offset, size, extent in zip(self.offsets, self.sizes, shape, strict=True)
        )

    def view(self, shape: Sequence[int]) -> StridedView:
        """The box as a strided view of a parameter of that shape."""
        steps = row_major(shape)
        offset = sum(o * step for o, step in zip(self.offsets, steps, strict=True))
        return StridedView(offset, self.sizes, steps)


@dataclass(frozen=True, slots=True)
class NoBox:
    """A view is no box, for a reason in a few words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A box, and the rank that saves it."""

    rank: int
    box: Box


def chunks_of(shard_map: ShardMap) -> tuple[Chunk, ...] | NoBox:
    """The boxes that a checkpoint is made of, in the order of the map, or why some piece is none.

    A piece is saved by the least of its locations, as planners do that drop replicas. A piece of no elements
    is a box of none where its numbers name one in bounds; other ones are left out.
    """
    found: list[Chunk] = []
    for rank, _, piece in shard_map.pieces():
        if piece.locations[:1] != (rank,):
            continue
        box = box_of(piece.source, shard_map.logical_shape)
        if isinstance(box, Box):
            found.append(Chunk(rank, box))
        elif not piece.is_empty:
            return box
    return tuple(found)


def box_of(view: StridedView, shape: Sequence[int]) -> Box | NoBox:
    """The box of a parameter of that shape with the addresses of the view, or why there is none."""
    if view.is_empty:
        return _empty_box(view, shape)
    walked = [(stride, extent) for stride, extent in zip(view.strides, view.shape, strict=True) if extent > 1]
    if any(stride < 0 for stride, _ in walked):
        return NoBox("negative stride")
    if any(stride == 0 for stride, _ in walked):
        return NoBox("stride 0")
    if 0 in shape[1:]:
        return NoBox("elements of an empty parameter")
    if not shape:
        inside = not walked and view.offset == 0
        return Box((), ()) if inside else NoBox("more than the element of a scalar")
    sizes = _sizes(_merged(sorted(walked)), shape)
    if sizes is None:
        return NoBox("not row-major of the parameter")
    offsets = coordinates(view.offset, shape)
    if any(o + n > extent for o, n, extent in zip(offsets[1:], sizes[1:], shape[1:], strict=True)):
        return NoBox("runs on into the next row")
    return Box(offsets, sizes)


def _merged(axes: Iterable[Axis]) -> list[Axis]:
    """Ascending axes, two joined where the second goes on where the first ends."""
    merged: list[Axis] = []
    for stride, extent in axes:
        if merged and stride == merged[-1][0] * merged[-1][1]:
            stride, inner = merged.pop()
            extent *= inner
        merged.append((stride, extent))
    return merged


def _sizes(axes: Iterable[Axis], shape: Sequence[int]) -> tuple[int, ...] | None:
    """How far merged axes reach along each axis of the parameter; None where they do not follow its rows.

    All but the last part of an axis fills its row; the first axis of the parameter has no end.
    """
    steps, sizes = row_major(shape), [1] * len(shape)
    at = len(shape) - 1
    for stride, extent in axes:
        while at > 0 and (steps[at] != stride or shape[at] == 1):
            at -= 1
        if at < 0 or steps[at] != stride:
            return None
        while at > 0 and extent > shape[at]:
            extent, rest = divmod(extent, shape[at])
            if rest:
                return None
            sizes[at] = shape[at]
            at -= 1
        sizes[at] = extent
        at -= 1
    return tuple(sizes)


def _empty_box(view: StridedView, shape: Sequence[int]) -> Box | NoBox:
    """A box of the extents of an empty view, in bounds and where its offset says."""
    if len(view.shape) != len(shape):
        return NoBox("empty, with other axes")
    offsets, left = [], view.offset
    for step, size, extent in zip(row_major(shape), view.shape, shape, strict=True):
        offsets.append(min(left // step, extent - size) if step else 0)
        left -= offsets[-1] * step
    box = Box(tuple(offsets), view.shape)
    return box if left == 0 and box.within(shape) else NoBox("empty, at no element")


@dataclass(frozen=True, slots=True)
class Misfilled:
    """An element that lies in no box or in several, or, outside of the parameter, in any."""

    element: tuple[int, ...]
    boxes: int


def misfilled(boxes: Iterable[Box], shape: Sequence[int]) -> Misfilled | None:
    """The least such element, by a walk; None where the boxes fill the parameter, each element once.

    Raises:
        ValueError: there are too many elements to visit.
    """
    listed = [box for box in boxes if not box.is_empty]
    if math.prod(shape) + sum(math.prod(box.sizes) for box in listed) > MOST_ELEMENTS:
        raise ValueError(f"more than {MOST_ELEMENTS} elements to visit")
    visits = Counter(element for box in listed for element in elements(box))
    demanded = set(itertools.product(*map(range, shape)))
    wrong = [e for e in demanded | visits.keys() if visits[e] != (e in demanded)]
    return Misfilled(min(wrong), visits[min(wrong)]) if wrong else None


def elements(box: Box) -> Iterator[tuple[int, ...]]:
    """Every element of a box."""
    return itertools.product(*(range(o, o + n) for o, n in zip(box.offsets, box.sizes, strict=True)))
