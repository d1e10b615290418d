"""Constructors of a released library, unmodified, and what they return."""

from __future__ import annotations

import builtins
from functools import partial

import pytest

from tests.downstream import deepspeed_affine
from tests.downstream.deepspeed_affine import affine
from tests.symbolic.judging import outcome, proved, shape
from verifier import ShardMap, map_from_affine
from verifier.symbolic.domain import Sizes, size, sizes
from verifier.symbolic.reading import NoMapError, symbolic_map
from verifier.symbolic.results import RefutedAt

released = affine()
contiguous = released.contiguous_split_map


def through_the_module(rows: int, columns: int) -> object:
    """A constructor of a user's own that reaches the release by a module."""
    half = int(columns) // 2
    return released.contiguous_split_map((rows, columns), [half, columns - half], 1)


def through_a_name(rows: int, columns: int) -> object:
    half = columns // 2
    return contiguous((rows, columns), [half, columns - half], 1)


def own_pieces(rows: int, columns: int) -> object:
    """One that builds the pieces of the release itself."""
    if not isinstance(rows, int):
        raise TypeError("rows")
    view = (columns, 1)
    piece = released.AffinePiece((rows, columns), 0, view, 0, view, [0])
    return released.ParamAffineMap((rows, columns), {0: (rows, columns)}, {0: [piece]})


@pytest.mark.parametrize("constructor", [through_the_module, through_a_name, own_pieces])
def test_users_of_the_release_are_proved(constructor: object) -> None:
    proved(constructor, Sizes(rows=size(), columns=size()))


def test_closures_and_partial_calls_are_followed() -> None:
    inner = released.contiguous_split_map

    def closed(rows: int, columns: int) -> object:
        return inner((rows, columns), [rows], 0)

    proved(closed, Sizes(rows=size(), columns=size()))
    over = Sizes(
        shape=shape(2),
        per_rank_sizes=sizes(2),
        where=lambda shape, per_rank_sizes: shape[0] == sum(per_rank_sizes),
    )
    proved(partial(inner, partition_dim=0), over)


def test_fractional_widths_are_no_sizes() -> None:
    def fractional(rows: int) -> object:
        return released.contiguous_split_map((rows, 2), [rows / 2, rows / 2], 0)

    found = outcome(fractional, Sizes(rows=size()))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"rows": 1}


def test_nothing_is_left_of_a_run() -> None:
    before = released.sub_param_map.__code__, released.AffinePiece.__init__.__code__, set(vars(builtins))
    over = Sizes(rows=size(), columns=size())
    proved(own_pieces, over)
    after = released.sub_param_map.__code__, released.AffinePiece.__init__.__code__, set(vars(builtins))
    assert before == after


def test_the_forms_are_read_alike() -> None:
    theirs = released.segmented_map((4, 2), [(2, False), (2, True)], 0, 2, [[1, 1]])
    ours = map_from_affine(theirs.to_dict(), name="w")
    assert symbolic_map(theirs) == symbolic_map(theirs.to_dict()) == symbolic_map(ours)
    back = symbolic_map(theirs).at({})
    assert isinstance(back, ShardMap)
    assert back.ranks == ours.ranks
    assert back.logical_shape == ours.logical_shape


PIECE = {"shape": [2], "source": [0, [1]], "dest": [0, [1]], "locations": [0]}


@pytest.mark.parametrize(
    "made",
    [
        None,
        {"logical_shape": [2]},
        {"logical_shape": [2], "ranks": {0: {"shard_shape": [2], "pieces": [{**PIECE, "shape": [2, 1]}]}}},
        {
            "logical_shape": [2],
            "ranks": {0: {"shard_shape": [2], "pieces": [{**PIECE, "locations": [1, 0]}]}},
        },
        {"logical_shape": [2], "ranks": {0: {"shard_shape": [2.0], "pieces": []}}},
        {"logical_shape": [True], "ranks": {}},
        {"logical_shape": [2], "ranks": {-1: {"shard_shape": [2], "pieces": []}}},
        {
            "logical_shape": [2],
            "ranks": {"0": {"shard_shape": [2], "pieces": []}, 0: {"shard_shape": [2], "pieces": []}},
        },
        {"logical_shape": [2], "ranks": {0: {"shard_shape": [2], "pieces": [{**PIECE, "scale": "1"}]}}},
    ],
)
def test_what_is_no_map_is_refused_by_name(made: object) -> None:
    with pytest.raises(NoMapError):
        symbolic_map(made)


def test_the_fixtures_are_those_of_the_installed_release() -> None:
    assert deepspeed_affine.affine() is released
