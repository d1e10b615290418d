"""Equal keys mean maps that are equal but for their names."""

from array import array
from dataclasses import fields, replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import columns, replicated
from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.model.geometry_key import NAMES, geometry_key
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

SMALL = st.integers(0, 2)


def boxes(shape: tuple[int, ...], offsets: list[int], sizes: list[int], count: int) -> BoxMap:
    return BoxMap(
        name="p", logical_shape=shape, offsets=array("q", offsets), sizes=array("q", sizes), count=count
    )


@st.composite
def box_maps(draw: st.DrawFn) -> BoxMap:
    shape = tuple(draw(st.lists(SMALL, max_size=2)))
    count = draw(SMALL)
    numbers = [
        draw(st.lists(SMALL, min_size=count * len(shape), max_size=count * len(shape))) for _ in range(2)
    ]
    return boxes(shape, numbers[0], numbers[1], count)


@given(box_maps(), box_maps())
def test_keys_of_boxes_are_equal_iff_all_numbers_are(one: BoxMap, other: BoxMap) -> None:
    equal = replace(other, name=one.name, origin=one.origin, holder=one.holder) == one
    assert (geometry_key(one) == geometry_key(other)) == equal


@pytest.mark.parametrize("made", [columns(3, 2, 4), boxes((2,), [0], [2], 1)], ids=["map", "boxes"])
def test_names_do_not_count(made: ShardMap | BoxMap) -> None:
    renamed = replace(made, name="other", origin=Origin("elsewhere.json", "/x"), holder="shard")
    assert geometry_key(made) == geometry_key(renamed)
    assert hash(geometry_key(made)) == hash(geometry_key(renamed))


def test_a_name_of_a_reference_does_not_count() -> None:
    made = columns(3, 2, 4)
    keys = {geometry_key(made, Expectation(reference=replace(made, name=name))) for name in ("one", "two")}
    assert len(keys) == 1


def test_every_member_but_names_counts() -> None:
    """Also one that the model gets later: whatever is not a name has to be in the table here."""
    made = columns(3, 2, 4)
    others = {"logical_shape": (9, 9), "ranks": replicated((3,), 4).ranks}
    assert {field.name for field in fields(made)} - NAMES == set(others)
    for member, value in others.items():
        assert geometry_key(made) != geometry_key(replace(made, **{member: value})), member


def test_everything_that_is_asked_counts() -> None:
    made = columns(3, 2, 4)
    others = {
        "reference": made,
        "holes": {0: (1,)},
        "gaps": (3,),
        "cover": False,
        "lookup": True,
        "partial": True,
        "sum_ulps": 5,
        "scale": Fraction(1),
        "index_bits": 32,
        "write_unit": 2,
    }
    sound = Expectation()
    assert {field.name for field in fields(sound)} == set(others)
    keys = [geometry_key(made, replace(sound, **{member: value})) for member, value in others.items()]
    assert len({geometry_key(made), geometry_key(made, sound), *keys}) == len(keys) + 2


def test_boxes_and_the_map_made_of_them_are_told_apart() -> None:
    made = boxes((2,), [0], [2], 1)
    assert geometry_key(made) != geometry_key(made.to_shard_map())


def test_the_number_of_boxes_counts_where_there_are_no_dimensions() -> None:
    assert geometry_key(boxes((), [], [], 1)) != geometry_key(boxes((), [], [], 2))


def test_a_member_that_cannot_be_compared_is_refused() -> None:
    made = boxes((2,), [0], [2], 1)
    object.__setattr__(made, "offsets", [0])
    with pytest.raises(TypeError, match="a list cannot be part of a key"):
        geometry_key(made)
