"""Pictures of an address space: a window around the witness, and who touches each cell of it.

Every mark is decided by geometry, one membership question per cell and view whose hull meets the window,
never by walking the map. A cell whose question is too hard is marked as such.

Theory: T2, T14.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from verifier.diagnostics.finding import Picture, Row
from verifier.diagnostics.windows import SPAN, Window, ruler, window_of
from verifier.diagnostics.wording import number
from verifier.geometry.diophantine import indices_at
from verifier.geometry.equations import TooHard
from verifier.geometry.strided import StridedView
from verifier.model.shard_map import ShardMap

NOBODY, SEVERAL, FREE, UNSURE, OTHERS = ".", "X", "_", "?", "#"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
_MOST_VIEWS = 256
_NODES = 200


@dataclass(frozen=True, slots=True)
class _Layer:
    """What one mark stands for: a piece (one view) or a rank (the views of all its pieces)."""

    key: int
    views: tuple[StridedView, ...]


@dataclass(frozen=True, slots=True)
class _Words:
    """The legend's words: ``a piece writes here``, ``two ranks hold it``."""

    noun: str
    verb: str
    where: str


_WRITES = _Words("piece", "write", "here")
_COPIES = _Words("piece", "hold", "it")
_HOLDERS = _Words("rank", "hold", "it")

_Touching = dict[int, int] | None
"""Layer key to how often it touches a cell (2 stands for more); None where that is too hard to say."""


def shard_picture(
    shard_map: ShardMap, rank: int, address: int, *, free: Iterable[int] = (), span: int = SPAN
) -> Picture | None:
    """Which pieces of ``rank`` write the shard addresses around ``address``; None when it cannot be drawn."""
    shard = shard_map.ranks.get(rank)
    if shard is None:
        return None
    window = window_of(f"rank {number(rank)} shard", shard.shard_shape, address, span=span)
    layers = [_Layer(position, (piece.dest,)) for position, piece in enumerate(shard.pieces)]
    return _painted(window, layers, _WRITES, frozenset(free))


def holders_picture(
    shard_map: ShardMap, address: int, *, free: Iterable[int] = (), span: int = SPAN
) -> Picture | None:
    """Which ranks hold the parameter elements around ``address``; None when it cannot be drawn."""
    window = window_of("parameter", shard_map.logical_shape, address, span=span)
    layers = [
        _Layer(rank, tuple([piece.source for piece in shard.pieces]))
        for rank, shard in shard_map.ranks.items()
    ]
    return _painted(window, layers, _HOLDERS, frozenset(free))


def copies_picture(shard_map: ShardMap, rank: int, address: int) -> Picture | None:
    """Which pieces of ``rank`` hold the elements around ``address``; None when it cannot be drawn."""
    shard = shard_map.ranks.get(rank)
    if shard is None:
        return None
    window = window_of(f"rank {number(rank)} of parameter", shard_map.logical_shape, address)
    layers = [_Layer(position, (piece.source,)) for position, piece in enumerate(shard.pieces)]
    return _painted(window, layers, _COPIES, frozenset())


