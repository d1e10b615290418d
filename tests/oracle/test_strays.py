"""Views that leave their buffer are found among guard cells, where torch itself lets them pass."""

import random

import pytest

from tests.oracle.devices import DEVICES
from tests.oracle.right_maps import corrupted, piece, right_map, shard_map
from tests.oracle.walker import addresses
from verifier.oracle.strays import Stray, strays


@pytest.mark.parametrize("device", DEVICES)
def test_reads_and_writes_outside_are_told_apart(device: str) -> None:
    m = shard_map(
        (4, 4),
        {
            0: ((4, 2), [piece((4, 2), (3, (4, 1)), (0, (2, 1)), [0])]),
            1: ((4, 2), [piece((4, 2), (2, (4, 1)), (-1, (2, 1)), [1])]),
            2: ((4, 2), [piece((2, 2), (0, (4, 1)), (0, (5000, 1)), [2])]),
        },
    )
    found = strays(m, device=device)
    assert found[0] == Stray(0, 0, "parameter", first=16, cells=1)
    assert found[1] == Stray(1, 0, "shard", first=-1, cells=1)
    assert (found[2].rank, found[2].first, found[2].cells) == (2, None, None)
    assert "out of bounds" in (found[2].refused or "")
    assert len(found) == 3


def test_strays_are_the_addresses_outside() -> None:
    rng = random.Random(2)
    astray = clean = 0
    for _ in range(400):
        good = right_map(rng)
        assert strays(good) == ()
        if all(p.is_empty for _, _, p in good.pieces()):
            continue
        bad = corrupted(rng, good)
        expected = []
        for rank, position, p in bad.pieces():
            sides = (("shard", p.dest, bad.ranks[rank].numel), ("parameter", p.source, bad.numel))
            for side, view, size in sides:
                outside = {a for a in addresses(view) if not 0 <= a < size}
                if outside and min(view.strides, default=0) >= 0:
                    expected.append(Stray(rank, position, side, min(outside), len(outside)))
        found = [stray for stray in strays(bad) if stray.refused is None]
        assert found == expected
        astray += bool(found)
        clean += not found
    assert astray >= 30
    assert clean >= 30


def test_guard_cells_cannot_be_fewer_than_none() -> None:
    with pytest.raises(ValueError, match="-1 guard cells"):
        strays(shard_map((1,), {}), guard=-1)
