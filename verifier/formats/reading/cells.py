"""The cells of a grid, numbered in row-major order and never listed: a file can state any number of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cells:
    """A grid of so many cells along each axis; one cell when it has no axes."""

    counts: tuple[int, ...]

    @property
    def count(self) -> int:
        """All cells."""
        return math.prod(self.counts)

    def position(self, indices: tuple[int, ...]) -> int | None:
        """The number of a cell, None when the grid has none there."""
        if len(indices) != len(self.counts):
            return None
        position = 0
        for index, count in zip(indices, self.counts, strict=True):
            if not 0 <= index < count:
                return None
            position = position * count + index
        return position

    def indices(self, position: int) -> tuple[int, ...]:
        """The place of a cell."""
        found: list[int] = []
        for count in reversed(self.counts):
            position, index = divmod(position, count)
            found.append(index)
        return tuple(reversed(found))

    def words(self) -> str:
        """``2 x 4``."""
        return " x ".join(map(str, self.counts)) or "1"


def first_absent(positions: Iterable[int]) -> int:
    """The least number from 0 on that is not among these distinct ones."""
    expected = 0
    for position in sorted(positions):
        if position != expected:
            break
        expected += 1
    return expected
