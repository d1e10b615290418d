"""The trusted base for parameters stored as boxes: accepts boxes only if they tile their parameter.

Standard library only and nothing of this project; runs alone as ``python check_boxes.py FILE``. A certificate
has no evidence: all is done again. What is malformed, too large or not understood is rejected. Theory: T23.

A box is x^low * prod (1 - x_k^size_k) over prod (1 - x_k). So the boxes tile the parameter iff their corners,
and those of the parameter itself with opposite signs, are the same points with a plus as with a minus. A
point is written as one number whose digits are its coordinates.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import chain, compress, zip_longest
from math import prod
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

INT64_MAX, MOST_CORNERS, MOST_DIMENSIONS, MOST_TEXT = 2**63 - 1, 2**25, 64, 2**27
MEMBERS = {"schema", "name", "shape", "count", "offsets", "sizes"}
MALFORMED = (AttributeError, KeyError, RecursionError, TypeError, ValueError)


class Rejected(Exception):  # noqa: N818 - an outcome, not an error
    """The certificate proves nothing; the message names the first wrong number."""


class TooLarge(Rejected):
    """The certificate may well be right, but confirming it takes more work than the checker does."""


class Axis(NamedTuple):
    """Where the boxes lie along one dimension of the parameter."""

    extent: int
    lows: list[int]
    sizes: list[int]


def need(truth: object, message: str, *values: object) -> None:
    """Reject unless it is true; the message is put together only then."""
    if not truth:
        raise Rejected(message.format(*values))


def naturals(what: str, column: Sequence[int], length: int) -> None:
    """Refuse a column that is no ``length`` plain integers from 0 on."""
    need(len(column) == length, "malformed: {} has {} numbers, not {}", what, len(column), length)
    plain = {*map(type, column)} <= {int} and min(column, default=0) >= 0
    need(plain, "malformed: {} holds what is no integer from 0 on", what)


def check_inside(dimension: int, axis: Axis) -> None:
    """Every box, an empty one too, lies inside the parameter along one dimension."""
    if max(map(add, axis.lows, axis.sizes), default=0) > axis.extent:
        for box, (low, size) in enumerate(zip(axis.lows, axis.sizes, strict=True)):
            fits = low + size <= axis.extent
            need(fits, "box {} is {}+{} of {} in dimension {}", box, low, size, axis.extent, dimension)


def without_empty(axes: Sequence[Axis]) -> list[Axis]:
    """The axes of the boxes that have elements."""
    if all(map(all, (axis.sizes for axis in axes))):
        return [*axes]
    some = [*map(all, zip(*(axis.sizes for axis in axes), strict=True))]
    return [Axis(a.extent, [*compress(a.lows, some)], [*compress(a.sizes, some)]) for a in axes]


def corners(count: int, axes: Sequence[Axis]) -> tuple[list[list[int]], list[list[int]]]:
    """The corners of boxes as numbers: those with an even number of high ends, and the others."""
    even, odd, weight = [[0] * count], list[list[int]](), 1
    for extent, lows, sizes in reversed(axes):
        near = [weight * x for x in lows]
        far = [weight * x for x in map(add, lows, sizes)]
        even, odd = (
            [[*map(add, near, c)] for c in even] + [[*map(add, far, c)] for c in odd],
            [[*map(add, far, c)] for c in even] + [[*map(add, near, c)] for c in odd],
        )
        weight *= extent + 1  # a coordinate is at most the extent, so that no digit carries
    return even, odd


def check_tiled(shape: Sequence[int], count: int, offsets: Sequence[int], sizes: Sequence[int]) -> None:
    """Boxes, given in flat columns, tile a parameter; or Rejected. Theory: T23."""
    dimensions = len(shape)
    naturals("shape", shape, min(dimensions, MOST_DIMENSIONS))
    need(max(*shape, prod(shape), 0) <= INT64_MAX, "shape: more than 2^63 - 1 elements")
    naturals("count", [count], 1)
    naturals("offsets", offsets, count * dimensions)
    naturals("sizes", sizes, count * dimensions)
    axes = [Axis(n, [*offsets[k::dimensions]], [*sizes[k::dimensions]]) for k, n in enumerate(shape)]
    for dimension, axis in enumerate(axes):
        check_inside(dimension, axis)
    axes = without_empty(axes)
    boxes = len(axes[0].lows) if axes else count
    # Along an axis that every box fills they are as the parameter; one of extent 0 leaves no boxes.
    axes = [axis for axis in axes if axis.extent == 0 or {*axis.sizes} - {axis.extent}]
    if boxes << len(axes) > MOST_CORNERS:
        raise TooLarge(f"too large to check: {boxes} boxes cut along {len(axes)} dimensions")
    even, odd = corners(boxes, axes)
    whole_even, whole_odd = corners(1, [Axis(axis.extent, [0], [axis.extent]) for axis in axes])
    plus, minus = sorted(chain(*even, *whole_odd)), sorted(chain(*odd, *whole_even))
    if plus != minus:
        unequal = next(pair for pair in zip_longest(plus, minus) if pair[0] != pair[1])
        least, element = min(key for key in unequal if key is not None), list[int]()
        for extent, _, _ in reversed(axes):
            least, coordinate = divmod(least, extent + 1)
            element.insert(0, coordinate)
        raise Rejected(f"element {element} of the dimensions that are cut is not in exactly one box")


def check(document: Any) -> None:
    """Accept a parsed certificate, or Rejected."""
    try:
        need(document.keys() == MEMBERS, "malformed: members")
        named = type(document["name"]) is str and document["schema"] == "shardproof.boxes/1"
        need(named, "certificate: unknown schema, or no name")
        columns = [document[name] for name in ("shape", "offsets", "sizes")]
        need({*map(type, columns)} == {list}, "malformed: columns")
        check_tiled(columns[0], document["count"], columns[1], columns[2])
    except MALFORMED as fault:
        raise Rejected(f"malformed: {type(fault).__name__} {fault}"[:300]) from fault


def unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object none of whose names comes twice."""
    need(len(dict(members)) == len(members), "malformed: an object has a name twice")
    return dict(members)


def check_text(text: str) -> None:
    """As ``check``, for the text of a certificate."""
    need(len(text) <= MOST_TEXT, "malformed: too long")
    try:
        check(json.loads(text, object_pairs_hook=unique))
    except MALFORMED as fault:
        raise Rejected(f"malformed: {fault}"[:300]) from fault


if __name__ == "__main__":
    try:
        check_text(Path(sys.argv[1]).read_text("utf-8"))
        print("accepted")
    except (IndexError, OSError, UnicodeDecodeError, Rejected) as fault:
        sys.exit(f"rejected: {fault}")
