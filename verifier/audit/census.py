"""Exact counts of wrong addresses, by listing them, where a map is small enough for that.

Only for the words "smallest of 4 clashes": no verdict rests on it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator

from verifier.audit.holders import Holding, wrong_at
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Count, Visit

LISTED = 100_000
"""Most addresses listed for one count."""
SHOWN = 6
"""Most wrong addresses kept to be shown."""

Tally = tuple[Count, tuple[int, ...]]
"""How many, and the first few."""

AT_LEAST_ONE: Tally = (Count(1, exact=False), ())


def _indices(view: StridedView) -> Iterator[tuple[int, ...]]:
    # An empty view may have a huge extent besides, and a product lists every axis before it begins.
    return iter(()) if view.is_empty else itertools.product(*[range(n) for n in view.shape])


def _tally(addresses: Iterable[int]) -> Tally:
    wrong = sorted(addresses)
    return Count(len(wrong), exact=True), tuple(wrong[:SHOWN])


def shard_tallies(shard_map: ShardMap, rank: int, expectation: Expectation) -> dict[str, Tally]:
    """Wrong addresses of one rank by code: written by two pieces (SM201), twice by one piece and no other
    (SM202), never (SM203); empty when too large to list.
    """
    shard = shard_map.ranks[rank]
    if shard.numel + sum(piece.numel for piece in shard.pieces) > LISTED:
        return {}
    writers: dict[int, list[int]] = defaultdict(list)
    for position, piece in enumerate(shard.pieces):
        for index in _indices(piece.dest):
            writers[piece.dest.address(index)].append(position)
    padding = set(expectation.holes.get(rank, ()))
    wrong: dict[str, list[int]] = defaultdict(list)
    for address in range(shard.numel):
        found = writers.get(address, ())
        if len(found) > 1:
            wrong["SM202" if found[0] == found[1] else "SM201"].append(address)
        elif not found and address not in padding:
            wrong["SM203"].append(address)
    return {code: _tally(addresses) for code, addresses in wrong.items()}


def parameter_tallies(shard_map: ShardMap, expectation: Expectation) -> dict[str, Tally]:
    """Wrong elements by the code of their fault; empty when the map is too large to list."""
    if shard_map.numel + sum(piece.numel for _, _, piece in shard_map.pieces()) > LISTED:
        return {}
    holdings: dict[int, list[Holding]] = defaultdict(list)
    for rank, position, piece in shard_map.pieces():
        for index in _indices(piece.source):
            holding = Holding(Visit(rank, position, index), piece)
            holdings[piece.source.address(index)].append(holding)
    gaps = set(expectation.gaps)
    wrong: dict[str, list[int]] = defaultdict(list)
    for element in range(shard_map.numel):
        needed = expectation.cover and element not in gaps
        found = wrong_at(holdings.get(element, ()), needed=needed, scales_agree=not expectation.partial)
        if found is not None:
            wrong[found.code].append(element)
    return {code: _tally(elements) for code, elements in wrong.items()}
