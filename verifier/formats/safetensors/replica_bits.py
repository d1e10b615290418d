"""Whether the stored copies of each element of a parameter have the same bits.

A map becomes runs: stretches of the parameter that one piece keeps in one stretch of its shard. Runs of equal
scale are compared in the order of their first element against the run that reaches furthest so far. That is
enough: a run that begins at or before this one and reaches further covers all of what both have, and equality
of bits is transitive. Theory: T11.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from verifier.geometry.strided import coordinates
from verifier.model.piece import Piece, Scale
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Count, Fault, Visit

CHUNK = 1 << 20
"""Bytes that are compared at a time."""
MOST_COUNTED = 100_000
"""So many different elements are counted exactly."""

Read = Callable[[int, int, int], bytes]
"""Bits of stored elements: (rank, first shard address, how many)."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbours in the parameter that are neighbours in a shard: ``length`` elements from ``start`` on.

    ``index`` is the position of the first of them in the piece, row-major.
    """

    start: int
    length: int
    dest: int
    rank: int
    piece: int
    index: int

    @property
    def end(self) -> int:
        """One past the last parameter address."""
        return self.start + self.length


def run_count(shard_map: ShardMap) -> int:
    """How many runs a map has, without listing them."""
    return sum(piece.numel // _inner(piece) for _, _, piece in shard_map.pieces() if not piece.is_empty)


def stays_inside(shard_map: ShardMap) -> bool:
    """Whether every view stays inside its buffers; the rest is for the prover."""
    return all(
        piece.is_empty
        or (
            piece.source.lowest >= 0
            and piece.source.highest < shard_map.numel
            and piece.dest.lowest >= 0
            and piece.dest.highest < shard_map.ranks[rank].numel
        )
        for rank, _, piece in shard_map.pieces()
    )


def replica_drift(shard_map: ShardMap, read: Read, item_bytes: int) -> tuple[Fault | None, int]:
    """SM404 for the least element whose copies differ, and how many pairs of runs were compared.

    The map must be sound; nothing outside of its shards is read. ``item_bytes`` is the size of one element.

    Raises:
        OSError: from ``read``.
    """
    found = _Drift(shard_map, read, item_bytes)
    by_scale: dict[Scale, list[Run]] = {}
    for rank, position, piece in shard_map.pieces():
        by_scale.setdefault(piece.scale, []).extend(_runs(rank, position, piece))
    for runs in by_scale.values():
        runs.sort(key=lambda run: (run.start, run.rank, run.piece))
        furthest: Run | None = None
        for run in runs:
            if furthest is not None and run.rank != furthest.rank and run.start < furthest.end:
                found.compare(furthest, run)
            if furthest is None or run.end > furthest.end:
                furthest = run
    return found.fault(), found.compared


def _inner(piece: Piece) -> int:
    """Elements of the longest run that every outer index of a piece has."""
    run = 1
    axes = zip(piece.shape, piece.source.strides, piece.dest.strides, strict=True)
    for extent, source, dest in reversed(list(axes)):
        if extent != 1:
            if source != run or dest != run:
                break
            run *= extent
    return run


def _runs(rank: int, position: int, piece: Piece) -> Iterator[Run]:
    if piece.is_empty:
        return
    inner = _inner(piece)
    outer, covered = len(piece.shape), 1
    while covered < inner:
        outer -= 1
        covered *= piece.shape[outer]
    extents = [range(extent) for extent in piece.shape[:outer]]
    rest = (0,) * (len(piece.shape) - outer)
    for number, index in enumerate(itertools.product(*extents)):
        place = (*index, *rest)
        yield Run(
            piece.source.address(place), inner, piece.dest.address(place), rank, position, number * inner
        )


class _Drift:
    """Elements that differ, while they are looked for."""

    __slots__ = ("_first", "_item", "_map", "_read", "_wrong", "compared")

    def __init__(self, shard_map: ShardMap, read: Read, item_bytes: int) -> None:
        self._map = shard_map
        self._read = read
        self._item = item_bytes
        self._wrong: set[int] = set()
        self._first: tuple[int, Run, Run, bytes, bytes] | None = None
        self.compared = 0

    def compare(self, held: Run, other: Run) -> None:
        """Compare what two runs share; ``other`` begins inside ``held``."""
        self.compared += 1
        end = min(held.end, other.end)
        step = max(1, CHUNK // self._item)
        for start in range(other.start, end, step):
            number = min(step, end - start)
            ours = self._read(held.rank, held.dest + start - held.start, number)
            theirs = self._read(other.rank, other.dest + start - other.start, number)
            if ours != theirs:
                self._note(held, other, start, ours, theirs)

    def _note(self, held: Run, other: Run, start: int, ours: bytes, theirs: bytes) -> None:
        for at in range(0, len(ours), self._item):
            left, right = ours[at : at + self._item], theirs[at : at + self._item]
            if left == right:
                continue
            address = start + at // self._item
            if self._first is None or address < self._first[0]:
                self._first = (address, held, other, left, right)
            if len(self._wrong) <= MOST_COUNTED:
                self._wrong.add(address)

    def fault(self) -> Fault | None:
        """The fault, None when all copies are equal."""
        if self._first is None:
            return None
        address, held, other, left, right = self._first
        runs = (held, other)
        return Fault(
            code="SM404",
            side="parameter",
            rank=None,
            pieces=tuple([(run.rank, run.piece) for run in runs]),
            address=address,
            visits=tuple([self._visit(run, address) for run in runs]),
            count=Count(len(self._wrong), exact=len(self._wrong) <= MOST_COUNTED),
            others=tuple(sorted(self._wrong)[:4]),
            values={
                "holders": tuple([run.rank for run in runs]),
                "patterns": tuple([f"0x{bits[::-1].hex()}" for bits in (left, right)]),
            },
        )

    def _visit(self, run: Run, address: int) -> Visit:
        shape = self._map.ranks[run.rank].pieces[run.piece].shape
        return Visit(run.rank, run.piece, coordinates(run.index + address - run.start, shape))
