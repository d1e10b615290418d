"""Layouts are right by construction; dressing changes nothing; mutants change one thing."""

import random

import pytest

from fuzz.dressing import dressed
from fuzz.layouts import LAYOUTS, SIZE
from fuzz.mutants import MUTANTS
from fuzz.walk import addresses, walk
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap


def pairs(shard_map: ShardMap) -> dict[int, list[tuple[int, int, str, tuple[int, ...]]]]:
    return {
        rank: sorted(
            (source, dest, str(p.scale), p.locations)
            for p in shard.pieces
            for source, dest in zip(addresses(p.source), addresses(p.dest), strict=True)
        )
        for rank, shard in shard_map.ranks.items()
    }


@pytest.mark.parametrize("kind", LAYOUTS)
def test_layouts_are_right_and_stay_small(kind: str) -> None:
    for seed in range(40):
        rng = random.Random(f"{kind}:{seed}")
        shard_map, expectation = LAYOUTS[kind](rng, SIZE)
        assert walk(shard_map, expectation).ok, shard_map
        assert shard_map.numel <= SIZE
        assert all(len(piece.shape) <= 5 for _, _, piece in shard_map.pieces())


@pytest.mark.parametrize("kind", LAYOUTS)
def test_dressing_changes_no_pair(kind: str) -> None:
    changed = 0
    for seed in range(25):
        rng = random.Random(f"{kind}:{seed}")
        shard_map, expectation = LAYOUTS[kind](rng, 60)
        other = dressed(rng, shard_map)
        assert pairs(other) == pairs(shard_map)
        assert walk(other, expectation).ok
        changed += other != shard_map
    assert changed >= 5


@pytest.mark.parametrize("kind", LAYOUTS)
def test_a_size_is_kept_to(kind: str) -> None:
    for seed in range(25):
        assert LAYOUTS[kind](random.Random(seed), 30)[0].numel <= 45


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_change_something_and_mostly_break_it(name: str) -> None:
    made = broken = 0
    for seed in range(120):
        rng = random.Random(f"{name}:{seed}")
        shard_map, _ = LAYOUTS[rng.choice(sorted(LAYOUTS))](rng, 60)
        changed = MUTANTS[name](rng, shard_map)
        if changed is not None:
            assert changed != shard_map
            made += 1
            broken += not walk(changed, Expectation(reference=shard_map)).ok
    assert made >= 10
    assert broken >= made // 4
