"""Where views go that leave their buffer.

A shard is often the head of a larger storage: the first part of ``torch.split``, a slice of a flat group.
Torch checks a view against that storage, so a view past the end of the shard is carried out, silently, in
its neighbour's memory. Here every buffer gets guard cells on both sides, and torch says which are reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from verifier.geometry.strided import StridedView
from verifier.model.shard_map import ShardMap
from verifier.oracle.buffers import strided, usable_device
from verifier.oracle.errors import RefusedError
from verifier.oracle.execute import refusals


@dataclass(frozen=True, slots=True)
class Stray:
    """One side of a piece that reaches outside its buffer.

    Attributes:
        rank: the rank of the piece.
        piece: its position in the list of the rank.
        side: "shard" when the dest strays (a write), "parameter" when the source does (a read).
        first: the least address reached outside, relative to the buffer; None when torch refused.
        cells: how many different addresses outside are reached; None when torch refused.
        refused: what torch said when the view left even the guard cells.
    """

    rank: int
    piece: int
    side: Literal["shard", "parameter"]
    first: int | None = None
    cells: int | None = None
    refused: str | None = None


def strays(
    shard_map: ShardMap, *, guard: int = 1024, device: str | torch.device = "cpu"
) -> tuple[Stray, ...]:
    """Every view that leaves its buffer, when buffers lie between ``guard`` cells of other memory.

    Raises:
        ValueError: ``guard`` is negative.
        DeviceUnavailableError: the device does not exist.
    """
    if guard < 0:
        raise ValueError(f"{guard} guard cells are fewer than none")
    where = usable_device(device)
    found: list[Stray] = []
    parameter = _guarded(shard_map.numel, guard, where)
    for rank, shard in shard_map.ranks.items():
        buffer = _guarded(shard.numel, guard, where)
        for position, piece in enumerate(shard.pieces):
            if piece.is_empty:
                continue
            sides = (
                _outside(rank, position, "shard", buffer, piece.dest, guard),
                _outside(rank, position, "parameter", parameter, piece.source, guard),
            )
            found.extend(stray for stray in sides if stray is not None)
    return tuple(found)


def _guarded(size: int, guard: int, device: torch.device) -> torch.Tensor:
    """Memory whose element for address ``a`` is ``a``: int64, (guard + size + guard,)."""
    return torch.arange(-guard, size + guard, device=device)


def _outside(
    rank: int,
    position: int,
    side: Literal["shard", "parameter"],
    memory: torch.Tensor,
    view: StridedView,
    guard: int,
) -> Stray | None:
    embedded = StridedView(view.offset + guard, view.shape, view.strides)
    size = memory.numel() - 2 * guard
    try:
        with refusals(rank, position):
            reached = strided(memory, embedded).reshape(-1)
    except RefusedError as refusal:
        return Stray(rank, position, side, refused=refusal.text)
    outside = torch.unique(reached[(reached < 0) | (reached >= size)])
    if outside.numel() == 0:
        return None
    return Stray(rank, position, side, first=int(outside[0]), cells=outside.numel())
