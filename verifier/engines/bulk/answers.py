"""What can be said of boxes that should tile a parameter."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.certificates.encode_boxes import BoxCertificate
from verifier.obligations.faults import Count

Element = tuple[int, ...]
"""Coordinates in the parameter, the first dimension first. Elements are ordered row-major."""


@dataclass(frozen=True, slots=True)
class Tiled:
    """Every box is inside the parameter in every dimension, and each element lies in exactly one of them."""

    evidence: BoxCertificate


@dataclass(frozen=True, slots=True)
class Outside:
    """Boxes leave the parameter in a dimension; nothing is said of their overlaps and holes.

    An empty box has to lie inside as well, though it may begin where the parameter ends: no writer puts it
    elsewhere.

    Attributes:
        box: the first of them.
        axis: the first dimension it leaves.
        count: how many there are.
        empty: how many of them are empty.
    """

    box: int
    axis: int
    count: int
    empty: int


@dataclass(frozen=True, slots=True)
class Uncovered:
    """Elements lie in no box.

    Attributes:
        element: the least one; None when it was not found.
        count: how many there are.
    """

    element: Element | None
    count: Count


@dataclass(frozen=True, slots=True)
class Overlap:
    """Elements lie in several boxes.

    Attributes:
        first: the first box that holds ``element``.
        second: the next one that does.
        element: of the elements that several boxes hold.
        least: whether there is no smaller one.
        count: how many such elements there are.
        uncovered: what is known of elements in no box; None when there are none, or none are known.
    """

    first: int
    second: int
    element: Element
    least: bool
    count: Count
    uncovered: Uncovered | None


@dataclass(frozen=True, slots=True)
class Undecided:
    """Not decided: SM901 (numbers past 64 bits) or SM902 (over budget)."""

    code: str
    reason: str


BoxAnswer = Tiled | Outside | Overlap | Uncovered | Undecided
