"""Shrinking: the least example, found by greedy steps, that still shows what the first one shows.

Less means less to read: fewer pieces, ranks, axes, then smaller numbers (``Example.order``). The result is a
local minimum: none of the reductions makes it less and keeps what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from fuzz.shrinking import numbers, structure
from fuzz.shrinking.example import Example
from fuzz.shrinking.joins import joined_pieces
from fuzz.shrinking.sizes import smaller_sizes

Reduction = Callable[[Example], Iterator[Example]]
Still = Callable[[Example], bool]

TRIES = 10_000
"""Most examples that are tried; small maps need some hundreds."""
TANGLED = 2
"""Examples of more pieces a map are taken apart, in case that their blocks keep them from becoming less."""
MOST_ELEMENTS = 200
"""Examples of more elements are not taken apart."""

REDUCTIONS: tuple[Reduction, ...] = (
    structure.without_demands,
    structure.without_ranks,
    structure.without_half_of_the_pieces,
    structure.without_a_piece,
    smaller_sizes,
    structure.without_an_axis,
    joined_pieces,
    structure.merged_axes,
    numbers.lower_extents,
    numbers.smaller_parameter,
    numbers.smaller_shards,
    numbers.lower_offsets_together,
    numbers.lower_offsets,
    numbers.lower_strides,
    numbers.plain_scales,
    numbers.fewer_locations,
    numbers.plain_ranks,
    numbers.lower_demands,
)
"""From coarse to fine. A step is taken only where the example becomes less."""


def shrink(example: Example, still: Still, *, tries: int = TRIES) -> Example:
    """The least example found for which ``still`` holds; deterministic if ``still`` is.

    Raises:
        ValueError: ``still`` does not hold for the example to begin with.
    """
    if not still(example):
        raise ValueError("the example does not show what shrinking should keep")
    descent = _Descent(example, still, tries)
    descent.run()
    single = _taken_apart(descent.best)
    if single is not None and still(single):
        other = _Descent(single, still, descent.left)
        other.run()
        if other.best.order < descent.best.order and other.best.defect <= descent.best.defect:
            return other.best
    return descent.best


def _taken_apart(example: Example) -> Example | None:
    """The example in single elements, where irregular blocks may hide a smaller one and are not too many."""
    sizes = [piece.numel for _, shard_map in example.maps() for _, _, piece in shard_map.pieces()]
    if not TANGLED * len(list(example.maps())) < len(sizes) < sum(sizes) <= MOST_ELEMENTS:
        return None
    try:
        return structure.in_single_elements(example)
    except ValueError:  # numbers that no map can hold
        return None


def steps(example: Example) -> Iterator[Example]:
    """Every example that one reduction makes of this one and that is less."""
    for reduction in REDUCTIONS:
        for _, smaller in _less(reduction, example, 0):
            yield smaller


def _less(reduction: Reduction, example: Example, position: int) -> Iterator[tuple[int, Example]]:
    """What a reduction makes of an example, from a position on: less of it, and no farther from clean."""
    order, defect = example.order, example.defect
    for at, smaller in enumerate(islice(reduction(example), position, None), position):
        if smaller.order < order and smaller.defect <= defect:
            yield at, smaller


@dataclass(slots=True)
class _Descent:
    best: Example
    still: Still
    left: int

    def run(self) -> None:
        """Every reduction as often as it helps, until none does."""
        before = None
        while self.best is not before:
            before = self.best
            for reduction in REDUCTIONS:
                self._through(reduction)

    def _through(self, reduction: Reduction) -> None:
        position: int | None = 0
        while position is not None and self.left:  # each step goes on from where the last one was found
            position = self._step(reduction, position)

    def _step(self, reduction: Reduction, position: int) -> int | None:
        for at, smaller in _less(reduction, self.best, position):
            if not self.left:
                return None
            self.left -= 1
            if self.still(smaller):
                self.best = smaller
                return at
        return None
