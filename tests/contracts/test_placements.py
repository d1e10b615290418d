"""R6 to R9, R16, R21 to R26, R31, R35: what mesh axes do is stated, and contradicts nothing; N39, N32."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.damaging import with_value
from verifier.contracts.cases import check_document

GROUP = {"name": "dp", "members": ["a", "b"]}


def placed(kind: str, coordinate: int, **more: Any) -> list[dict[str, Any]]:
    return [{"axis": "dp", "kind": kind, "coordinate": coordinate, "parts": 2, **more}]


def cut(layout: str, shards: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    parameter = {"fqn": "w", "shape": [4, 3]}
    return {"map": {"parameter": parameter, "layout": layout, "group": GROUP, "shards": shards, **more}}


def shard(member: str, begin: int, length: int, placements: Any, **more: Any) -> dict[str, Any]:
    return {"member": member, "offset": begin, "length": length, "placements": placements, **more}


def box(member: str, offsets: list[int], lengths: list[int], placements: Any) -> dict[str, Any]:
    return {"member": member, "offsets": offsets, "lengths": lengths, "placements": placements}


FLAT = cut(
    "flat_shard", [shard("a", 0, 5, placed("flat_shard", 0)), shard("b", 5, 7, placed("flat_shard", 1))]
)
WHOLE = cut(
    "replicated", [shard("a", 0, 12, placed("replicate", 0)), shard("b", 0, 12, placed("replicate", 1))]
)
OWNED = cut(
    "whole_owner",
    [
        shard("a", 0, 12, placed("whole_owner", 0), owner="a"),
        shard("b", 0, 0, placed("whole_owner", 1), owner="a"),
    ],
)
SLICED = cut(
    "dim_shard",
    [
        box("a", [0, 0], [4, 2], placed("dimension_shard", 0, dim=1)),
        box("b", [0, 2], [4, 1], placed("dimension_shard", 1, dim=1)),
    ],
    dim=1,
)
MIRRORED = cut(
    "dim_shard",
    [box("a", [0, 0], [4, 3], placed("replicate", 0)), box("b", [0, 0], [4, 3], placed("replicate", 1))],
)
FIRST = ("map", "shards", 0, "placements")
SECOND = ("map", "shards", 1, "placements")


@pytest.mark.parametrize("document", [FLAT, WHOLE, OWNED, SLICED, MIRRORED])
def test_placements_that_say_what_the_cut_says(document: Any) -> None:
    assert check_document(document, "x").broken == ()


@pytest.mark.parametrize(
    ("document", "at", "value", "rules"),
    [
        (FLAT, (*FIRST, 0, "kind"), "flat", ("R6",)),
        (FLAT, (*FIRST, 0, "parts"), 0, ("R7",)),
        (FLAT, (*FIRST, 0, "parts"), True, ("R7",)),
        (FLAT, (*FIRST, 0, "coordinate"), -1, ("R8",)),
        (FLAT, (*SECOND, 0, "coordinate"), 2, ("R8",)),
        (FLAT, (*FIRST, 0, "dim"), 0, ("R31", "R9")),
        (FLAT, FIRST, "dp", ("R16",)),
        (FLAT, FIRST, {"dp": 0}, ("N32",)),
        (FLAT, (*FIRST, 0, "parts"), 3, ("R21", "R31")),
        (FLAT, (*SECOND, 0, "coordinate"), 0, ("R21",)),
        (FLAT, (*FIRST, 0, "axis"), "tp", ("R31",)),
        (FLAT, FIRST, None, ("R31",)),
        (FLAT, FIRST, [], ("R24", "R31")),
        (FLAT, (*FIRST, 0, "kind"), "replicate", ("R24", "R31")),
        (WHOLE, (*FIRST, 0, "kind"), "flat_shard", ("R23", "R31")),
        (OWNED, (*FIRST, 0, "kind"), "replicate", ("R25", "R31")),
        (SLICED, (*FIRST, 0, "kind"), "flat_shard", ("R26", "R31", "R9")),
        (SLICED, (*FIRST, 0, "dim"), 0, ("R26", "R31")),
        (SLICED, (*FIRST, 0, "dim"), 2, ("R22", "R26", "R31")),
        (MIRRORED, ("map", "shards", 0, "lengths"), [4, 2], ("R35",)),
        (MIRRORED, ("map", "dim"), 0, ("R36", "R9")),
    ],
)
def test_one_change_breaks_its_rule(document: Any, at: Any, value: Any, rules: tuple[str, ...]) -> None:
    assert check_document(with_value(document, at, value), "x").rules == rules


def test_R23_a_replica_without_a_group_is_placed_nowhere() -> None:
    alone = {"parameter": {"fqn": "w", "shape": [2]}, "layout": "replicated"}
    plain = {"offset": 0, "length": 2}
    assert check_document({"map": {**alone, "shards": [{**plain, "placements": []}]}}, "x").rules == ()
    axis = [{"axis": "dp", "kind": "replicate", "coordinate": 0, "parts": 1}]
    assert check_document({"map": {**alone, "shards": [{**plain, "placements": axis}]}}, "x").rules == (
        "R23",
    )


def test_R16_axes_are_listed_once() -> None:
    twice = [*placed("flat_shard", 0), *placed("flat_shard", 0)]
    assert "R16" in check_document(with_value(FLAT, FIRST, twice), "x").rules


@pytest.mark.parametrize(
    ("offset", "length", "rules"),
    [(5, 7, ()), (5, 8, ("N39",)), (5, 12, ("R17",)), (13, 0, ("N39",)), (12, 0, ("R32",))],
)
def test_N39_padding_has_no_index(offset: int, length: int, rules: tuple[str, ...]) -> None:
    """A buffer of 12 elements and 4 of padding; an interval may end where the parameter does."""
    padded = with_value(FLAT, ("map", "padding"), 4)
    second = {**padded["map"]["shards"][1], "offset": offset, "length": length}
    assert check_document(with_value(padded, ("map", "shards", 1), second), "x").rules == rules


def test_N39_only_a_flat_buffer_is_padded() -> None:
    assert check_document(with_value(WHOLE, ("map", "padding"), 1), "x").rules == ("N39",)
