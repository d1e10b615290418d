from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.documents import HERE, LIMITS, edited, maps, rows_map, without
from verifier.formats.maps.affine import decode_map
from verifier.formats.reading.fields import MOST_INTERNED, Interned, interned_tuple
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

PIECE = ("ranks", "1", "pieces", 0)


def decode(value: object, limits: Limits = LIMITS) -> ShardMap:
    return decode_map(value, name="w", origin=HERE, limits=limits, interned={})


def encode(shard_map: ShardMap) -> dict[str, Any]:
    def piece(p: Piece) -> dict[str, Any]:
        return {
            "shape": list(p.shape),
            "source": [p.source.offset, list(p.source.strides)],
            "dest": [p.dest.offset, list(p.dest.strides)],
            "locations": list(p.locations),
            "scale": p.scale,
        }

    return {
        "logical_shape": list(shard_map.logical_shape),
        "ranks": {
            str(rank): {"shard_shape": list(shard.shard_shape), "pieces": [piece(p) for p in shard.pieces]}
            for rank, shard in shard_map.ranks.items()
        },
    }


@settings(max_examples=60, deadline=None)
@given(maps())
def test_every_well_formed_map_is_read_number_by_number(document: dict[str, Any]) -> None:
    expected = edited(document, ("logical_shape",), document["logical_shape"])
    for shard in expected["ranks"].values():
        for piece in shard["pieces"]:
            piece["locations"] = sorted(piece["locations"])
            piece["scale"] = Fraction(piece.get("scale", 1))
    assert encode(decode(document)) == expected


def _leaves(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for i, item in enumerate(value) for leaf in _leaves(item, (*path, i))]
    return [path]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (True, "SM005"),
        (2**127, "SM006"),
        (-(2**127), "SM006"),
        (4.0, "SM005"),
        (math.nan, "SM005"),
        ("4", "SM005"),
        (None, "SM002"),
        ([4], "SM002"),
        ({}, "SM002"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("path", _leaves(rows_map()), ids=lambda path: "/".join(map(str, path)))
def test_no_value_is_coerced_to_an_integer_and_none_is_too_large(
    path: tuple[str | int, ...], wrong: object, code: str
) -> None:
    with pytest.raises(FormatError) as caught:
        decode(edited(rows_map(), path, wrong))
    assert caught.value.code == code
    assert caught.value.origin.pointer == "/" + "/".join(map(str, path))


@pytest.mark.parametrize(
    ("path", "value", "code", "pointer"),
    [
        (("surprise",), 1, "SM002", "/surprise"),
        (("ranks", "1", "owner"), 1, "SM002", "/ranks/1/owner"),
        ((*PIECE, "weight"), 1, "SM002", "/ranks/1/pieces/0/weight"),
        (("ranks",), [], "SM002", "/ranks"),
        (("ranks", "0"), [], "SM002", "/ranks/0"),
        (("ranks", "1", "pieces"), {}, "SM002", "/ranks/1/pieces"),
        ((*PIECE, "shape"), "22", "SM002", "/ranks/1/pieces/0/shape"),
        ((*PIECE, "source"), [0], "SM002", "/ranks/1/pieces/0/source"),
        ((*PIECE, "source"), [0, [1]], "SM103", "/ranks/1/pieces/0/source/1"),
        ((*PIECE, "dest"), [0, [2, 1, 1]], "SM103", "/ranks/1/pieces/0/dest/1"),
        ((*PIECE, "shape"), [-2, 2], "SM104", "/ranks/1/pieces/0/shape/0"),
        (("logical_shape",), [4, -2], "SM104", "/logical_shape/1"),
        (("ranks", "0", "shard_shape"), [-1], "SM104", "/ranks/0/shard_shape/0"),
        ((*PIECE, "locations"), [1, 0, 1], "SM002", "/ranks/1/pieces/0/locations/2"),
        ((*PIECE, "locations"), [1, -1], "SM108", "/ranks/1/pieces/0/locations/1"),
        ((*PIECE, "scale"), True, "SM005", "/ranks/1/pieces/0/scale"),
        ((*PIECE, "scale"), "2", "SM005", "/ranks/1/pieces/0/scale"),
        ((*PIECE, "scale"), None, "SM002", "/ranks/1/pieces/0/scale"),
        (("ranks", "01"), rows_map()["ranks"]["1"], "SM003", "/ranks/01"),
        (("ranks", " 1"), rows_map()["ranks"]["1"], "SM003", "/ranks/ 1"),
        (("ranks", "02"), rows_map()["ranks"]["1"], "SM002", "/ranks/02"),
        (("ranks", "+2"), rows_map()["ranks"]["1"], "SM002", "/ranks/+2"),
        (("ranks", "٢"), rows_map()["ranks"]["1"], "SM002", "/ranks/٢"),
        (("ranks", "two"), rows_map()["ranks"]["1"], "SM002", "/ranks/two"),
        (("ranks", "-1"), rows_map()["ranks"]["1"], "SM002", "/ranks/-1"),
        (("ranks", 1), rows_map()["ranks"]["1"], "SM003", "/ranks/1"),
        (("ranks", 2.0), rows_map()["ranks"]["1"], "SM005", "/ranks"),
        ((*PIECE, "scale"), 2**127, "SM006", "/ranks/1/pieces/0/scale"),
        (("ranks", 10**19), rows_map()["ranks"]["1"], "SM006", "/ranks"),
        (("ranks", -(10**30)), rows_map()["ranks"]["1"], "SM002", f"/ranks/-{10**30}"),
        (("ranks", "9" * 30), rows_map()["ranks"]["1"], "SM006", "/ranks"),
        (("version",), 2, "SM004", "/version"),
        (("version",), True, "SM004", "/version"),
        (("version",), 1.0, "SM004", "/version"),
        (("version",), "1", "SM004", "/version"),
    ],
)
def test_malformed_maps_are_refused_at_their_place(
    path: tuple[str | int, ...], value: object, code: str, pointer: str
) -> None:
    with pytest.raises(FormatError) as caught:
        decode(edited(rows_map(), path, value))
    assert (caught.value.code, caught.value.origin.pointer) == (code, pointer)
    assert caught.value.help
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "path",
    [("logical_shape",), ("ranks",), ("ranks", "0", "shard_shape"), ("ranks", "0", "pieces")]
    + [(*PIECE, field) for field in ("shape", "source", "dest", "locations")],
    ids=lambda path: "/".join(map(str, path)),
)
def test_no_field_has_a_default(path: tuple[str | int, ...]) -> None:
    with pytest.raises(FormatError) as caught:
        decode(without(rows_map(), path))
    assert caught.value.code == "SM002"
    assert str(path[-1]) in caught.value.message


