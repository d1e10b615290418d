"""T15: declared cells that nothing visits become visits of their own."""

from __future__ import annotations

import random

from verifier.geometry.equations import TooHard
from verifier.geometry.strided import StridedView
from verifier.obligations.declared import unvisited


def cells(views: tuple[StridedView, ...]) -> list[int]:
    return [a for v in views for a in range(v.offset, v.offset + v.shape[0])]


def test_T15_exactly_the_unvisited_cells_inside_the_space_as_runs() -> None:
    rng = random.Random(15)
    for _ in range(500):
        size = rng.randrange(1, 30)
        views = tuple(
            StridedView(
                rng.randrange(-3, size),
                (rng.randrange(3), rng.randrange(1, 4)),
                (rng.randrange(-3, 8), rng.randrange(3)),
            )
            for _ in range(rng.randrange(3))
        )
        visited = {v.address((i, j)) for v in views for i in range(v.shape[0]) for j in range(v.shape[1])}
        declared = [rng.randrange(-2, size + 3) for _ in range(rng.randrange(8))]
        found = unvisited(declared, views, size)
        assert not isinstance(found, TooHard)
        assert cells(found) == sorted({c for c in declared if 0 <= c < size} - visited)


def test_no_declared_cells_cost_nothing() -> None:
    assert unvisited((), (StridedView(0, (2**62,), (1,)),), 2**62) == ()
