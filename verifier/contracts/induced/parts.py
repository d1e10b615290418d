"""Whether the members that share a state element hold equally many of the elements it is made from.

Only then is a mean of means the mean. Theory: T26 (f).
"""

from __future__ import annotations

from verifier.contracts.geometry import Geometry
from verifier.contracts.induced.flat import interior_cuts, spans
from verifier.contracts.shards import ParameterCut


def parts_are_equal(cut: ParameterCut, geometry: Geometry) -> bool:
    """Whether all parts of every shared element have one size, where such a field needs a reduction.

    Members that share a row of a flat cut hold nothing else. A column of a flat cut may have more elements on
    one member than on another although both hold equally many.
    """
    match geometry.kind:
        case "row" if cut.spread == "flat_shard":
            return _rows_are_even(cut, cut.shape[-1])
        case "column" if cut.spread == "flat_shard":
            return _columns_are_even(cut)
        case _:
            return len({shard.numel for shard in cut.shards if shard.numel}) <= 1


def _rows_are_even(cut: ParameterCut, row: int) -> bool:
    sizes: dict[int, set[int]] = {}
    for begin, end in spans(cut).values():
        if end - begin < row:
            sizes.setdefault(begin // row, set()).add(end - begin)
    return all(len(parts) == 1 for parts in sizes.values())


def _columns_are_even(cut: ParameterCut) -> bool:
    rows, row = cut.shape[-2:]
    matrix = rows * row
    held = sorted(spans(cut).values())
    for low in {c // matrix * matrix for c in interior_cuts(cut)}:
        inside = [
            (max(begin, low) - low, min(end, low + matrix) - low)
            for begin, end in held
            if begin < low + matrix and end > low
        ]
        # Between two of these columns every member has equally many elements of each.
        for column in sorted({0, *[edge % row for span in inside for edge in span]}):
            counts = {_in_column(begin, end, column, row) for begin, end in inside}
            if len(counts - {0}) > 1:
                return False
    return True


def _in_column(begin: int, end: int, column: int, row: int) -> int:
    """How many of the elements begin to end of a matrix with rows of ``row`` are in a column."""
    return (end - 1 - column) // row - (begin - 1 - column) // row
