"""Repairs are re-verified: whatever is offered makes the map sound when it is applied."""

from __future__ import annotations

import json
import random
import re
from array import array
from dataclasses import replace

from tests.builders import columns, piece, shard_map
from verifier import Proved, Refuted, ShardMap, check_map, map_from_affine
from verifier.certificates.encode import map_to_json
from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.model.numbers import NUMBER_LIMIT

HELP = re.compile(
    r'piece (\d+) of rank (\d+) with ("(?:source|dest)": \[-?\d+, \[[-\d, ]*\]\]) makes the map sound'
)


def applied(wrong: ShardMap, text: str) -> ShardMap:
    found = HELP.search(text)
    assert found is not None, text
    document = map_to_json(wrong)
    document["ranks"][found[2]]["pieces"][int(found[1])] |= json.loads("{" + found[3] + "}")
    return map_from_affine(document)


def test_an_offered_repair_is_sound_and_single_shifts_are_repaired() -> None:
    rng = random.Random(7)
    offered = refuted = 0
    for _ in range(60):
        base = columns(rng.randrange(1, 4), rng.randrange(1, 4), rng.randrange(2, 4))
        rank = rng.randrange(len(base.ranks))
        shard = base.ranks[rank]
        piece = shard.pieces[0]
        side = rng.choice(("source", "dest"))
        view = piece.source if side == "source" else piece.dest
        moved = replace(view, offset=view.offset + rng.choice((-1, 1, 2)))
        pieces = (replace(piece, source=moved) if side == "source" else replace(piece, dest=moved),)
        wrong = replace(base, ranks={**base.ranks, rank: replace(shard, pieces=pieces)})
        report = check_map(wrong)
        assert isinstance(report.verdict, Refuted)
        refuted += 1
        for _, finding in report.findings:
            for text in finding.helps:
                if "makes the map sound" in text:
                    offered += 1
                    assert isinstance(check_map(applied(wrong, text)).verdict, Proved)
    assert offered >= refuted // 2


def test_a_stored_block_is_repaired_by_its_box() -> None:
    boxes = BoxMap(
        name="w",
        logical_shape=(7, 2),
        offsets=array("q", [0, 0, 3, 0]),
        sizes=array("q", [4, 2, 3, 2]),
        count=2,
    )
    (finding,) = [found for _, found in check_map(boxes.to_shard_map()).findings]
    repair = "chunk 1 with offsets [4, 0], sizes [3, 2] makes the map sound (all re-proved)"
    assert finding.helps == (repair,)


def test_an_edit_that_no_piece_can_hold_is_not_tried() -> None:
    last = NUMBER_LIMIT - 1
    for source, dest in ((0, last), (last, 0)):
        held = piece((1, 1, 1), (source, (0, 0, 0)), (dest, (0, 0, 0)), (1,))
        made = shard_map((), {1: ((), [held])})
        for expectation in (
            Expectation(),
            Expectation(write_unit=2),
            Expectation(reference=columns(3, 2, 4)),
        ):
            assert isinstance(check_map(made, expectation=expectation).verdict, Refuted)
