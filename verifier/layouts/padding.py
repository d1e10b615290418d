"""Layouts with shards that are longer than what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class Padded:
    """A map, and the cells of its shards that nothing has to write.

    Attributes:
        shard_map: the map; it is right under ``expectation()``.
        padding: per rank, views of its shard, which share no address and reach all padding.
    """

    shard_map: ShardMap
    padding: Mapping[int, tuple[StridedView, ...]]

    def expectation(self) -> Expectation:
        """What to demand of the map: soundness, the padding declared as holes, each cell of it listed."""
        holes = {
            rank: tuple(
                view.address(index) for view in views for index in product(*(range(n) for n in view.shape))
            )
            for rank, views in self.padding.items()
        }
        return Expectation(holes={rank: cells for rank, cells in holes.items() if cells})
