"""Packings proved by pairs: accepted iff no address is visited twice, whatever the strides have in common."""

import random
from collections import Counter
from math import prod

import pytest

from tests.certificates.enumeration import is_right
from verifier.certificates.check import Rejected, check


def packing(size, views):
    """A certificate that the views (offset, shape, strides) are disjoint in 0..size; the shard is dense."""
    pieces, filled = [], 0
    for offset, shape, strides in views:
        dense = [prod(shape[k + 1 :]) for k in range(len(shape))]
        pieces.append(
            {"shape": shape, "source": [offset, strides], "dest": [filled, dense], "locations": [0]}
        )
        filled += prod(shape)
    ranks = {"0": {"shard_shape": [filled], "pieces": pieces}}
    return {
        "schema": "shardproof.certificate/1",
        "name": "w",
        "map": {"logical_shape": [size], "ranks": ranks},
        "expectation": {"cover": False},
        "evidence": {"parameter": {"form": "pairs", "work": 0}},
    }


@pytest.mark.parametrize(
    ("size", "views"),
    [
        (22, [(0, [4], [7]), (2, [4], [6])]),  # both visit 14 = 0 + 2 * 7 = 2 + 2 * 6
        (31, [(2, [4], [9]), (3, [4, 4], [4, 5])]),
        (27, [(0, [4, 3], [2, 10]), (26, [1], [1])]),
        (13, [(0, [3, 3], [2, 4])]),
        (11, [(0, [2, 2, 2], [2, 3, 5])]),
    ],
)
def test_T14_meetings_are_found_past_the_first_candidate(size, views):
    document = packing(size, views)
    assert not is_right(document)
    with pytest.raises(Rejected, match=r"^parameter: .*(meet|twice)"):
        check(document)


def test_T14_random_packings():
    rng = random.Random("packings")
    seen = Counter()
    for _ in range(1500):
        views = []
        for _ in range(rng.randint(1, 2)):
            shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 2))]
            views.append((rng.randint(0, 5), shape, [rng.randint(1, 11) for _ in shape]))
        reach = max(o + sum(s * (n - 1) for s, n in zip(t, shape, strict=True)) for o, shape, t in views)
        document = packing(reach + 1 + rng.randint(0, 1), views)
        right = is_right(document)
        try:
            check(document)
            accepted = True
        except Rejected:
            accepted = False
        assert accepted == right, document
        seen[right] += 1
    assert min(seen[True], seen[False]) > 300
