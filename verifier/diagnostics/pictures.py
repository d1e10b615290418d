"""Pictures of an address space: a window around the witness, and who touches each cell of it.

Every mark is decided by geometry. A cell whose question is too hard is marked as such. Each cell also knows
which elements of the parameter it holds, so that a picture of a shard and one of the parameter can be linked.

Theory: T2, T14.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from verifier.diagnostics.finding import Picture, Row
from verifier.diagnostics.holders import holders_of, is_block, shard_phrase
from verifier.diagnostics.layers import Layer, cell_at, holders, near, readers, visits, writers
from verifier.diagnostics.marks import FREE, NOBODY, OTHERS, SEVERAL, UNSURE, Words, legend, mark, marks
from verifier.diagnostics.windows import SPAN, Window, ruler, window_of
from verifier.diagnostics.wording import element_text, number
from verifier.geometry.strided import StridedView, coordinates
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

__all__ = [
    "FREE",
    "NOBODY",
    "OTHERS",
    "SEVERAL",
    "UNSURE",
    "copies_picture",
    "edge_picture",
    "holders_picture",
    "pointed",
    "shard_picture",
]

POINTED = "!"

_Elements = tuple[tuple[tuple[str, ...], ...], ...]


def shard_picture(
    shard_map: ShardMap, rank: int, address: int, *, free: Iterable[int] = (), span: int = SPAN
) -> Picture | None:
    """Which pieces of ``rank`` write the shard addresses around ``address``; None when it cannot be drawn."""
    shard = shard_map.ranks.get(rank)
    if shard is None:
        return None
    window = window_of(shard_phrase(shard_map, rank), shard.shard_shape, address, span=span)
    words, layers = Words("piece", "write", "here"), writers(shard.pieces)
    if is_block(shard_map, rank):
        words, layers = Words(shard_map.holder, "store", "it"), [replace(layers[0], key=rank)]
    return _painted(window, layers, words, frozenset(free), shard_map.logical_shape)


def holders_picture(
    shard_map: ShardMap, address: int, *, free: Iterable[int] = (), span: int = SPAN
) -> Picture | None:
    """Which ranks hold the parameter elements around ``address``; None when it cannot be drawn."""
    window = window_of("parameter", shard_map.logical_shape, address, span=span)
    words = Words(shard_map.holder, "hold", "it")
    return _painted(window, holders(shard_map), words, frozenset(free), shard_map.logical_shape, own=True)


def copies_picture(shard_map: ShardMap, rank: int, address: int) -> Picture | None:
    """Which pieces of ``rank`` hold the elements around ``address``; None when it cannot be drawn."""
    shard = shard_map.ranks.get(rank)
    if shard is None:
        return None
    title = f"{holders_of(shard_map, (rank,))} of parameter"
    window = window_of(title, shard_map.logical_shape, address)
    words = Words("piece", "hold", "it")
    return _painted(window, readers(shard.pieces), words, frozenset(), shard_map.logical_shape, own=True)


def edge_picture(
    title: str, piece: Piece, member: str, size: int, address: int, shape: tuple[int, ...]
) -> Picture | None:
    """A ruler around an address that a piece reaches outside ``0..size``; None when it cannot be drawn.

    ``member`` is the view that reaches it, "source" or "dest"; ``shape`` that of the parameter.
    """
    window = ruler(title, address, range(address - SPAN // 2, address + SPAN // 2 + 1))
    if window is None:
        return None
    view = piece.dest if member == "dest" else piece.source
    (addresses,) = window.addresses
    cells = tuple([_edge_mark(view, at, size) for at in addresses])
    elements = tuple([_edge_elements(piece, member, at, shape) for at in addresses])
    meanings = (
        ("+", "inside, reached"),
        (NOBODY, "inside, not reached"),
        ("!", "outside, reached"),
        ("-", "outside, not reached"),
        (UNSURE, "not determined"),
    )
    return _picture(window, (cells,), meanings, (elements,))


def _edge_mark(view: StridedView, address: int, size: int) -> str:
    found = visits(view, address)
    if found is None:
        return UNSURE
    if 0 <= address < size:
        return "+" if found else NOBODY
    return "!" if found else "-"


def _edge_elements(piece: Piece, member: str, address: int, shape: tuple[int, ...]) -> tuple[str, ...]:
    if member == "source":
        return (_element(address, shape),)
    return _elements([piece.source.address(index) for index in visits(piece.dest, address) or ()], shape)


def pointed(picture: Picture | None, meaning: str) -> Picture | None:
    """The picture with a mark of its own at its witness: not how many touch it is wrong, but which."""
    if picture is None or picture.witness is None:
        return picture
    k, j = picture.witness
    row = picture.rows[k]
    rows = list(picture.rows)
    rows[k] = replace(row, cells=(*row.cells[:j], POINTED, *row.cells[j + 1 :]))
    used = {found for one in rows for found in one.cells}
    known = [(key, text) for key, text in picture.legend if len(key) > 1 or key in used]
    return replace(picture, rows=tuple(rows), legend=((POINTED, meaning), *known))


def _painted(
    window: Window | None,
    layers: Sequence[Layer],
    words: Words,
    free: frozenset[int],
    shape: tuple[int, ...],
    *,
    own: bool = False,
) -> Picture | None:
    """The window with its marks, or None when too many views reach into it.

    ``own`` says that the window is one of the parameter, whose ``shape`` it is: each cell is an element.
    """
    close = None if window is None else near(window, layers)
    if window is None or close is None:
        return None
    found = [[cell_at(close, address) for address in row] for row in window.addresses]
    touching = [[cell.touching for cell in row] for row in found]
    of = marks(touching, letters=any(layer.key > 9 for layer in layers))
    cells = tuple(
        [
            tuple([mark(cell, of, free=address in free) for cell, address in zip(row, line, strict=True)])
            for row, line in zip(touching, window.addresses, strict=True)
        ]
    )
    elements = tuple(
        [
            tuple(
                [_elements((at,) if own else cell.facing, shape) for cell, at in zip(row, line, strict=True)]
            )
            for row, line in zip(found, window.addresses, strict=True)
        ]
    )
    return _picture(window, cells, legend(touching, of, words), elements)


def _elements(addresses: Iterable[int], shape: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([_element(address, shape) for address in dict.fromkeys(addresses)])


def _element(address: int, shape: tuple[int, ...]) -> str:
    """``[0, 1]``; the bare address of what is no element."""
    if 0 <= address < math.prod(shape):
        return element_text(coordinates(address, shape))
    return f"address {number(address)}"


def _picture(
    window: Window,
    cells: tuple[tuple[str, ...], ...],
    meanings: Sequence[tuple[str, str]],
    elements: _Elements,
) -> Picture:
    """The picture with those legend entries whose marks occur; an entry may explain several marks at once."""
    used = {found for row in cells for found in row}
    return Picture(
        title=window.title,
        columns=window.column_heads,
        rows=tuple([Row(*row) for row in zip(window.row_heads, cells, elements, strict=True)]),
        legend=tuple([(key, text) for key, text in meanings if len(key) > 1 or key in used]),
        cut=window.cut,
        witness=window.witness,
    )
