"""Questions of a few numbers that once took an engine minutes, or would take a careless one for ever.

They are what a file may hold: many axes of one stride, extents and strides past 2^62, long chains of strides,
strides without any order, and many pairs of such views.
"""

from __future__ import annotations

import random

from verifier.geometry.strided import StridedView
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

HUGE = 2**62


def _unrelated(seed: int, axes: int, extent: int, greatest: int) -> StridedView:
    rng = random.Random(seed)
    strides = tuple(rng.randint(greatest // 2, greatest) for _ in range(axes))
    return StridedView(rng.randint(0, greatest), (extent,) * axes, strides)


VIEWS: dict[str, tuple[StridedView, ...]] = {
    "64 axes of stride 1": (StridedView(0, (2,) * 64, (1,) * 64),),
    "32 axes of stride 1": (StridedView(0, (3,) * 32, (1,) * 32),),
    "20 axes of stride 1": (StridedView(0, (2,) * 20, (1,) * 20),),
    "64 axes, most of extent 1": (StridedView(0, (2,) * 19 + (1,) * 45, (1,) * 64),),
    "12 huge axes of one huge stride": (StridedView(0, (HUGE,) * 12, (2**100,) * 12),),
    "12 huge axes of stride 1": (StridedView(0, (HUGE,) * 12, (1,) * 12),),
    "64 axes of stride 0": (StridedView(5, (HUGE,) * 64, (0,) * 64),),
    "a chain of 64 strides that carry": (StridedView(1, (3,) * 64, tuple(2**k for k in range(64))),),
    "a chain of 40 strides, 16 of which carry": (
        StridedView(1, (3,) * 16 + (2,) * 24, tuple(4**k for k in range(40))),
    ),
    "a chain of 300 strides": tuple(
        StridedView(0, (3,) * 60, tuple(4 ** (60 * row + k) for k in range(60))) for row in range(5)
    ),
    "two views of 64 unrelated axes": (_unrelated(1, 64, 2, 2**60), _unrelated(2, 64, 2, 2**60)),
    "two views of 12 unrelated axes": (_unrelated(3, 12, 6, 10**9), _unrelated(4, 12, 6, 10**9)),
    "two views of 64 huge unrelated axes": (
        _unrelated(5, 64, HUGE, 2**100),
        _unrelated(6, 64, HUGE, 2**100),
    ),
    "60 views of 32 unrelated axes": tuple(_unrelated(k, 32, 3, 2**62) for k in range(60)),
    "12 views of 14 carrying digits": tuple(
        StridedView(k, (3,) * 14, tuple(2**k for k in range(14))) for k in range(12)
    ),
}

SIZES = (100_000, 2**200)


def _pairs(views: tuple[StridedView, ...]) -> tuple[PairView, ...]:
    return tuple(PairView(view, StridedView(0, view.shape, (1,) * len(view.shape))) for view in views)


def _moved(views: tuple[StridedView, ...]) -> tuple[StridedView, ...]:
    """Other views with as many visits."""
    return tuple(StridedView(view.offset + 1, view.shape, view.strides) for view in views)


def _questions() -> dict[str, Question]:
    questions: dict[str, Question] = {}
    for name, views in VIEWS.items():
        for size in SIZES:
            questions[f"tiling of {size}: {name}"] = Tiling(size, views)
            questions[f"packing in {size}: {name}"] = Packing(size, views)
        if all(len(set(view.strides)) == len(view.strides) for view in views):  # else it is asked of no set
            questions[f"units: {name}"] = UnitBoundaries(2**800, 512, views)
        questions[f"same addresses: {name}"] = SameAddresses(views, _moved(views))
        questions[f"same pairs: {name}"] = SamePairs(_pairs(views), _pairs(_moved(views)))
    return questions


QUESTIONS = _questions()
