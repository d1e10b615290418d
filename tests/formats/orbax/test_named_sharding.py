"""NamedSharding: the device map is what slicing by the mesh gives, and what does not fit is said."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.documents import HERE, LIMITS, refusal_of
from tests.formats.orbax.checkpoints import sharding
from verifier import check_map
from verifier.formats.orbax.named_sharding import (
    MOST_DEVICES,
    NamedSharding,
    Unfit,
    device_map,
    fit,
    indivisible,
    named_sharding,
    stands_for_replicas,
)
from verifier.model.piece import Piece


@st.composite
def fitting(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[int, ...]]:
    """A sharding as JSON with shuffled device ids, and the shape of an array that it can cut."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    names = [f"axis{position}" for position in range(len(sizes))]
    free = draw(st.permutations(names))
    spec: list[Any] = []
    shape: list[int] = []
    for _ in range(draw(st.integers(1, 3))):
        count = draw(st.integers(0, len(free)))
        axes, free = list(free[:count]), free[count:]
        plain = axes[0] if len(axes) == 1 and draw(st.booleans()) else None
        spec.append(plain if plain is not None else axes or draw(st.sampled_from([None, []])))
        shape.append(draw(st.integers(0, 2)) * math.prod(sizes[names.index(axis)] for axis in axes))
    while spec and not spec[-1] and draw(st.booleans()):
        spec.pop()
    ids = draw(st.permutations(range(3, 3 + math.prod(sizes))))
    mesh = np.array([{"id": device} for device in ids], dtype=object).reshape(sizes).tolist()
    return sharding(spec, dict(zip(names, sizes, strict=True))) | {"device_mesh": {"mesh": mesh}}, tuple(
        shape
    )


def sliced(stated: dict[str, Any], full: np.ndarray[Any, Any]) -> dict[int, np.ndarray[Any, Any]]:
    """What each device holds: its slice along each dimension, the part counted over the axes of that one."""
    sizes = dict(zip(stated["axis_names"], stated["shape"], strict=True))
    ids = np.vectorize(lambda device: device["id"])(np.array(stated["device_mesh"]["mesh"], dtype=object))
    held = {}
    for place in np.ndindex(*stated["shape"]):
        at = dict(zip(stated["axis_names"], place, strict=True))
        found = full
        for dimension, entry in enumerate(stated["partition_spec"]):
            axes = [entry] if isinstance(entry, str) else entry or []
            counts = tuple(sizes[axis] for axis in axes)
            part = int(np.ravel_multi_index(tuple(at[axis] for axis in axes), counts)) if axes else 0
            found = np.split(found, math.prod(counts), axis=dimension)[part]
        held[int(ids[place])] = found
    return held


def extracted(piece: Piece, full: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    view = piece.source
    places = [
        view.offset + sum(i * s for i, s in zip(index, view.strides, strict=True))
        for index in itertools.product(*map(range, view.shape))
    ]
    return full.ravel()[places].reshape(view.shape)


@given(fitting())
def test_each_device_holds_its_slice_and_names_those_with_the_same(
    case: tuple[dict[str, Any], tuple[int, ...]],
) -> None:
    stated, shape = case
    read = named_sharding(stated, HERE, LIMITS)
    assert isinstance(read, NamedSharding)
    assert fit(read, len(shape)) is None
    assert indivisible(read, shape) is None
    full = np.arange(math.prod(shape)).reshape(shape)
    expected = sliced(stated, full)
    found = device_map(read, shape, name="w", origin=HERE)
    assert found.ranks.keys() == expected.keys()
    for device, held in found.ranks.items():
        (piece,) = held.pieces
        np.testing.assert_array_equal(extracted(piece, full), expected[device])
        assert device in piece.locations
        if math.prod(shape):
            same = [other for other, theirs in expected.items() if np.array_equal(theirs, expected[device])]
            assert piece.locations == tuple(sorted(same))
    assert check_map(found).subjects[0].verdict == "proved"


@given(fitting(), st.data())
def test_what_jax_refuses_does_not_fit(
    case: tuple[dict[str, Any], tuple[int, ...]], data: st.DataObject
) -> None:
    stated, shape = case
    read = named_sharding(stated, HERE, LIMITS)
    assert isinstance(read, NamedSharding)
    if read.spec:
        assert isinstance(fit(read, len(read.spec) - 1), Unfit)
    axis = data.draw(st.integers(0, len(shape) - 1))
    odd = tuple(n + (k == axis) for k, n in enumerate(shape))
    parts = math.prod(dict(read.axes)[name] for name in (*read.spec, *[()] * 3)[axis])
    assert isinstance(indivisible(read, odd), Unfit) == (parts > 1)


def test_words_name_both_sides() -> None:
    read = named_sharding(sharding(["data", "x"]), HERE, LIMITS)
    assert isinstance(read, NamedSharding)
    assert fit(read, 2) == Unfit('cuts along the axis "x"', 'its mesh has the axes "data" (2), "model" (4)')
    read = named_sharding(sharding(["model"]), HERE, LIMITS)
    assert isinstance(read, NamedSharding)
    assert indivisible(read, (6,)) == Unfit(
        "cuts dimension 0 into 4 parts", "6 elements are not divisible by it"
    )


def test_meshes_without_ids_are_counted_up_to_a_limit() -> None:
    stated = sharding([None]) | {"device_mesh": None}
    read = named_sharding(stated, HERE, LIMITS)
    assert isinstance(read, NamedSharding)
    assert read.devices == tuple(range(8))
    refused = refusal_of(lambda: named_sharding(stated | {"shape": [2, MOST_DEVICES]}, HERE, LIMITS))
    assert refused is not None
    assert refused.code == "SM006"


@pytest.mark.parametrize(("devices", "alone"), [(256, False), (512, True)])
def test_one_device_stands_for_very_many_replicas(devices: int, alone: bool) -> None:
    read = named_sharding(sharding([], {"all": devices}), HERE, LIMITS)
    assert isinstance(read, NamedSharding)
    assert stands_for_replicas(read, 1) == alone
    found = device_map(read, (4,), name="w", origin=HERE)
    assert len(found.ranks) == (1 if alone else devices)
    assert check_map(found).subjects[0].verdict == "proved"