def test_ranks_of_a_pickle_are_integers_and_lists_may_be_tuples() -> None:
    document = rows_map()
    document["ranks"] = {int(rank): shard for rank, shard in document["ranks"].items()}
    document["logical_shape"] = (4, 2)
    assert encode(decode(document)) == encode(decode(rows_map()))


@pytest.mark.parametrize("scale", [math.inf, -math.inf, math.nan])
def test_a_pickled_scale_that_is_not_finite_is_kept_for_the_verdict(scale: float) -> None:
    kept = decode(edited(rows_map(), (*PIECE, "scale"), scale)).ranks[1].pieces[0].scale
    assert isinstance(kept, float)
    assert not math.isfinite(kept)


def test_numbers_just_within_the_limit_are_read() -> None:
    most = 2**127 - 1
    empty = {"shape": [0, most], "source": [most, [-most, 1]], "dest": [-most, [0, 0]], "locations": [1]}
    document = edited(edited(rows_map(), PIECE, empty), ("logical_shape",), [0, most])
    assert encode(decode(document))["ranks"]["1"]["pieces"] == [{**empty, "scale": 1}]


def test_equal_locations_are_one_object() -> None:
    shard_map = decode(edited(rows_map(), (*PIECE, "locations"), [0]))
    assert shard_map.ranks[0].pieces[0].locations is shard_map.ranks[1].pieces[0].locations


def test_the_table_of_equal_tuples_stays_small() -> None:
    interned: Interned = {}
    for number in range(2 * MOST_INTERNED):
        assert interned_tuple((number,), interned) == (number,)
    assert len(interned) == MOST_INTERNED


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 70))
def test_axes_are_limited(axes: int) -> None:
    piece = {"shape": [1] * axes, "source": [0, [1] * axes], "dest": [0, [1] * axes], "locations": [1]}
    document = edited(rows_map(), PIECE, piece)
    if axes <= LIMITS.axes:
        assert decode(document).ranks[1].pieces[0].shape == (1,) * axes
    else:
        with pytest.raises(FormatError, match="SM006"):
            decode(document)
