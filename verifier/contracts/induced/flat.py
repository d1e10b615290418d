"""Fields of a parameter that is cut as a flat buffer. Theory: T26."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator

from verifier.contracts.geometry import Geometry
from verifier.contracts.induced.fibres import block_size
from verifier.contracts.induced.field_shapes import field_shape
from verifier.contracts.induced.maps import intervals, shared, whole_on
from verifier.contracts.induced.outcome import Induced, impossible
from verifier.contracts.shards import ParameterCut


def spans(cut: ParameterCut) -> dict[int, tuple[int, int]]:
    """The non-empty intervals [begin, end) by position among the shards."""
    return {
        k: (shard.offsets[0], shard.offsets[0] + shard.lengths[0])
        for k, shard in enumerate(cut.shards)
        if shard.lengths[0]
    }


def interior_cuts(cut: ParameterCut) -> list[int]:
    """Where one member ends and another begins, ascending."""
    return sorted(begin for begin, _ in spans(cut).values())[1:]


def runs(cut: ParameterCut, geometry: Geometry, name: str, length: int) -> Induced:
    """Fields whose element j is made from the elements j * length to (j + 1) * length: rows and blocks."""
    inside = [c for c in interior_cuts(cut) if c % length]
    kind = geometry.kind
    shape = field_shape(geometry, cut.shape)
    if not inside:
        held = {k: (begin // length, -(-end // length)) for k, (begin, end) in _all_spans(cut).items()}
        shard_map = intervals(name, shape, {k: (a, 1, b - a, max(b - a, 1)) for k, (a, b) in held.items()})
        return Induced(kind="dropped" if kind == "row" else "block_aligned", shard_map=shard_map)
    first = inside[0]
    if kind != "row":
        word = f"block {first // length} of {length}"
        return impossible("M6", f"the cut at {first} splits {word}: {first} = {first % length} mod {length}")
    if not _one_row_each(cut, length):
        return impossible(
            "M4",
            f"the cut at {first} is inside a row of {length}: the groups that share a row overlap unequally",
        )
    return Induced(
        kind="needs_reduction",
        rule="M2",
        reason=f"the cut at {first} is inside a row of {length}",
        shard_map=shared(name, shape, _row_runs(cut, length), len(cut.shards)),
    )


def _row_runs(cut: ParameterCut, length: int) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Runs of rows with the members that hold elements of them."""
    groups: dict[tuple[int, int], set[int]] = {}
    for k, (begin, end) in spans(cut).items():
        groups.setdefault((begin // length, -(-end // length)), set()).add(k)
    for (first, last), members in sorted(groups.items()):
        yield first, last, frozenset(members)


def _all_spans(cut: ParameterCut) -> dict[int, tuple[int, int]]:
    """As ``spans``; an empty shard holds nothing of the field, at its beginning."""
    held = spans(cut)
    return {k: held.get(k, (0, 0)) for k in range(len(cut.shards))}


def _one_row_each(cut: ParameterCut, length: int) -> bool:
    """Whether every member of a cut row holds elements of that row only."""
    rows_cut = {c // length for c in interior_cuts(cut) if c % length}
    for begin, end in spans(cut).values():
        first, last = begin // length, (end - 1) // length
        if first != last and (first in rows_cut or last in rows_cut):
            return False
    return True


def rows_of_blocks(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """Blocks that begin anew in each row."""
    size, row = block_size(geometry), cut.shape[-1]
    inside = [c for c in interior_cuts(cut) if row and c % row % size]
    if inside:
        at = inside[0] % row
        return impossible(
            "M6", f"the cut at {inside[0]} is at column {at}: {at} = {at % size} mod {size}, inside a block"
        )
    per_row = -(-row // size) if row else 0

    def counted(element: int) -> int:
        return element // row * per_row + -(-(element % row) // size) if row else 0

    held = {k: (counted(begin), counted(end)) for k, (begin, end) in _all_spans(cut).items()}
    shape = field_shape(geometry, cut.shape)
    shard_map = intervals(name, shape, {k: (a, 1, b - a, max(b - a, 1)) for k, (a, b) in held.items()})
    return Induced(kind="block_aligned", shard_map=shard_map)


def columns(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """The mean over the rows of each matrix."""
    rows, row = cut.shape[-2:]
    matrix = rows * row
    shape = field_shape(geometry, cut.shape)
    inside = [c for c in interior_cuts(cut) if matrix and rows > 1 and c % matrix]
    if not inside:
        length = max(matrix, 1)
        held = {}
        for k, (begin, end) in _all_spans(cut).items():
            a, b = begin // length * row, -(-end // length) * row
            if rows == 1:
                a, b = begin, end
            held[k] = (a, 1, b - a, max(b - a, 1))
        return Induced(kind="dropped", shard_map=intervals(name, shape, held))
    runs = sorted(_column_runs(cut, rows, row), key=lambda run: run[:2])
    where = f"the cut at {inside[0]} is inside a matrix of {matrix}"
    if not _are_apart(group for _, _, group in runs):
        return impossible("M4", f"{where}: groups that share a column overlap unequally")
    return Induced(
        kind="needs_reduction",
        rule="M2",
        reason=where,
        shard_map=shared(name, shape, runs, len(cut.shards)),
    )


def _are_apart(groups: Iterable[frozenset[int]]) -> bool:
    """Whether the groups are pairwise equal or disjoint."""
    seen: dict[int, frozenset[int]] = {}
    return all(seen.setdefault(member, group) == group for group in groups for member in group)


def _column_runs(cut: ParameterCut, rows: int, row: int) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Runs (begin, end, members) of the field, in no order; matrices that one member holds are one run."""
    matrix = rows * row
    held = sorted((begin, end, k) for k, (begin, end) in spans(cut).items())
    for begin, end, k in held:
        first, last = -(-begin // matrix), end // matrix
        if first < last:
            yield first * row, last * row, frozenset({k})
    at = 0
    for low in sorted({c // matrix * matrix for c in interior_cuts(cut) if c % matrix}):
        while held[at][1] <= low:
            at += 1
        high = bisect.bisect_left(held, (low + matrix,))
        touched = {
            k: _columns_of(max(begin, low) - low, min(end, low + matrix) - low, row)
            for begin, end, k in held[at:high]
        }
        yield from _shared_columns(touched, low // rows, row)


def _shared_columns(
    touched: dict[int, list[tuple[int, int]]], first: int, row: int
) -> Iterator[tuple[int, int, frozenset[int]]]:
    """The columns of one matrix, whose first is ``first`` in the field, in runs with equal members."""
    edges = sorted({0, row, *[edge for found in touched.values() for pair in found for edge in pair]})
    for edge, following in itertools.pairwise(edges):
        group = frozenset(k for k, found in touched.items() if any(a <= edge < b for a, b in found))
        yield first + edge, first + following, group


def _columns_of(begin: int, end: int, row: int) -> list[tuple[int, int]]:
    """The columns that the elements begin to end of a matrix are in, as intervals."""
    if end - begin >= row:
        return [(0, row)]
    first, last = begin % row, (end - 1) % row
    return [(first, last + 1)] if first <= last else [(0, last + 1), (first, row)]


def factor(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """A Gram matrix of one axis: members add up their parts where each line along that axis is whole."""
    axis = geometry.axis or 0
    shape, holders = field_shape(geometry, cut.shape), list(spans(cut))
    shard_map = whole_on(name, shape, holders, len(cut.shards))
    if len(holders) < 2:
        return Induced(kind="same", shard_map=shard_map)
    lines = math.prod(cut.shape[axis:])
    inside = [c for c in interior_cuts(cut) if c % lines and cut.shape[axis] > 1]
    if inside:
        return impossible(
            "M12", f"the cut at {inside[0]} is inside a line of axis {axis}, whose pairs it splits"
        )
    reason = f"every member adds the part of its lines of axis {axis}"
    return Induced(kind="needs_reduction", rule="M2", reason=reason, shard_map=shard_map)
