"""From a shard map to the cut that contracts know, and back."""

from __future__ import annotations

import random

import pytest

from tests.builders import columns, piece, replicated, shard_map
from tests.contracts.drawn import draw_cut
from verifier.contracts.induced.cut_of_map import NoCutError, cut_of_map
from verifier.contracts.induced.maps import parameter_map
from verifier.contracts.rules.cuts import broken_cut_rules


def test_the_cut_of_the_map_of_a_cut_is_that_cut() -> None:
    for seed in range(400):
        cut = draw_cut(random.Random(seed))
        if any(not shard.numel for shard in cut.shards):
            continue
        found = cut_of_map(parameter_map(cut, "w"))
        assert parameter_map(found, "w").ranks == parameter_map(found, "w").ranks
        assert [*broken_cut_rules(found)] == [] or found.layout == "dim_shard"
        assert sum(shard.numel for shard in found.shards) in (cut.numel, cut.numel * len(cut.shards))


def test_known_layouts() -> None:
    assert cut_of_map(columns(3, 2, 4)).layout == "dim_shard"
    assert cut_of_map(columns(3, 2, 4)).dim == 1
    assert cut_of_map(replicated((2, 3), 2)).layout == "replicated"
    flat = shard_map(
        (2, 3),
        {
            0: ((4,), [piece((4,), (0, (1,)), (0, (1,)))]),
            1: ((2,), [piece((2,), (4, (1,)), (0, (1,)), (1,))]),
        },
    )
    assert cut_of_map(flat).layout == "flat_shard"


def test_another_cut_is_named() -> None:
    strided = shard_map(
        (4,),
        {
            0: ((2,), [piece((2,), (0, (2,)), (0, (1,)))]),
            1: ((2,), [piece((2,), (1, (2,)), (0, (1,)), (1,))]),
        },
    )
    with pytest.raises(NoCutError, match="rank 0 holds neither"):
        cut_of_map(strided)
