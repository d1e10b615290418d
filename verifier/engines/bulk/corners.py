"""The least element that is not in exactly one box, by the corners of all boxes.

Theory: T23.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verifier.engines.bulk.block import Block, Boxes
from verifier.engines.bulk.monomials import Column, Piles
from verifier.geometry.strided import INT64_MAX


@dataclass(frozen=True, slots=True)
class Wrong:
    """A point, and in how many boxes too many its elements are; -1 when they are in none."""

    point: tuple[int, ...]
    excess: int


@dataclass(frozen=True, slots=True)
class TooWide:
    """The coordinates do not fit into the digits of one 64-bit integer."""


def least_wrong(block: Block, surplus: Boxes | None = None) -> Wrong | TooWide | None:
    """The least point that is in more or fewer boxes than one, None when there is none.

    ``surplus`` are boxes to subtract first; their edges must be edges of boxes of the block.

    Theory: T23.
    """
    extents = block.extents
    whole = Boxes(1, _constants([0] * len(extents)), _constants(extents))
    portions = [(block.boxes, 1), (whole, -1)]
    if surplus is not None:
        portions.append((surplus, -1))
    marks: list[Column] = []
    radices = [extent + 1 for extent in extents]
    if math.prod(radices) > INT64_MAX:
        marks = _marks(portions)
        radices = [len(edges) for edges in marks]
        portions = [(_ranked(boxes, marks), sign) for boxes, sign in portions]
    if math.prod(radices) > INT64_MAX:
        return TooWide()
    weights = [math.prod(radices[k + 1 :]) for k in range(len(radices))]
    piles = Piles([], [])
    for boxes, sign in portions:
        _add_corners(piles, boxes, weights, sign)
    survivor = piles.least_survivor()
    if survivor is None:
        return None
    digits = [survivor.address // weight % radix for weight, radix in zip(weights, radices, strict=True)]
    if marks:
        digits = [int(edges[digit]) for edges, digit in zip(marks, digits, strict=True)]
    return Wrong(tuple(digits), survivor.value)


def _add_corners(piles: Piles, boxes: Boxes, weights: Sequence[int], sign: int) -> None:
    """No key exceeds that of the far corner of the parameter, the product of all radices less one."""
    keys = np.zeros(boxes.count, np.int64)
    lengths: list[Column | int] = []
    for low, high, weight in zip(boxes.lows, boxes.highs, weights, strict=True):
        keys += low * weight
        lengths.append((high - low) * weight)
    piles.add(keys, lengths, sign=sign)


def _constants(numbers: Sequence[int]) -> tuple[Column, ...]:
    return tuple([np.array([number], np.int64) for number in numbers])


def _marks(portions: Sequence[tuple[Boxes, int]]) -> list[Column]:
    """The edges that occur along each dimension, ascending."""
    edges = zip(*[[*zip(boxes.lows, boxes.highs, strict=True)] for boxes, _ in portions], strict=True)
    return [np.unique(np.concatenate([column for both in pairs for column in both])) for pairs in edges]


def _ranked(boxes: Boxes, marks: Sequence[Column]) -> Boxes:
    """The same boxes with the rank of each edge among the marks in its place, which keeps every order."""
    lows = tuple([np.searchsorted(m, low) for m, low in zip(marks, boxes.lows, strict=True)])
    highs = tuple([np.searchsorted(m, high) for m, high in zip(marks, boxes.highs, strict=True)])
    return Boxes(boxes.count, lows, highs)
