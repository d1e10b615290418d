"""What the model refuses: values that only look like integers, and numbers that no certificate may hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Piece
from verifier.model.shard_map import RankShard, ShardMap

np = pytest.importorskip("numpy")

LINE = StridedView(0, (4,), (1,))
SHARD = RankShard((4,), (Piece(LINE, LINE, (0,)),))
HUGE = 2**127


def view(value: Any) -> object:
    return StridedView(value, (), ())


def piece(**changes: Any) -> Piece:
    return Piece(**{"source": LINE, "dest": LINE, "locations": (0,), **changes})


def far(offset: Any) -> Piece:
    return piece(source=StridedView(offset, (0,), (1,)), dest=StridedView(0, (0,), (1,)))


def shard_map(**changes: Any) -> ShardMap:
    return ShardMap(**{"name": "w", "logical_shape": (4,), "ranks": {0: SHARD}, **changes})


PLACES: dict[str, Callable[[Any], object]] = {
    "offset": view,
    "extent": lambda n: StridedView(0, (1, n), (1, 1)),
    "stride": lambda n: StridedView(0, (1, 1), (1, n)),
    "location": lambda n: piece(locations=(n,)),
    "shard_shape": lambda n: RankShard((1, n), ()),
    "logical_shape": lambda n: shard_map(logical_shape=(n, 1)),
    "rank": lambda n: shard_map(ranks={n: SHARD}),
    "hole": lambda n: Expectation(holes={0: (n,)}),
    "rank of holes": lambda n: Expectation(holes={n: ()}),
    "gap": lambda n: Expectation(gaps=(n,)),
    "sum_ulps": lambda n: Expectation(sum_ulps=n),
    "index_bits": lambda n: Expectation(index_bits=n),
    "write_unit": lambda n: Expectation(write_unit=n),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", [True, 4.0, 0.0, "4", np.int32(4), np.int64(4), Fraction(4)], ids=repr)
def test_only_plain_integers_are_numbers(place: str, value: object) -> None:
    PLACES[place](4)
    with pytest.raises(TypeError) as caught:
        PLACES[place](value)
    assert f"a {type(value).__name__}" in str(caught.value)
    assert "convert numpy integers with int()" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda: StridedView(0, [4], (1,)),  # type: ignore[arg-type]
        lambda: StridedView(0, (4,), [1]),  # type: ignore[arg-type]
        lambda: StridedView(0, np.array([4]), (1,)),
        lambda: piece(locations=[0]),
        lambda: piece(locations=range(1)),
        lambda: piece(source=(0, (4,), (1,))),
        lambda: piece(scale=2),
        lambda: piece(scale=True),
        lambda: piece(scale=np.float64("inf")),
        lambda: piece(scale=Fraction(np.int64(3))),
        lambda: RankShard([4], ()),  # type: ignore[arg-type]
        lambda: RankShard((4,), [piece()]),  # type: ignore[arg-type]
        lambda: RankShard((4,), (LINE,)),  # type: ignore[arg-type]
        lambda: shard_map(logical_shape=[4]),
        lambda: shard_map(ranks={0: (4,)}),
        lambda: Expectation(gaps=[0]),  # type: ignore[arg-type]
        lambda: Expectation(holes={0: [0]}),  # type: ignore[dict-item]
        lambda: Expectation(cover=1),  # type: ignore[arg-type]
        lambda: Expectation(lookup=None),  # type: ignore[arg-type]
        lambda: Expectation(partial=np.bool_(True)),
        lambda: Expectation(scale=1.0),  # type: ignore[arg-type]
        lambda: Expectation(scale=1),  # type: ignore[arg-type]
        lambda: Expectation(reference={}),  # type: ignore[arg-type]
    ],
)
def test_other_values_of_a_wrong_type_are_refused(build: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: StridedView(0, (4,), ()),
        lambda: StridedView(0, (-1,), (1,)),
        lambda: StridedView(0, (1,) * 65, (1,) * 65),
        lambda: piece(dest=StridedView(0, (5,), (1,))),
        lambda: piece(locations=(1, 0)),
        lambda: piece(locations=(0, 0)),
        lambda: piece(locations=(-1, 0)),
        lambda: piece(scale=0.5),
        lambda: piece(scale=Fraction(1, 10**400)),
        lambda: RankShard((4, -1), ()),
        lambda: RankShard((1,) * 65, ()),
        lambda: shard_map(logical_shape=(-4,)),
        lambda: shard_map(logical_shape=(1,) * 65),
        lambda: shard_map(ranks={-1: SHARD}),
        lambda: shard_map(ranks={10**19: SHARD}),
        lambda: Expectation(gaps=(1, 1)),
        lambda: Expectation(gaps=(-1,)),
        lambda: Expectation(holes={0: (1, 1)}),
        lambda: Expectation(holes={-1: ()}),
        lambda: Expectation(holes={10**19: ()}),
        lambda: Expectation(index_bits=1),
        lambda: Expectation(index_bits=65),
        lambda: Expectation(sum_ulps=-1),
        lambda: Expectation(write_unit=0),
        lambda: Expectation(lookup=True, partial=True),
        lambda: Expectation(lookup=True, write_unit=1),
    ],
)
def test_wrong_values_are_refused(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        build()


@pytest.mark.parametrize(
    "build",
    [
        far,
        lambda n: far(-n),
        lambda n: piece(locations=(0, n)),
        lambda n: piece(source=StridedView(0, (1,), (n,)), dest=StridedView(0, (1,), (-n,))),
        lambda n: piece(source=StridedView(0, (n, 0), (0, 0)), dest=StridedView(0, (n, 0), (0, 0))),
        lambda n: RankShard((0, n), ()),
        lambda n: shard_map(logical_shape=(n, 0)),
        lambda n: Expectation(gaps=(n,)),
        lambda n: Expectation(holes={0: (n,)}),
        lambda n: Expectation(sum_ulps=n),
        lambda n: Expectation(write_unit=n),
    ],
)
def test_numbers_that_could_not_be_checked_are_refused(build: Callable[[int], object]) -> None:
    build(HUGE - 1)
    for number in (HUGE, 10**5000):
        with pytest.raises(ValueError, match=r"2\*\*127"):
            build(number)


def test_every_scale_of_a_double_is_kept() -> None:
    for value in (math.ulp(0.0), 1.7976931348623157e308, 0.1, -2.0):
        assert piece(scale=Fraction(value)).scale == value
    assert math.isnan(piece(scale=math.nan).scale)
    assert piece(scale=-math.inf).scale == -math.inf
    assert piece().scale is ONE
