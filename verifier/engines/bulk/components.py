"""Hull components of very many views, and batches of components that have the same strides.

Views with disjoint hulls share no address, so each component may be multiplied by the factors of its own
strides. Components with equal ones are multiplied, and cancelled, together.

Theory: T12.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verifier.engines.bulk.block import Table
from verifier.engines.bulk.monomials import Column
from verifier.engines.bulk.views import Views

Strides = tuple[int, ...]
"""A multiset of strides, ascending."""


@dataclass(frozen=True, slots=True)
class Components:
    """Connected components of hulls, ascending.

    Attributes:
        of: the component of each view.
        lows: the lowest address of each component.
        highs: the highest one.
    """

    of: Column
    lows: Column
    highs: Column

    def least_gap(self, size: int) -> int | None:
        """The least address of ``0..size`` that is in no component."""
        size = min(size, np.iinfo(np.int64).max)
        settled = np.concatenate([[0], np.maximum(np.minimum(self.highs + 1, size), 0)])
        gaps = np.flatnonzero(settled < np.concatenate([np.minimum(self.lows, size), [size]]))
        return int(settled[gaps[0]]) if len(gaps) else None


def components_of(views: Views) -> Components:
    """The components of the hulls of views; one sort.

    Theory: T12.
    """
    order = views.offsets.argsort()
    lows, reach = views.offsets[order], np.maximum.accumulate(views.highest[order])
    begins = np.ones(len(lows), np.bool_)
    begins[1:] = lows[1:] > reach[:-1]
    of = np.empty(len(lows), np.int64)
    of[order] = begins.cumsum() - 1
    return Components(of, lows[begins], reach[np.roll(begins, -1)])


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which views have the same strides.

    Attributes:
        of: the kind of each view.
        strides: those of each kind.
    """

    of: Column
    strides: list[Strides]


def kinds_of(strides: Table) -> Kinds:
    """Views by their strides; an axis of stride 0 does not count."""
    of = np.zeros(len(strides), np.int64)
    firsts = np.zeros(min(len(strides), 1), np.int64)
    for column in strides.T:
        if (column == column[:1]).all():
            continue
        values, ranks = np.unique(column, return_inverse=True)
        _, firsts, of = np.unique(of * len(values) + ranks, return_index=True, return_inverse=True)
    rows = strides[firsts].tolist()
    return Kinds(of, [tuple([stride for stride in row if stride]) for row in rows])


@dataclass(frozen=True, slots=True)
class Batch:
    """Components whose views have the same strides at most as often.

    Attributes:
        common: each stride with its largest multiplicity in one view.
        chosen: which components they are.
    """

    common: Counter[int]
    chosen: NDArray[np.bool_]


def batches(
    components: Components, kinds: Kinds, always: Counter[int], *, most: int
) -> Iterator[Batch] | None:
    """The components in batches; None if there are more than ``most``.

    ``always`` are strides that each component counts as its own.
    """
    members: dict[Strides, list[int]] = defaultdict(list)
    for present, own in _by_kinds(components, kinds).items():
        common = Counter(always)
        for kind in present:
            common |= Counter(kinds.strides[kind])
        members[tuple(sorted(common.elements()))] += own
    if len(members) > most:
        return None
    return (Batch(Counter(common), _chosen(own, len(components.lows))) for common, own in members.items())


def _by_kinds(components: Components, kinds: Kinds) -> dict[tuple[int, ...], list[int]]:
    """The components by the kinds of views that they have."""
    count = len(components.lows)
    if len(kinds.strides) < 2:
        return {(0,): [*range(count)]} if count else {}
    present: list[list[int]] = [[] for _ in range(count)]
    pairs = np.unique(components.of * len(kinds.strides) + kinds.of)
    for pair in pairs.tolist():
        present[pair // len(kinds.strides)].append(pair % len(kinds.strides))
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for component, own in enumerate(present):
        found[tuple(own)].append(component)
    return found


def _chosen(members: list[int], count: int) -> NDArray[np.bool_]:
    chosen = np.zeros(count, np.bool_)
    chosen[members] = True
    return chosen
