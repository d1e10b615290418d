"""What is wrong with a single piece, and what never is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.builders import columns, piece, replicated, shard_map
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece, exact_scale
from verifier.model.shard_map import ShardMap
from verifier.obligations.piece_rules import piece_faults


def one(logical: int, shard: int, wrong: Piece) -> ShardMap:
    return shard_map((logical,), {0: ((shard,), [wrong])})


CASES: dict[str, tuple[ShardMap, str]] = {
    "dest below": (one(4, 4, piece((4,), (0, (1,)), (-1, (1,)))), "SM101"),
    "dest beyond": (one(4, 4, piece((4,), (0, (1,)), (1, (1,)))), "SM101"),
    "source below": (one(4, 4, piece((4,), (-1, (1,)), (0, (1,)))), "SM102"),
    "source beyond": (one(4, 5, piece((5,), (0, (1,)), (0, (1,)))), "SM102"),
    "reversed": (one(4, 4, piece((4,), (3, (-1,)), (0, (1,)))), "SM105"),
    "reversed dest": (one(4, 4, piece((4,), (0, (1,)), (3, (-1,)))), "SM105"),
    "reversed axis of extent 1": (one(4, 4, piece((1, 4), (0, (-7, 1)), (0, (4, 1)))), "SM105"),
    "zero scale": (one(1, 1, piece((1,), (0, (1,)), (0, (1,)), scale=Fraction(0))), "SM106"),
    "no holder": (one(1, 1, piece((1,), (0, (1,)), (0, (1,)), ())), "SM107"),
    "rank of nowhere": (one(1, 1, piece((1,), (0, (1,)), (0, (1,)), (0, 7))), "SM108"),
    "another rank": (
        shard_map((1,), {0: ((1,), [piece((1,), (0, (1,)), (0, (1,)), (1,))]), 1: ((0,), [])}),
        "SM401",
    ),
    "offset of 65 bits": (one(4, 4, piece((1,), (2**63, (1,)), (0, (1,)))), "SM109"),
    "parameter of 2^63 elements": (shard_map((2, 2**62), {}), "SM109"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_fault_of_the_right_code(name: str) -> None:
    wrong, code = CASES[name]
    assert [fault.code for fault in piece_faults(wrong, Expectation())] == [code]


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_T16_scales_that_are_no_number_cannot_be_undone(value: float) -> None:
    good = replicated((2,), 1)
    rank = good.ranks[0].pieces[0]
    wrong = shard_map((2,), {0: ((2,), [Piece(rank.source, rank.dest, (0,), exact_scale(value))])})
    assert [fault.code for fault in piece_faults(wrong, Expectation())] == ["SM106"]


def test_empty_pieces_are_never_wrong() -> None:
    odd = piece((0, 3), (2**70, (-5, 2)), (-9, (0, -1)), (), Fraction(0))
    assert list(piece_faults(one(4, 4, odd), Expectation())) == []


def test_axes_of_extent_one_have_no_stride_that_matters() -> None:
    odd = piece((1, 4), (0, (7, 1)), (0, (2**40, 1)))
    assert list(piece_faults(one(4, 4, odd), Expectation())) == []


def test_a_missing_shard_is_not_an_unknown_rank() -> None:
    """Rank 1 of a world of two has no shard: the holders say SM402, the piece itself is not at fault."""
    assert list(piece_faults(one(1, 1, piece((1,), (0, (1,)), (0, (1,)), (0, 1))), Expectation())) == []


def test_index_width_is_about_addresses_reached() -> None:
    wide = columns(2, 2**14, 2)
    assert list(piece_faults(wide, Expectation(index_bits=17))) == []
    assert {f.code for f in piece_faults(wide, Expectation(index_bits=16))} == {"SM109"}


def test_a_lookup_table_may_repeat_and_share_elements() -> None:
    table = one(1, 3, piece((3,), (0, (0,)), (0, (1,)), (5,)))
    assert list(piece_faults(table, Expectation(lookup=True))) == []
