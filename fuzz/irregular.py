"""Tilings by blocks no tensor library would make: wrapped rows, coprime strides, boxes of digit grids."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from verifier.geometry.strided import StridedView

ODD_STRIDES = ((3, 1), (2, 3), (3, 2), (2, 5), (3, 4), (5, 3), (1, 7), (6, 4), (4, 9))
ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Box:
    """A box of a digit grid: the least digit and the extent on each axis."""

    lows: tuple[int, ...]
    extents: tuple[int, ...]

    def offset(self, strides: Sequence[int]) -> int:
        """The address of its least corner."""
        return sum(low * stride for low, stride in zip(self.lows, strides, strict=True))


def whole(extents: Sequence[int]) -> Box:
    """The box that is the whole grid."""
    return Box((0,) * len(extents), tuple(extents))


def guillotine(rng: random.Random, box: Box, cuts: int) -> list[Box]:
    """The box in up to ``cuts + 1`` parts, by cuts through random parts on random axes."""
    boxes = [box]
    for _ in range(cuts):
        part = boxes.pop(rng.randrange(len(boxes)))
        axes = [axis for axis, extent in enumerate(part.extents) if extent > 1]
        if not axes:
            boxes.append(part)
            continue
        axis = rng.choice(axes)
        at = rng.randint(1, part.extents[axis] - 1)
        for start, extent in ((0, at), (at, part.extents[axis] - at)):
            lows, extents = list(part.lows), list(part.extents)
            lows[axis] += start
            extents[axis] = extent
            boxes.append(Box(tuple(lows), tuple(extents)))
    rng.shuffle(boxes)
    return boxes


def visited(offset: int, shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The addresses of a block."""
    return [
        offset + sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, shape))
    ]


def strided_tiling(rng: random.Random, size: int) -> list[StridedView]:
    """Views that visit each of ``0..size`` exactly once: odd blocks while they fit, then runs."""
    free = set(range(size))
    views: list[StridedView] = []
    for _ in range(ATTEMPTS):
        if not free:
            break
        strides = rng.choice(ODD_STRIDES)
        shape = (rng.randint(1, 4), rng.randint(1, 4))
        offset = rng.choice(sorted(free))
        cells = visited(offset, shape, strides)
        if len(set(cells)) == len(cells) and free.issuperset(cells):
            free.difference_update(cells)
            views.append(StridedView(offset, shape, strides))
    while free:
        start = min(free)
        step = 1 if start + 1 in free else rng.randint(1, 3)
        extent = 1
        while start + extent * step in free and extent < 12:
            extent += 1
        free.difference_update(visited(start, (extent,), (step,)))
        views.append(StridedView(start, (extent,), (step,)))
    rng.shuffle(views)
    return views


def wrapped_tiling(rng: random.Random, rows: int, columns: int) -> list[StridedView]:
    """A block that starts late in a row and runs on into the next one, and runs for the rest."""
    width = rng.randint(1, columns)
    offset = rng.randint(0, columns - 1)
    height = rows - 1 if offset + width > columns else rows
    block = StridedView(offset, (height, width), (columns, 1))
    taken = set(visited(offset, block.shape, block.strides))
    views = [block]
    start = 0
    for cell in range(rows * columns + 1):
        if cell in taken or cell == rows * columns:
            if start < cell:
                views.append(StridedView(start, (cell - start,), (1,)))
            start = cell + 1
    rng.shuffle(views)
    return views
