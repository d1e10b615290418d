"""One case of a campaign: a layout, perhaps dressed, perhaps with one defect, under an expectation.

A case is a function of (seed, index, size) alone, so that any case can be made again without the others.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from fuzz.dressing import dressed
from fuzz.layouts import LAYOUTS, SIZE
from fuzz.mutants import MUTANTS
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap

KINDS = tuple(LAYOUTS)
RIGHT_SHARE = 0.4
"""Cases left without a defect."""


@dataclass(frozen=True, slots=True)
class Case:
    """A map to judge. ``mutant`` is None where the map is right by construction."""

    seed: int
    index: int
    kind: str
    mutant: str | None
    shard_map: ShardMap
    expectation: Expectation

    @property
    def name(self) -> str:
        """What makes the case again: ``seed:index``."""
        return f"{self.seed}:{self.index}"


def case_at(seed: int, index: int, size: int = SIZE) -> Case:
    """The case of that seed and index; kinds take turns."""
    rng = random.Random(f"{seed}:{index}")
    kind = KINDS[index % len(KINDS)]
    shard_map, expectation = LAYOUTS[kind](rng, size)
    plain = shard_map
    if rng.random() < 0.6:
        shard_map = dressed(rng, shard_map)
    expectation = _demanding(rng, plain, expectation)
    mutant = None
    if rng.random() >= RIGHT_SHARE:
        mutant, shard_map = _mutated(rng, shard_map)
    return Case(seed, index, kind, mutant, replace(shard_map, name=f"{seed}:{index}"), expectation)


def _mutated(rng: random.Random, shard_map: ShardMap) -> tuple[str | None, ShardMap]:
    """The map with the first defect, in random order, that it can have."""
    for name in rng.sample(sorted(MUTANTS), len(MUTANTS)):
        changed = MUTANTS[name](rng, shard_map)
        if changed is not None:
            return name, changed
    return None, shard_map


def _demanding(rng: random.Random, shard_map: ShardMap, expectation: Expectation) -> Expectation:
    """The expectation with further demands that the map meets."""
    if rng.random() < 0.25 and expectation.reference is None:
        expectation = replace(expectation, reference=dressed(rng, shard_map))
    if rng.random() < 0.15:
        largest = max([shard_map.numel, *(shard.numel for shard in shard_map.ranks.values())])
        if largest.bit_length() < 64:
            expectation = replace(expectation, index_bits=max(2, largest.bit_length() + 1))
    scales = {piece.scale for _, _, piece in shard_map.pieces() if not piece.is_empty}
    if rng.random() < 0.15 and len(scales) == 1:
        (scale,) = scales
        expectation = replace(expectation, scale=scale if not isinstance(scale, float) else None)
    return expectation
