"""The part of a tensor worth drawing: a few cells around a witness, with true row and column heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.diagnostics.wording import number
from verifier.geometry.strided import coordinates, row_major

SPAN = 7
"""Cells of a window in each direction, unless told otherwise."""

_WIDTH = 56
"""Characters for the columns of a window; heads of large tensors are long, so fewer of them fit."""
_HEAD_BITS = 64
"""Coordinates beyond this have no head that fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A rectangle of a row-major tensor.

    Attributes:
        title: what is drawn, with the leading axes that were fixed.
        row_heads: one per row; a single empty one for a ruler (1-d).
        column_heads: one per column.
        addresses: the flat address of each cell, by row.
        cut: whether the tensor goes on (above, below, left, right) of the window.
        witness: (row, column) of the address the window was asked for.
    """

    title: str
    row_heads: tuple[str, ...]
    column_heads: tuple[str, ...]
    addresses: tuple[tuple[int, ...], ...]
    cut: tuple[bool, bool, bool, bool]
    witness: tuple[int, int]


def window_of(title: str, shape: Sequence[int], address: int, *, span: int = SPAN) -> Window | None:
    """The window of a row-major tensor around an address; None outside it or where heads would not fit."""
    extents = tuple(shape) or (1,)
    strides = row_major(extents)
    if any(n < 1 for n in extents) or not 0 <= address < extents[0] * strides[0]:
        return None
    if len(extents) == 1:
        return ruler(title, address, range(extents[0]), span=span)
    if max(n.bit_length() for n in extents) > _HEAD_BITS:
        return None
    *leading, row, column = coordinates(address, extents)
    height, width = extents[-2:]
    corner = address - row * width - column
    rows = _around(row, range(height), span)
    columns = _around(column, range(width), _columns(width, span))
    if leading:
        title += f"[{', '.join(map(str, leading))}, :, :]"
    return Window(
        title=title,
        row_heads=tuple([f"r{r}" for r in rows]),
        column_heads=tuple([f"c{c}" for c in columns]),
        addresses=tuple([tuple([corner + r * width + c for c in columns]) for r in rows]),
        cut=(rows[0] > 0, rows[-1] < height - 1, columns[0] > 0, columns[-1] < width - 1),
        witness=(row - rows[0], column - columns[0]),
    )


def ruler(title: str, address: int, within: range, *, span: int = SPAN) -> Window | None:
    """The window of a line of addresses, ``@0`` and on: a bare number would look like the mark of a piece.

    None outside the line or where heads would not fit.
    """
    if address not in within or address.bit_length() > _HEAD_BITS:
        return None
    addresses = _around(address, within, _columns(address, span))
    return Window(
        title=title,
        row_heads=("",),
        column_heads=tuple([f"@{at}" for at in addresses]),
        addresses=(tuple(addresses),),
        cut=(False, False, addresses[0] > within.start, addresses[-1] < within.stop - 1),
        witness=(0, address - addresses[0]),
    )


def _columns(widest: int, span: int) -> int:
    return max(1, min(span, _WIDTH // (len(number(widest)) + 3)))


def _around(centre: int, within: range, span: int) -> range:
    low = max(within.start, min(centre - span // 2, within.stop - span))
    return range(low, min(within.stop, low + span))
