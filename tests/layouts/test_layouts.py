"""Each constructor holds what its definition says, for random sizes, and a walk of every address agrees."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import verifier.layouts
from fuzz.walk import walk
from tests.layouts.applied import assert_holds
from tests.layouts.cases import CASES, rule_widths
from verifier.audit.check import check_map
from verifier.layouts import Padded, chunk, dtensor, even, floor_first, floor_last, replicated
from verifier.layouts.placements import Replicate, Shard
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.verdicts import Proved

NO_CONSTRUCTORS = {"dtensor", "chunk", "even", "floor_first", "floor_last"}


def posed(layout: ShardMap | Padded) -> tuple[ShardMap, Expectation]:
    if isinstance(layout, Padded):
        return layout.shard_map, layout.expectation()
    return layout, Expectation()


def test_every_constructor_has_cases() -> None:
    constructors = {name for name in verifier.layouts.__all__ if name[0].islower()}
    assert constructors - NO_CONSTRUCTORS == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_holds_what_its_definition_says(name: str) -> None:
    for seed in range(60):
        layout, expected = CASES[name](random.Random(f"{name}:{seed}"))
        shard_map, expectation = posed(layout)
        found = walk(shard_map, expectation)
        assert found.ok, (found.violations, shard_map)
        assert_holds(shard_map, expected)


@pytest.mark.parametrize("name", CASES)
def test_is_proved(name: str) -> None:
    for seed in range(4):
        layout, _ = CASES[name](random.Random(f"{name}:{seed}"))
        shard_map, expectation = posed(layout)
        assert isinstance(check_map(shard_map, expectation=expectation).verdict, Proved)


@given(size=st.integers(0, 60), parts=st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_rules_are_those_of_torch_and_numpy(size: int, parts: int) -> None:
    pieces = [len(one) for one in torch.arange(size).chunk(parts)]
    assert list(chunk(size, parts)) == (pieces + [0] * parts)[:parts] == rule_widths("chunk", size, parts)
    assert list(floor_first(size, parts)) == rule_widths("floor_first", size, parts)
    assert list(floor_last(size, parts)) == rule_widths("floor_last", size, parts)
    assert list(even(size * parts, parts)) == [size] * parts


def test_padding_is_exactly_what_nothing_writes() -> None:
    declared = 0
    for name in ("vocabulary", "flat", "flat_each"):
        for seed in range(40):
            layout, expected = CASES[name](random.Random(f"{name}:{seed}"))
            assert isinstance(layout, Padded)
            unwritten = {
                rank: {cell for cell, element in enumerate(shard.ravel()) if element < 0}
                for rank, shard in expected.items()
            }
            holes = layout.expectation().holes
            assert {rank: set(cells) for rank, cells in holes.items()} == {
                rank: cells for rank, cells in unwritten.items() if cells
            }
            declared += sum(map(len, holes.values()))
    assert declared > 100


def test_a_scale_is_exact_and_of_every_shard() -> None:
    for piece in [piece for _, _, piece in replicated((2, 3), 2, 0.1).pieces()]:
        assert piece.scale == Fraction(0.1)
    assert {piece.scale for _, _, piece in replicated((), 3, Fraction(1, 3)).pieces()} == {Fraction(1, 3)}


def test_blocks_that_follow_each_other_make_one_piece() -> None:
    placed = verifier.layouts.experts(8, (2,), [[0, 1, 2, 3], [4, 5, 7, 6]])
    assert [len(shard.pieces) for shard in placed.ranks.values()] == [1, 3]
    shared = verifier.layouts.block_gather((8,), {0: [0, 1, 2, 3], 1: [1, 2]}, 2)
    assert [piece.shape for piece in shared.ranks[0].pieces] == [(2,), (4,), (2,)]
    assert [piece.locations for piece in shared.ranks[0].pieces] == [(0,), (0, 1), (0,)]


def test_the_cost_is_that_of_the_pieces() -> None:
    huge = dtensor((2**40, 2**20), (64, 4, 2), [Shard(0), Shard(1), Replicate()])
    assert sum(1 for _ in huge.pieces()) == 512
    assert huge.ranks[0].shard_shape == (2**34, 2**18)
    assert huge.ranks[0].pieces[0].locations == (0, 1)


def test_fsdp_over_tp_is_a_shard_order_from_the_right() -> None:
    for rows in range(20):
        ours = verifier.layouts.fsdp_over_tp((rows, 2), 3, 2)
        assert ours == dtensor((rows, 2), (3, 2), [Shard(0), Shard(0)], [(0, (1, 0))])
        assert verifier.layouts.tp_over_fsdp((rows, 2), 3, 2) == dtensor(
            (rows, 2), (3, 2), [Shard(0), Shard(0)]
        )
