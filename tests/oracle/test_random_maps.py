"""Right maps replay exactly; maps with one wrong number do what an element-by-element walk says."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.oracle.devices import DEVICES
from tests.oracle.right_maps import corrupted, replicated, right_map
from tests.oracle.walker import Walk, walk
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap
from verifier.oracle.agreement import contradiction
from verifier.oracle.outcome import Replay
from verifier.oracle.replay import replay, replay_strict


def unscaled(m: ShardMap) -> ShardMap:
    ranks = {r: replace(s, pieces=tuple(replace(p, scale=ONE) for p in s.pieces)) for r, s in m.ranks.items()}
    return replace(m, ranks=ranks)


def agrees(found: Replay, expected: Walk) -> bool:
    if found.outcome == "raises" or expected.outcome == "raises":
        return found.outcome == expected.outcome
    census = (found.holes, found.rewritten, found.repeated)
    if census != (expected.holes, expected.rewritten, expected.repeated):
        return False
    if not expected.ordered:
        return True
    drift = None if found.drift is None else (found.drift.address, found.drift.earlier, found.drift.later)
    values = (found.outcome, found.changed, found.unwritten, found.first, drift)
    return values == (
        expected.outcome,
        expected.changed,
        expected.unwritten,
        expected.first,
        expected.drift,
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(4))
def test_T10_right_maps_replay_exactly(seed: int, device: str) -> None:
    rng = random.Random(seed)
    scaled = 0
    for _ in range(100):
        m = right_map(rng)
        result = replay(m, device=device)
        assert result.outcome == "exact", (m, result)
        assert contradiction(result, proved=True) is None
        assert (result.changed, result.unwritten, result.rewritten, result.repeated) == (0, 0, 0, 0)
        scaled += any(p.scale != ONE for _, _, p in m.pieces())
    assert scaled >= 5


@pytest.mark.parametrize("device", DEVICES)
def test_a_right_map_read_through_itself_is_exact(device: str) -> None:
    rng = random.Random(11)
    for _ in range(50):
        m = right_map(rng)
        assert replay_strict(m, m, device=device).outcome == "exact"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("strict", [False, True])
def test_one_wrong_number_does_what_the_walk_says(strict: bool, device: str) -> None:
    rng = random.Random(7)
    outcomes: Counter[str] = Counter()
    unordered = 0
    for _ in range(700):
        good = unscaled(right_map(rng))
        if good.numel == 0 or all(p.is_empty for _, _, p in good.pieces()):
            continue
        bad = corrupted(rng, good)
        expected = walk(good if strict else bad, bad)
        found = replay(bad, reference=good if strict else None, device=device)
        assert agrees(found, expected), (bad, found, expected)
        outcomes[found.outcome] += 1
        unordered += not expected.ordered
    assert outcomes["exact"] >= 20
    assert outcomes["differs"] >= 30
    assert outcomes["raises"] >= 40
    assert outcomes["unwritten"] >= 20
    assert unordered <= 150


def test_a_scale_common_to_all_pieces_changes_no_count() -> None:
    rng = random.Random(3)
    outcomes: Counter[str] = Counter()
    for _ in range(800):
        good = right_map(rng)
        scales = {p.scale for _, _, p in good.pieces()} - {ONE}
        if not scales or all(p.is_empty for _, _, p in good.pieces()):
            continue
        bad = corrupted(rng, good)
        if not walk(good, bad).ordered:
            continue
        plain = replay(unscaled(bad), reference=unscaled(good))
        scaled = replay(bad, reference=good)
        assert (plain.dtype, scaled.dtype) == ("float32", "float64")
        assert plain.drift == scaled.drift
        assert plain.outcome == scaled.outcome
        assert (plain.changed, plain.unwritten) == (scaled.changed, scaled.unwritten)
        outcomes[scaled.outcome] += 1
    assert outcomes["exact"] >= 5
    assert outcomes["differs"] >= 10
    assert outcomes["raises"] >= 10


def test_replicas_that_disagree_are_seen_though_the_values_come_back() -> None:
    rng = random.Random(5)
    seen = 0
    for _ in range(500):
        good = replicated(rng)
        bad = corrupted(rng, good)
        expected = walk(good, bad)
        if expected.outcome != "replicas-differ" or not expected.ordered:
            continue
        found = replay_strict(good, bad)
        assert agrees(found, expected), (bad, found, expected)
        seen += 1
    assert seen >= 15
