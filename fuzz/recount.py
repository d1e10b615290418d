"""The reference for questions: every wrong place with its excess, by counting visits.

Shares nothing with the engines, ``enumerate`` included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fuzz.walk import addresses
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

Place = tuple[int, ...]


def wrong_places(question: Question) -> dict[Place, int]:
    """Each place where the question fails, with its excess; empty when it holds."""
    match question:
        case Tiling(size, views):
            visits = _visits(views)
            excess = {a: n - (0 <= a < size) for a, n in visits.items()}
            excess |= {a: -1 for a in range(size) if a not in visits}
        case Packing(size, views):
            excess = {a: max(0, n - (0 <= a < size)) for a, n in _visits(views).items()}
        case SameAddresses(left, right):
            ours, theirs = _visits(left), _visits(right)
            excess = {a: ours[a] - theirs[a] for a in [*ours, *theirs]}
        case SamePairs(left_pairs, right_pairs):
            return _different_pairs(_pairs(left_pairs), _pairs(right_pairs))
        case UnitBoundaries(size, unit, views):
            held = set(_visits(views))
            excess = {a: 1 for a in held if a - 1 not in held}
            excess |= {a + 1: -1 for a in held if a + 1 not in held}
            excess = {a: n for a, n in excess.items() if a % unit and a != size}
    return {(address,): surplus for address, surplus in excess.items() if surplus}


def _visits(views: Iterable[StridedView]) -> Counter[int]:
    return Counter(address for view in views for address in addresses(view))


def _pairs(pairs: Iterable[PairView]) -> Counter[tuple[int, int]]:
    return Counter(
        step for pair in pairs for step in zip(addresses(pair.source), addresses(pair.dest), strict=True)
    )


def _different_pairs(ours: Counter[tuple[int, int]], theirs: Counter[tuple[int, int]]) -> dict[Place, int]:
    return {pair: ours[pair] - theirs[pair] for pair in [*ours, *theirs] if ours[pair] != theirs[pair]}
