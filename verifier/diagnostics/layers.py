"""Who touches the cells of a window: one membership question per cell and view whose hull meets the window.

The map is never walked. Theory: T2, T14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.diagnostics.marks import Touching
from verifier.diagnostics.windows import Window
from verifier.geometry.diophantine import indices_at
from verifier.geometry.equations import TooHard
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

MOST_VIEWS = 256
"""Views that may reach into one window."""
_NODES = 200
_MOST_FACING = 4


@dataclass(frozen=True, slots=True)
class Layer:
    """What one mark stands for: a piece (one view) or a rank (the views of all its pieces).

    ``facing`` are the views of the other side, index by index the same cells.
    """

    key: int
    views: tuple[StridedView, ...]
    facing: tuple[StridedView, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """Who touches a cell, and the addresses of the other side that are there: a few of them, in order."""

    touching: Touching
    facing: tuple[int, ...]


def writers(pieces: Sequence[Piece]) -> list[Layer]:
    """The pieces of one shard, seen from the shard."""
    return [Layer(position, (piece.dest,), (piece.source,)) for position, piece in enumerate(pieces)]


def readers(pieces: Sequence[Piece]) -> list[Layer]:
    """The pieces of one shard, seen from the parameter."""
    return [Layer(position, (piece.source,), (piece.dest,)) for position, piece in enumerate(pieces)]


def holders(shard_map: ShardMap) -> list[Layer]:
    """The ranks of a map, seen from the parameter."""
    return [
        Layer(
            rank,
            tuple([piece.source for piece in shard.pieces]),
            tuple([piece.dest for piece in shard.pieces]),
        )
        for rank, shard in shard_map.ranks.items()
    ]


def near(window: Window, layers: Sequence[Layer]) -> list[Layer] | None:
    """The layers with only those views whose hull meets the window; None for too many. Theory: T2."""
    low, high = window.addresses[0][0], window.addresses[-1][-1]
    found: list[Layer] = []
    for layer in layers:
        pairs = [
            pair
            for pair in zip(layer.views, layer.facing, strict=True)
            if not pair[0].is_empty and pair[0].lowest <= high and low <= pair[0].highest
        ]
        if pairs:
            found.append(Layer(layer.key, tuple([v for v, _ in pairs]), tuple([f for _, f in pairs])))
    return found if sum(len(layer.views) for layer in found) <= MOST_VIEWS else None


def cell_at(layers: Sequence[Layer], address: int) -> Cell:
    """What is known of one address."""
    touching: dict[int, int] = {}
    facing: list[int] = []
    for layer in layers:
        for view, other in zip(layer.views, layer.facing, strict=True):
            found = visits(view, address)
            if found is None:
                return Cell(None, ())
            if found:
                touching[layer.key] = touching.get(layer.key, 0) + len(found)
                facing += [other.address(index) for index in found]
    return Cell(touching, tuple(facing[:_MOST_FACING]))


def visits(view: StridedView, address: int) -> tuple[tuple[int, ...], ...] | None:
    """The indices that reach an address, two at most; None when that is too hard. Theory: T14."""
    if view.is_empty or not view.lowest <= address <= view.highest:
        return ()
    found = indices_at(view, address, limit=2, nodes=_NODES)
    return None if isinstance(found, TooHard) else found


def opposite(window: Window | None, layers: Sequence[Layer], address: int) -> tuple[int, int] | None:
    """(key, address on the other side) of the touched cell next to an address; None where nobody is near."""
    close = None if window is None else near(window, layers)
    if window is None or close is None:
        return None
    cells = sorted((at for row in window.addresses for at in row), key=lambda at: (abs(at - address), at))
    for at in cells:
        for layer in close:
            for view, other in zip(layer.views, layer.facing, strict=True):
                found = visits(view, at)
                if found:
                    return layer.key, other.address(found[0])
    return None
