"""T26: the closed forms of induced maps say what the definition says, and their maps are proved."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from tests.contracts.drawn import draw_cut, draw_geometry
from verifier.audit.check import check_map
from verifier.contracts.geometry import Geometry
from verifier.contracts.induced.fibres import by_definition, held_by, supports
from verifier.contracts.induced.fields import by_closed_form
from verifier.contracts.shards import MemberShard, ParameterCut
from verifier.model.shard_map import ShardMap

PAIRS = int(os.environ.get("SHARDPROOF_INDUCED_PAIRS", "3000"))

WORDS = {"needs_reduction": "reducible", "impossible": "impossible"}


def compared(seed: int) -> tuple[ParameterCut, Geometry, str, str]:
    rng = random.Random(seed)
    cut = draw_cut(rng)
    geometry = draw_geometry(rng, len(cut.shape))
    found = by_closed_form(cut, geometry, "f")
    return cut, geometry, WORDS.get(found.kind, "partition"), by_definition(cut, geometry)


def test_T26_closed_forms_are_the_definition() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for seed in range(PAIRS):
        cut, geometry, closed, defined = compared(seed)
        # A split block has no map whether or not its groups could reduce: M6 comes first.
        if geometry.kind in ("block", "packed") and defined == "reducible":
            defined = "impossible"
        assert closed == defined, (seed, cut, geometry)
        seen[geometry.kind, closed] += 1
    assert {
        (kind, word) for kind in ("row", "column") for word in ("partition", "reducible", "impossible")
    } <= {*seen}
    assert min(seen.values()) >= 3


def members_by_element(shard_map: ShardMap) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for rank, _, piece in shard_map.pieces():
        for index in range(piece.numel):
            coordinates = []
            rest = index
            for extent in reversed(piece.shape):
                coordinates.append(rest % extent)
                rest //= extent
            address = piece.source.address(tuple(reversed(coordinates)))
            found.setdefault(address, set()).add(rank)
    return found


def test_T26_the_map_is_proved_and_says_who_touches_what() -> None:
    checked = 0
    for seed in range(600):
        rng = random.Random(seed)
        cut = draw_cut(rng)
        geometry = draw_geometry(rng, len(cut.shape))
        shard_map = by_closed_form(cut, geometry, "f").shard_map
        if shard_map is None:
            continue
        report = check_map(shard_map)
        assert report.subjects[0].verdict == "proved", (seed, cut, geometry)
        if geometry.kind == "factor":
            continue
        held = held_by(cut)
        by_key = {
            key: {member for member, elements in held.items() if elements & support}
            for key, support in supports(geometry, cut.shape).items()
        }
        ours = members_by_element(shard_map)
        assert [ours[k] for k in sorted(ours)] == [by_key[key] for key in sorted(by_key)], (
            seed,
            cut,
            geometry,
        )
        checked += 1
    assert checked > 300


@pytest.mark.parametrize("size", [1, 256])
def test_counting_blocks_is_not_enough(size: int) -> None:
    """The smallest trap: 257 elements, cut at 1, blocks of 256: the counts 1 and 1 add up to 2."""
    cut = ParameterCut(
        fqn="w",
        shape=(257,),
        layout="flat_shard",
        group="dp",
        members=("a", "b"),
        shards=(
            MemberShard(member="a", offsets=(0,), lengths=(1,)),
            MemberShard(member="b", offsets=(1,), lengths=(256,)),
        ),
    )
    found = by_closed_form(cut, Geometry(kind="block", size=size), "f")
    assert (found.kind, found.rule) == (("block_aligned", "") if size == 1 else ("impossible", "M6"))
