"""One case of a campaign: a layout, perhaps dressed, perhaps with one defect, under an expectation.

A case is a function of (selection, seed, index) alone, so that any case can be made again without the others.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from fuzz.build import chance
from fuzz.dressing import dressed
from fuzz.layouts import LAYOUTS, SIZE, Layout
from fuzz.mutants import MUTANTS
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases a campaign has.

    Attributes:
        layouts: their names; cases take them in turn.
        mutants: their names; a case with a defect tries them in random order.
        size: bounds the elements of a parameter.
        right: share of the cases without a defect.
        dress: whether maps are written in other ways, and further demands made of them.
    """

    layouts: tuple[str, ...] = field(default_factory=lambda: tuple(LAYOUTS))
    mutants: tuple[str, ...] = field(default_factory=lambda: tuple(MUTANTS))
    size: int = SIZE
    right: float = 0.4
    dress: bool = True

    def round_of(self, index: int) -> int:
        """How often every layout had its turn before that case: samples by rounds are spread over all."""
        return index // len(self.layouts)


@dataclass(frozen=True, slots=True)
class Case:
    """A map to judge.

    Attributes:
        layout: its name.
        mutant: None where the map is right by construction.
        clean: the map before its defect, the same map where it has none.
    """

    seed: int
    index: int
    layout: str
    mutant: str | None
    clean: ShardMap
    shard_map: ShardMap
    expectation: Expectation

    @property
    def name(self) -> str:
        """What makes the case again, with its selection: ``seed:index``."""
        return f"{self.seed}:{self.index}"


def layout_named(name: str) -> Layout:
    """A layout of ours, or one of the constructors of the DeepSpeed that is installed.

    Raises:
        KeyError: there is none of that name.
    """
    if name in LAYOUTS:
        return LAYOUTS[name]
    from fuzz.in_tree import IN_TREE

    return IN_TREE[name]


def case_at(selection: Selection, seed: int, index: int) -> Case:
    """The case of that seed and index."""
    rng = random.Random(f"{seed}:{index}")
    layout = selection.layouts[index % len(selection.layouts)]
    case = compose(rng, selection, layout)
    name = f"{seed}:{index}"
    return replace(
        case,
        seed=seed,
        index=index,
        clean=replace(case.clean, name=name),
        shard_map=replace(case.shard_map, name=name),
    )


def compose(rng: random.Random, selection: Selection, layout: str) -> Case:
    """A case from a source of random numbers, whatever drives it: a seed, hypothesis, or bytes."""
    plain, expectation = layout_named(layout)(rng, selection.size)
    clean = plain
    if selection.dress:
        clean = dressed(rng, plain) if chance(rng, 0.6) else plain
        expectation = _demanding(rng, plain, expectation)
    mutant, shard_map = None, clean
    if chance(rng, 1 - selection.right):
        mutant, shard_map = _mutated(rng, selection.mutants, clean)
    return Case(0, 0, layout, mutant, clean, shard_map, expectation)


def _mutated(
    rng: random.Random, mutants: tuple[str, ...], shard_map: ShardMap
) -> tuple[str | None, ShardMap]:
    """The map with the first defect, in random order, that it can have."""
    for name in rng.sample(sorted(mutants), len(mutants)):
        changed = MUTANTS[name](rng, shard_map)
        if changed is not None:
            return name, changed
    return None, shard_map


def _demanding(rng: random.Random, shard_map: ShardMap, expectation: Expectation) -> Expectation:
    """The expectation with further demands that the map meets."""
    if chance(rng, 0.25) and expectation.reference is None:
        expectation = replace(expectation, reference=dressed(rng, shard_map))
    if chance(rng, 0.15):
        largest = max([shard_map.numel, *(shard.numel for shard in shard_map.ranks.values())])
        if largest.bit_length() < 64:
            expectation = replace(expectation, index_bits=max(2, largest.bit_length() + 1))
    scales = {piece.scale for _, _, piece in shard_map.pieces() if not piece.is_empty}
    if chance(rng, 0.15) and len(scales) == 1:
        (scale,) = scales
        expectation = replace(expectation, scale=scale if not isinstance(scale, float) else None)
    return expectation
