"""Clean cuts in columns: what they leave together, against the cuts of single boxes."""

import itertools
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.bulk.generated import made
from verifier.engines.bulk.block import Block, block_of, columns
from verifier.engines.bulk.cut_groups import undivided
from verifier.geometry.cuts import Separated, Undivided, boxes_overlap, separate

SEEDS = st.integers(0, 2**32).map(random.Random)


def block(rng: random.Random) -> Block:
    """Boxes wherever they are: cuts do not ask whether they are inside."""
    boxes = made(rng).columns()
    return block_of(boxes.logical_shape, *columns(boxes))


def as_tuples(found: Block) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    lows, highs = ([column.tolist() for column in side] for side in (found.boxes.lows, found.boxes.highs))
    rows = range(found.boxes.count)
    return [(tuple(c[k] for c in lows), tuple(c[k] for c in highs)) for k in rows]


@settings(max_examples=200, deadline=None)
@given(SEEDS, st.sampled_from((0, 5, 50, 10**6)))
def test_T7_boxes_of_different_groups_share_no_point(rng: random.Random, sweeps: int) -> None:
    found = block(rng)
    boxes = as_tuples(found)
    groups = undivided(found.boxes, sweeps=sweeps)
    parts = np.split(groups.members, groups.starts[1:]) if len(groups.starts) else []
    assert all(len(part) > 1 for part in parts)
    assert groups.sizes().tolist() == [len(part) for part in parts]
    of = {int(row): position for position, part in enumerate(parts) for row in part}
    assert len(of) == len(groups.members)
    for one, other in itertools.combinations(range(len(boxes)), 2):
        if boxes_overlap(boxes[one], boxes[other]):
            assert one in of
            assert of[one] == of[other]


@settings(max_examples=200, deadline=None)
@given(SEEDS)
def test_T7_groups_are_those_of_the_cuts_of_single_boxes(rng: random.Random) -> None:
    found = block(rng)
    if not found.dimensions:
        return
    groups = undivided(found.boxes, sweeps=10**6)
    parts = np.split(groups.members, groups.starts[1:]) if len(groups.starts) else []
    match separate(as_tuples(found), pairs=0):
        case Separated():
            assert not parts
        case Undivided(expected):
            assert sorted(tuple(sorted(part.tolist())) for part in parts) == list(expected)
