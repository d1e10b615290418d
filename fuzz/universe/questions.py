"""All questions within stated bounds, listed completely."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fuzz.universe.maps import inside
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


@dataclass(frozen=True, slots=True)
class Listing:
    """All questions of one kind. ``questions`` lists the part of one of ``parts`` tasks."""

    name: str
    bounds: str
    parts: int
    questions: Callable[[int], Iterator[Question]]


def unruly(size: int) -> tuple[StridedView, ...]:
    """Views that may be empty, leave 0..size, stand still or run backwards."""
    found = [StridedView(offset, (), ()) for offset in range(-1, size + 1)]
    for offset, extent, stride in itertools.product(
        range(-1, size + 1), range(size + 1), range(-2, size + 1)
    ):
        found.append(StridedView(offset, (extent,), (stride,)))
    for offset, *strides in itertools.product(range(-1, size + 1), range(size), range(size)):
        found.append(StridedView(offset, (2, 2), tuple(strides)))
    return tuple(found)


def fillings(views: tuple[StridedView, ...], most: int, sizes: range, name: str, bounds: str) -> Listing:
    """Tiling and Packing of every size by every multiset of views."""

    def questions(first: int) -> Iterator[Question]:
        for further in range(most):
            for others in itertools.combinations_with_replacement(views[first:], further):
                for size in sizes:
                    yield Tiling(size, (views[first], *others))
                    yield Packing(size, (views[first], *others))

    return Listing(name, bounds, len(views), questions)


def _up_to_two(views: tuple[StridedView, ...]) -> list[tuple[StridedView, ...]]:
    return [(), *((v,) for v in views), *itertools.combinations_with_replacement(views, 2)]


def same_addresses(size: int, right: int) -> Listing:
    """Every multiset of up to two views against every one of up to ``right``."""
    views = inside(size)
    lefts = _up_to_two(views)
    rights = lefts if right > 1 else lefts[: len(views) + 1]

    def questions(part: int) -> Iterator[Question]:
        for other in rights:
            yield SameAddresses(lefts[part], other)

    bounds = (
        f"all multisets of up to 2 views of one or two axes inside 0..{size} against those of up to {right}"
    )
    return Listing(f"SameAddresses, 2 against {right} inside {size}", bounds, len(lefts), questions)


def same_pairs(size: int) -> Listing:
    """Every multiset of up to two blocks of pairs against every one of up to one."""
    views = inside(size)
    blocks = [PairView(s, d) for s, d in itertools.product(views, repeat=2) if s.shape == d.shape]
    lefts = [(), *((b,) for b in blocks), *itertools.combinations_with_replacement(blocks, 2)]
    rights = lefts[: len(blocks) + 1]

    def questions(part: int) -> Iterator[Question]:
        for other in rights:
            yield SamePairs(lefts[part], other)

    bounds = (
        f"all multisets of up to 2 blocks of one or two axes inside 0..{size} on both sides against up to 1"
    )
    return Listing(f"SamePairs inside {size}", bounds, len(lefts), questions)


def unit_boundaries(size: int) -> Listing:
    """Every set of up to two views, every unit."""
    views = inside(size)
    sets = [chosen for chosen in _up_to_two(views) if chosen]

    def questions(part: int) -> Iterator[Question]:
        for unit in range(1, size + 1):
            yield UnitBoundaries(size, unit, sets[part])

    bounds = f"all multisets of 1 or 2 views of one or two axes inside 0..{size}, units 1 to {size}"
    return Listing(f"UnitBoundaries inside {size}", bounds, len(sets), questions)


LISTINGS: tuple[Listing, ...] = (
    fillings(
        inside(6),
        3,
        range(4, 7),
        "Tiling and Packing by 3 inside 6",
        "all multisets of 1 to 3 views of one or two axes inside 0..6, sizes 4 to 6",
    ),
    fillings(
        unruly(4),
        2,
        range(2, 5),
        "Tiling and Packing by 2, unruly",
        "all multisets of 1 or 2 views with offset -1 to 4: no axis; extent 0 to 4, stride -2 to 4; "
        "extents (2, 2), strides 0 to 3; sizes 2 to 4",
    ),
    same_addresses(4, 2),
    same_addresses(6, 1),
    same_pairs(4),
    unit_boundaries(6),
)
"""What ``python -m fuzz.universe`` lists."""