def edge_picture(title: str, view: StridedView, size: int, address: int) -> Picture | None:
    """A ruler around an address that ``view`` reaches outside ``0..size``; None when it cannot be drawn."""
    window = ruler(title, address, range(address - SPAN // 2, address + SPAN // 2 + 1))
    if window is None:
        return None
    cells = tuple([_edge_mark(view, at, size) for at in window.addresses[0]])
    meanings = {
        "+": "inside, reached",
        NOBODY: "inside, not reached",
        "!": "outside, reached",
        "-": "outside, not reached",
        UNSURE: "not determined",
    }
    return _picture(window, (cells,), meanings)


def _edge_mark(view: StridedView, address: int, size: int) -> str:
    times = _times(view, address)
    if times is None:
        return UNSURE
    if 0 <= address < size:
        return "+" if times else NOBODY
    return "!" if times else "-"


def _painted(
    window: Window | None, layers: Sequence[_Layer], words: _Words, free: frozenset[int]
) -> Picture | None:
    """The window with its marks, or None when too many views reach into it."""
    if window is None:
        return None
    near = _near(window, layers)
    if sum(len(layer.views) for layer in near) > _MOST_VIEWS:
        return None
    touching = [[_touching(near, address) for address in row] for row in window.addresses]
    marks = _marks(touching, letters=any(layer.key > 9 for layer in layers))
    cells = tuple(
        [
            tuple([_mark(cell, marks, address in free) for cell, address in zip(row, line, strict=True)])
            for row, line in zip(touching, window.addresses, strict=True)
        ]
    )
    meanings = _single_legend(marks, words)
    meanings[SEVERAL] = _several(touching, words)
    meanings[NOBODY] = f"nobody {words.verb}s {words.where}"
    meanings[FREE] = "declared free"
    meanings[UNSURE] = "not determined"
    return _picture(window, cells, meanings)


def _picture(window: Window, cells: tuple[tuple[str, ...], ...], meanings: Mapping[str, str]) -> Picture:
    """The picture with those legend entries whose marks occur; an entry may explain several marks at once."""
    used = {mark for row in cells for mark in row}
    return Picture(
        title=window.title,
        columns=window.column_heads,
        rows=tuple([Row(head, row) for head, row in zip(window.row_heads, cells, strict=True)]),
        legend=tuple([(key, text) for key, text in meanings.items() if len(key) > 1 or key in used]),
        cut=window.cut,
        witness=window.witness,
    )


def _near(window: Window, layers: Sequence[_Layer]) -> list[_Layer]:
    """The layers with only those views whose hull meets the window. Theory: T2."""
    low, high = window.addresses[0][0], window.addresses[-1][-1]
    near = [
        _Layer(
            layer.key,
            tuple([v for v in layer.views if not v.is_empty and v.lowest <= high and low <= v.highest]),
        )
        for layer in layers
    ]
    return [layer for layer in near if layer.views]


def _touching(layers: Sequence[_Layer], address: int) -> _Touching:
    touching: dict[int, int] = {}
    for layer in layers:
        for view in layer.views:
            times = _times(view, address)
            if times is None:
                return None
            if times:
                touching[layer.key] = touching.get(layer.key, 0) + times
    return touching


def _times(view: StridedView, address: int) -> int | None:
    """How often a view visits an address (2 stands for more), None when that is too hard. Theory: T14."""
    if view.is_empty or not view.lowest <= address <= view.highest:
        return 0
    found = indices_at(view, address, limit=2, nodes=_NODES)
    return None if isinstance(found, TooHard) else len(found)


def _marks(touching: Sequence[Sequence[_Touching]], *, letters: bool) -> dict[int, str]:
    """A mark for every key that touches a cell alone: its own digit, or letters beyond 9."""
    keys = sorted({key for row in touching for cell in row if _alone(cell) for key in cell or ()})
    if not letters:
        return {key: str(key) for key in keys}
    return {key: _LETTERS[k] if k < len(_LETTERS) else OTHERS for k, key in enumerate(keys)}


def _alone(cell: _Touching) -> bool:
    return cell is not None and sum(cell.values()) == 1


def _mark(cell: _Touching, marks: Mapping[int, str], free: bool) -> str:
    if cell is None:
        return UNSURE
    if not cell:
        return FREE if free else NOBODY
    return marks[next(iter(cell))] if _alone(cell) else SEVERAL


def _single_legend(marks: Mapping[int, str], words: _Words) -> dict[str, str]:
    """Digits explain themselves; letters are explained by runs: ``a-c  pieces 12-14``."""
    if not marks:
        return {}
    if all(mark.isdigit() for mark in marks.values()):
        return {" ".join(marks.values()): f"one {words.noun} {words.verb}s {words.where}"}
    legend: dict[str, str] = {}
    for run in _runs([key for key, mark in marks.items() if mark != OTHERS]):
        first, last = run[0], run[-1]
        if first == last:
            legend[marks[first]] = f"{words.noun} {number(first)}"
        else:
            legend[f"{marks[first]}-{marks[last]}"] = f"{words.noun}s {number(first)}-{number(last)}"
    legend[OTHERS] = f"another {words.noun}"
    return legend


def _runs(keys: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for key in keys:
        if runs and runs[-1][-1] == key - 1:
            runs[-1].append(key)
        else:
            runs.append([key])
    return runs


def _several(touching: Sequence[Sequence[_Touching]], words: _Words) -> str:
    crowded = [cell for row in touching for cell in row if cell and not _alone(cell)]
    if all(len(cell) == 1 for cell in crowded):
        return f"a {words.noun} {words.verb}s {words.where} twice"
    parties = {key for cell in crowded for key in cell}
    if len(parties) == 2 and all(sum(cell.values()) == 2 for cell in crowded):
        return f"both {words.verb} {words.where}"
    return f"several {words.noun}s {words.verb} {words.where}"
