"""Random numbers that are read off the bytes of a fuzzer, so that generators of cases can be driven by bytes.

Every layout, dressing and mutant is a function of a ``random.Random``; given one that reads bytes it makes
structured inputs, and a fuzzer that changes a byte changes one decision.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from fuzz.cases import Case, Selection, compose

T = TypeVar("T")

SMALL = Selection(size=32)
"""The cases of the targets: what is wrong shows on few elements, and few are walked quickly."""


class BytesRandom(random.Random):
    """A source of random numbers that reads its bits from bytes, and zeros after their end.

    Each decision takes whole bytes, so that what follows it does not move when it changes. Fit for
    ``random``, ``randint``, ``choice``, ``sample`` and ``shuffle``, which end whatever the bytes.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._data = data
        self._at = 0

    def getrandbits(self, k: int, /) -> int:
        """The low ``k`` bits of the next bytes, as many as it takes to hold them."""
        width = (k + 7) // 8
        chunk = self._data[self._at : self._at + width].ljust(width, b"\0")
        self._at += width
        return int.from_bytes(chunk, "little") & ((1 << k) - 1)

    def random(self) -> float:
        """The next byte as a share of 256."""
        return self.getrandbits(8) / 256

    def sample(self, population: Sequence[T], k: int, *, counts: Iterable[int] | None = None) -> list[T]:
        """``k`` members in random order. The standard method draws a repeated one again, here for ever."""
        if counts is not None:
            pairs = zip(population, counts, strict=True)
            population = [member for member, count in pairs for _ in range(count)]
        pool = list(population)
        if not 0 <= k <= len(pool):
            raise ValueError(f"{k} of {len(pool)} cannot be chosen")
        return [pool.pop(self.randrange(len(pool))) for _ in range(k)]

    def rest(self) -> bytes:
        """The bytes that were not read yet."""
        return self._data[self._at :]


def case_from(rng: BytesRandom, selection: Selection = SMALL) -> Case:
    """A case of the selection. Its first bytes are the layout, and which mutant it has, if any."""
    layout, right = rng.choice(selection.layouts), rng.random() < selection.right
    mutants = () if right else (rng.choice(selection.mutants),)
    chosen = replace(selection, mutants=mutants, right=float(right))
    seed = rng.getrandbits(8)
    return replace(compose(rng, chosen, layout), seed=seed)
