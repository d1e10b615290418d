"""From a shard map to the cut that contracts know, and back."""

from __future__ import annotations

import random

import pytest

from fuzz.contracts.drawing import draw_cut
from tests.builders import columns, piece, replicated, shard_map
from verifier.contracts.induced.cut_of_map import NoCutError, cut_of_map
from verifier.contracts.induced.fibres import held_by
from verifier.contracts.induced.maps import parameter_map
from verifier.contracts.rules.cuts import broken_cut_rules


def test_the_cut_of_the_map_of_a_cut_holds_the_same_and_breaks_no_rule() -> None:
    for seed in range(600):
        cut = draw_cut(random.Random(seed))
        if not cut.numel:
            continue
        found = cut_of_map(parameter_map(cut, "w"))
        assert [*broken_cut_rules(found)] == []
        held = [elements for elements in held_by(cut).values() if elements]
        if found.layout == "replicated":
            assert held == [set(range(cut.numel))] * len(held)
        else:
            assert [elements for elements in held_by(found).values() if elements] == held


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


def test_ranks_out_of_order_are_members_in_order() -> None:
    backwards = shard_map(
        (4,),
        {
            0: ((2,), [piece((2,), (2, (1,)), (0, (1,)))]),
            1: ((2,), [piece((2,), (0, (1,)), (0, (1,)), (1,))]),
        },
    )
    found = cut_of_map(backwards)
    assert found.members == ("rank:1", "rank:0")
    assert [shard.offsets for shard in found.shards] == [(2,), (0,)]


def test_a_rank_without_columns_has_none_of_a_cut_of_columns() -> None:
    two = columns(3, 2, 2)
    held = {rank: (shard.shard_shape, list(shard.pieces)) for rank, shard in two.ranks.items()}
    three = shard_map((3, 4), {**held, 2: ((0,), [])})
    found = cut_of_map(three)
    assert (found.layout, found.dim, found.shards[2].numel) == ("dim_shard", 1, 0)


def test_replicas_of_a_shard_are_one_member() -> None:
    pairs = shard_map(
        (4,),
        {
            rank: ((2,), [piece((2,), (rank // 2 * 2, (1,)), (0, (1,)), (rank // 2 * 2, rank // 2 * 2 + 1))])
            for rank in range(4)
        },
    )
    assert cut_of_map(pairs).members == ("rank:0", "rank:2")


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


@pytest.mark.parametrize("offset", [1, 3], ids=["overlap", "gap"])
def test_a_map_that_is_not_exact_has_no_cut(offset: int) -> None:
    wrong = shard_map(
        (offset + 2,),
        {
            0: ((2,), [piece((2,), (0, (1,)), (0, (1,)))]),
            1: ((2,), [piece((2,), (offset, (1,)), (0, (1,)), (1,))]),
        },
    )
    with pytest.raises(NoCutError, match="exactly once"):
        cut_of_map(wrong)
