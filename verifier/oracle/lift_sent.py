"""The tensors that a function is shown: the same for all ranks, so that each is made once.

Their elements are narrow numbers: a large tensor is written and read some ten times for each rank, and that
is what lifting costs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Elements = NDArray[np.int8] | NDArray[np.int32]
"""Of a tensor, in row-major order."""

MOST_DIGITS = 31
"""Of a random value, in bits."""


class Sent:
    """Tensors of one size; whoever is given one must not write to it."""

    def __init__(self, numel: int) -> None:
        self.numel = numel
        self._made: dict[tuple[object, ...], Elements] = {}

    def equal(self, value: int) -> Elements:
        """All elements are one small value."""
        return self._once(("equal", value), lambda: np.full(self.numel, value, dtype=np.int8))

    def mixed(self) -> Elements:
        """Small values that differ."""
        return self._once(
            ("mixed",),
            lambda: np.random.default_rng(self.numel).integers(1, 16, self.numel, dtype=np.int8),
        )

    def digits(self, weight: int, base: int) -> Elements:
        """One more than a digit of the number of each element."""

        def made() -> Elements:
            number = np.arange(self.numel, dtype=np.int32)
            if weight > 1:
                number //= np.int32(weight)
            if self.numel > weight * base:
                number %= np.int32(base)
            number += np.int32(1)
            return number

        return self._once(("digits", weight, base), made)

    def random(self, turn: int, digits: int, room: int, *, signed: bool) -> Elements:
        """Values of so many binary digits, some of them shifted up by as many bits as there is room for."""

        def made() -> Elements:
            random = np.random.default_rng((digits, turn))
            elements = random.integers(1, 2**digits, self.numel, dtype=np.int32)
            if room:
                elements <<= random.integers(0, room, self.numel, dtype=np.int8, endpoint=True)
            if signed:
                elements *= 1 - 2 * random.integers(0, 2, self.numel, dtype=np.int8)
            return elements

        return self._once(("random", turn, digits, room, signed), made)

    def _once(self, key: tuple[object, ...], make: Callable[[], Elements]) -> Elements:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]
