"""How often memory is reached, counted by torch.

Values alone do not show every fault: a cell written twice with the same element looks right. Here torch
lists the addresses, by reading a buffer whose element ``a`` is ``a`` through the views of the map.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.oracle.buffers import strided
from verifier.oracle.execute import refusals


@dataclass(frozen=True, slots=True)
class Census:
    """Counts over all ranks, see ``Replay``."""

    holes: int
    rewritten: int
    repeated: int


def census(shard_map: ShardMap, expectation: Expectation, device: torch.device) -> Census:
    """Counts the shard cells and elements that are reached too often or never, declared holes apart.

    Raises:
        RefusedError: torch refuses a view.
    """
    holes = rewritten = repeated = 0
    for rank, shard in shard_map.ranks.items():
        pieces = [(p, piece) for p, piece in enumerate(shard.pieces) if not piece.is_empty]
        writes = _visits(rank, [(p, piece.dest) for p, piece in pieces], shard.numel, device)
        reads = _visits(rank, [(p, piece.source) for p, piece in pieces], shard_map.numel, device)
        rewritten += int((writes > 1).sum())
        writes[addresses_inside(expectation.holes.get(rank, ()), shard.numel, device)] = 1
        holes += int((writes == 0).sum())
        repeated += int((reads > 1).sum())
    return Census(holes, rewritten, repeated)


def addresses_inside(addresses: Iterable[int], size: int, device: torch.device) -> torch.Tensor:
    """Those addresses that lie in ``0..size``, as indices for torch: int64, (count,)."""
    inside = [address for address in addresses if 0 <= address < size]
    return torch.tensor(inside, dtype=torch.int64, device=device)


def _visits(
    rank: int, views: Iterable[tuple[int, StridedView]], size: int, device: torch.device
) -> torch.Tensor:
    """How often each address of ``0..size`` is reached: int64, (size,)."""
    addresses = torch.arange(size, device=device)
    reached = [addresses[:0]]
    for position, view in views:
        with refusals(rank, position):
            reached.append(strided(addresses, view).reshape(-1))
    return torch.bincount(torch.cat(reached), minlength=size)
