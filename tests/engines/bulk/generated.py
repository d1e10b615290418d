"""Random boxes of small parameters, right and wrong, and the truth about them by listing all elements."""

from __future__ import annotations

import itertools
import random
from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from verifier.model.box_map import BoxMap

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Offsets and sizes."""


@dataclass(frozen=True, slots=True)
class Made:
    """A parameter and the boxes that claim to tile it."""

    shape: tuple[int, ...]
    boxes: tuple[Box, ...]

    def columns(self) -> BoxMap:
        return box_map(self.shape, self.boxes)


def box_map(shape: Sequence[int], boxes: Sequence[Box], name: str = "p") -> BoxMap:
    return BoxMap(
        name=name,
        logical_shape=tuple(shape),
        offsets=array("q", [number for offsets, _ in boxes for number in offsets]),
        sizes=array("q", [number for _, sizes in boxes for number in sizes]),
        count=len(boxes),
    )


@dataclass(frozen=True, slots=True)
class Truth:
    """What is wrong, found by listing.

    Attributes:
        outside: (box, first dimension it leaves) of all boxes that leave the parameter.
        holders: the boxes of each element that has any; meant only where nothing is outside.
        missing: the elements without one, ascending.
    """

    outside: tuple[tuple[int, int], ...]
    holders: dict[tuple[int, ...], list[int]]
    missing: tuple[tuple[int, ...], ...]

    @property
    def shared(self) -> list[tuple[int, ...]]:
        """Elements in several boxes, ascending."""
        return sorted(element for element, boxes in self.holders.items() if len(boxes) > 1)

    @property
    def tiled(self) -> bool:
        return not (self.outside or self.missing or self.shared)


def truth(made: Made) -> Truth:
    outside, holders = [], defaultdict(list)
    for position, (offsets, sizes) in enumerate(made.boxes):
        leaves = [
            axis
            for axis, (low, size, extent) in enumerate(zip(offsets, sizes, made.shape, strict=True))
            if low < 0 or low + size > extent
        ]
        outside += [(position, axis) for axis in leaves[:1]]
        for element in itertools.product(*map(range, offsets, map(sum, zip(offsets, sizes, strict=True)))):
            holders[element].append(position)
    missing = [e for e in itertools.product(*map(range, made.shape)) if e not in holders]
    return Truth(tuple(outside), dict(holders), tuple(missing))


# Boxes that tile.


def guillotine(rng: random.Random, shape: tuple[int, ...], cuts: int) -> list[Box]:
    """Random straight cuts through one box each; a cut at an end leaves an empty box."""
    boxes: list[Box] = [((0,) * len(shape), shape)]
    for _ in range(cuts if shape else 0):
        position, axis = rng.randrange(len(boxes)), rng.randrange(len(shape))
        offsets, sizes = boxes[position]
        at = rng.randint(0, sizes[axis])
        boxes[position] = (offsets, changed(sizes, axis, at))
        boxes.append(
            (changed(offsets, axis, offsets[axis] + at), changed(sizes, axis, sizes[axis] - at)),
        )
    return boxes


def grid(rng: random.Random, shape: tuple[int, ...]) -> list[Box]:
    """The cells between random marks on every axis, equal marks now and then."""
    axes = []
    for extent in shape:
        marks = sorted([0, extent, *(rng.randint(0, extent) for _ in range(rng.randint(0, 2)))])
        axes.append([(low, high - low) for low, high in itertools.pairwise(marks)])
    cells = itertools.product(*axes)
    return [(tuple(low for low, _ in cell), tuple(size for _, size in cell)) for cell in cells]


def pinwheel(rng: random.Random, shape: tuple[int, ...]) -> list[Box]:
    """Five boxes that no cut divides, in two axes of at least 3."""
    wide = [axis for axis, extent in enumerate(shape) if extent >= 3]
    if len(wide) < 2:
        return grid(rng, shape)
    one, other = rng.sample(wide, 2)
    a, b = sorted(rng.sample(range(1, shape[one]), 2))
    c, d = sorted(rng.sample(range(1, shape[other]), 2))
    flat = [
        ((0, b), (0, c)),
        ((b, shape[one]), (0, d)),
        ((a, shape[one]), (d, shape[other])),
        ((0, a), (c, shape[other])),
        ((a, b), (c, d)),
    ]
    whole: Box = ((0,) * len(shape), shape)
    return [
        (
            changed(changed(whole[0], one, p[0]), other, q[0]),
            changed(changed(whole[1], one, p[1] - p[0]), other, q[1] - q[0]),
        )
        for p, q in flat
    ]


def changed(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return (*values[:position], value, *values[position + 1 :])


# One thing wrong.


def damaged(rng: random.Random, made: Made) -> Made:
    """A box lost, doubled, moved or resized, once or a few times; some damages change nothing."""
    boxes = list(made.boxes)
    for _ in range(rng.choice((1, 1, 2, 3))):
        if not boxes:
            break
        position = rng.randrange(len(boxes))
        offsets, sizes = boxes[position]
        kind = rng.choice(("lost", "doubled", "moved", "resized"))
        if kind == "lost":
            del boxes[position]
        elif kind == "doubled":
            boxes.insert(rng.randint(0, len(boxes)), (offsets, sizes))
        elif made.shape:
            axis, change = rng.randrange(len(made.shape)), rng.choice((-2, -1, 1, 2))
            if kind == "moved":
                offsets = changed(offsets, axis, offsets[axis] + change)
            else:
                sizes = changed(sizes, axis, max(0, sizes[axis] + change))
            boxes[position] = (offsets, sizes)
    return Made(made.shape, tuple(boxes))


def made(rng: random.Random) -> Made:
    """Boxes of a parameter of 0 to 4 dimensions, about half of them right."""
    dimensions = rng.randint(0, 4)
    most = (1, 20, 7, 5, 4)[dimensions]
    shape = tuple(0 if rng.random() < 0.03 else rng.randint(1, most) for _ in range(dimensions))
    boxes = rng.choice(
        (
            lambda: guillotine(rng, shape, rng.randint(0, 9)),
            lambda: grid(rng, shape),
            lambda: pinwheel(rng, shape),
        )
    )()
    rng.shuffle(boxes)
    whole = Made(shape, tuple(boxes))
    return damaged(rng, whole) if rng.random() < 0.6 else whole
