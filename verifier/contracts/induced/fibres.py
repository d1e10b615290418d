"""The definition of an induced map, by listing every element: what the closed forms are tested against.

Theory: T26.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import Literal

from verifier.contracts.geometry import Geometry
from verifier.contracts.shards import ParameterCut
from verifier.geometry.strided import coordinates

Verdict = Literal["partition", "reducible", "impossible"]


def held_by(cut: ParameterCut) -> dict[int, set[int]]:
    """The flat elements of the parameter that each member holds, by its position among the shards."""
    return {position: set(_elements(cut, position)) for position in range(len(cut.shards))}


def _elements(cut: ParameterCut, position: int) -> Iterator[int]:
    shard = cut.shards[position]
    if not shard.is_box:
        yield from range(shard.offsets[0], shard.offsets[0] + shard.lengths[0])
        return
    for index in itertools.product(
        *[range(o, o + n) for o, n in zip(shard.offsets, shard.lengths, strict=True)]
    ):
        flat = 0
        for i, extent in zip(index, cut.shape, strict=True):
            flat = flat * extent + i
        yield flat


def supports(geometry: Geometry, shape: tuple[int, ...]) -> Mapping[object, Set[int]]:
    """State element to the parameter elements it is made from, for geometries with a known support.

    Raises:
        ValueError: the geometry has no support that is known before a run.
    """
    found: dict[object, set[int]] = defaultdict(set)
    for element in range(math.prod(shape)):
        for key in _fed(geometry, shape, element):
            found[key].add(element)
    return found


def _fed(geometry: Geometry, shape: tuple[int, ...], element: int) -> Iterator[object]:
    index = coordinates(element, shape)
    match geometry.kind:
        case "parameter":
            yield element
        case "row":
            yield index[:-1]
        case "column":
            yield (*index[:-2], index[-1])
        case "block" | "packed" if geometry.domain == "tensor":
            yield element // block_size(geometry)
        case "block" | "packed" if geometry.domain == "row":
            yield (*index[:-1], index[-1] // block_size(geometry))
        case "factor" if geometry.axis is not None:
            # Entry (p, q) adds products of elements at p and at q that agree elsewhere.
            for other in range(shape[geometry.axis]):
                yield (index[geometry.axis], other)
                yield (other, index[geometry.axis])
        case _:
            raise ValueError(f"{geometry.kind} has no support that is known before a run")


def block_size(geometry: Geometry) -> int:
    """Elements that share one state element.

    Raises:
        ValueError: the size is not a number.
    """
    size = geometry.per if geometry.kind == "packed" else geometry.size
    if not isinstance(size, int):
        raise ValueError(f"the size of {geometry.kind} is {size}")
    return size


def by_definition(cut: ParameterCut, geometry: Geometry) -> Verdict:
    """Whether the field is cut exactly, can be put together by groups, or neither.

    Each state element belongs to the members that hold some of its support. Exactly one each: a partition.
    Groups that are pairwise equal or disjoint can reduce. A Gram factor is a sum over the other axes only:
    members that hold different coordinates of its own axis cannot add anything up.
    """
    held = held_by(cut)
    groups: set[frozenset[int]] = set()
    for support in supports(geometry, cut.shape).values():
        members = frozenset(member for member, elements in held.items() if elements & support)
        groups.add(members)
    if all(len(group) == 1 for group in groups):
        return "partition"
    if geometry.kind == "factor" and not _whole_lines(cut, geometry, held):
        return "impossible"
    apart = all(one == two or not one & two for one, two in itertools.combinations(groups, 2))
    return "reducible" if apart else "impossible"


def _whole_lines(cut: ParameterCut, geometry: Geometry, held: Mapping[int, Set[int]]) -> bool:
    """Whether the products of a factor stay on one member: lines along its axis are whole."""
    axis = geometry.axis or 0
    lines: dict[object, set[int]] = defaultdict(set)
    for member, elements in held.items():
        for element in elements:
            index = coordinates(element, cut.shape)
            lines[(*index[:axis], *index[axis + 1 :])].add(member)
    return all(len(members) == 1 for members in lines.values())
