"""Symbolic sizes get into views and maps only while the door is open."""

from __future__ import annotations

from typing import Any

import pytest

from tests.symbolic.judging import start
from verifier import Piece, RankShard, ShardMap, StridedView
from verifier.geometry.integers import admitted, admitting
from verifier.model.numbers import NUMBER_LIMIT, require_shape
from verifier.symbolic.polynomial import atom
from verifier.symbolic.size import Size
from verifier.symbolic.tracing import Tracer


def a_size() -> Any:
    return Size(atom("n"), Tracer(start("n"), ()))


def test_outside_nothing_but_plain_integers_is_let_in() -> None:
    n = a_size()
    with pytest.raises(TypeError):
        StridedView(n, (1,), (1,))
    with pytest.raises(TypeError):
        StridedView(0, (n,), (1,))
    with pytest.raises(TypeError):
        RankShard((n,), ())
    with pytest.raises(TypeError):
        require_shape("shape", (n,))


def test_inside_the_admitted_type_is_let_in_and_no_other() -> None:
    n = a_size()
    with admitting(Size):
        view = StridedView(n, (n, 2), (2, 1))
        piece = Piece(view, view, (0,))
        made = ShardMap(name="w", logical_shape=(n, 2), ranks={0: RankShard((n, 2), (piece,))})
        with pytest.raises(TypeError):
            StridedView(0, (2.0,), (1,))  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            StridedView(0, (True,), (1,))
    assert made.ranks[0].shard_shape == (n, 2)
    assert admitted() is None


def test_the_door_closes_after_an_exception() -> None:
    with pytest.raises(RuntimeError), admitting(Size):
        raise RuntimeError
    assert admitted() is None


def test_plain_numbers_have_their_limit_inside_too() -> None:
    with admitting(Size), pytest.raises(ValueError, match="2\\*\\*127"):
        RankShard((NUMBER_LIMIT,), ())


def test_a_negative_extent_is_refused_by_its_axis() -> None:
    with pytest.raises(ValueError, match="axis 1"):
        StridedView(0, (1, -1), (1, 1))
