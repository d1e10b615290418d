"""Sets of disjoint boxes that are easy, hard or impossible to take apart by clean cuts."""

from __future__ import annotations

import itertools
import random

from verifier.geometry.digits import Box


def grid(*counts: int, width: int = 3) -> list[Box]:
    return [
        (tuple(width * k for k in cell), tuple(width * k + width for k in cell))
        for cell in itertools.product(*map(range, counts))
    ]


def guillotine(rng: random.Random, count: int, axes: int, extent: int) -> list[Box]:
    """A cube cut again and again across one of its parts."""
    boxes: list[Box] = [((0,) * axes, (extent,) * axes)]
    for _ in range(20 * count):
        k, axis = rng.randrange(len(boxes)), rng.randrange(axes)
        lows, highs = boxes[k]
        if len(boxes) == count or highs[axis] - lows[axis] < 2:
            continue
        at = rng.randint(lows[axis] + 1, highs[axis] - 1)
        boxes[k] = (lows, (*highs[:axis], at, *highs[axis + 1 :]))
        boxes.append(((*lows[:axis], at, *lows[axis + 1 :]), highs))
    rng.shuffle(boxes)
    return boxes


def pinwheel(x: int = 0, y: int = 0) -> list[Box]:
    """Four bars around a centre: disjoint, and every line goes through one of them."""
    bars = [((0, 0), (2, 1)), ((2, 0), (3, 2)), ((1, 2), (3, 3)), ((0, 1), (1, 3)), ((1, 1), (2, 2))]
    return [((x + a, y + b), (x + c, y + d)) for (a, b), (c, d) in bars]


def staircase(steps: int) -> list[Box]:
    """Strips cut off in turn from the left and from below."""
    boxes: list[Box] = []
    x = y = 0
    for step in range(steps):
        if step % 2:
            boxes.append(((x, y), (2 * steps, y + 1)))
            y += 1
        else:
            boxes.append(((x, y), (x + 1, 2 * steps)))
            x += 1
    return boxes
