"""A read-only table is only ever cut, so its shards are compared and nothing is rebuilt.

Its pieces may read an element many times, on one rank or through a stride of 0; writing back through such a
view is neither asked for nor possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from verifier.model.shard_map import ShardMap
from verifier.oracle.buffers import Poison, to_words
from verifier.oracle.execute import extract
from verifier.oracle.outcome import Content
from verifier.oracle.payload import AddressBits, PowersOfTwo, Rounds


@dataclass(frozen=True, slots=True)
class Looked:
    """Shard cells that the map fills otherwise than the reference.

    Attributes:
        changed: how many, over all ranks.
        rank: the least rank with such a cell, None when there is none.
        first: (shard address, what the reference puts there, what the map puts there) of its least cell.
    """

    changed: int
    rank: int | None
    first: tuple[int, Content, Content] | None


def look_up(reference: ShardMap, on_trial: ShardMap, payload: AddressBits | PowersOfTwo) -> Looked:
    """Cuts a known parameter through both maps, whose ranks and shard sizes agree, and compares the shards.

    Raises:
        RefusedError: torch refuses a piece.
    """
    sent = payload.rounds()
    changed = 0
    least: int | None = None
    first: tuple[int, Content, Content] | None = None
    for rank in on_trial.ranks:
        right = _shards(sent, reference, rank)
        found = _shards(sent, on_trial, rank)
        wrong = torch.nonzero(differing(right, found))
        changed += wrong.shape[0]
        if wrong.shape[0] and first is None:
            cell = int(wrong[0, 0])
            was, now = payload.change(right, found, cell)
            least, first = rank, (cell, was, now)
    return Looked(changed, least, first)


def comparable(reference: ShardMap, on_trial: ShardMap) -> bool:
    """Whether both maps have the same ranks with shards of the same size."""
    sizes = [{rank: shard.numel for rank, shard in m.ranks.items()} for m in (reference, on_trial)]
    return sizes[0] == sizes[1]


def differing(left: Rounds, right: Rounds) -> torch.Tensor:
    """Which elements differ in any bit in any round: bool, (numel,)."""
    differs = torch.zeros(left[0].numel(), dtype=torch.bool, device=left[0].device)
    for one, other in zip(left, right, strict=True):
        differs |= (to_words(one) != to_words(other)).any(dim=1)
    return differs


def _shards(sent: Rounds, shard_map: ShardMap, rank: int) -> list[torch.Tensor]:
    """The flat shard of one rank, once for each round; cells that nobody writes are zeros in both maps."""
    return [
        extract(
            tensor.view(shard_map.logical_shape), shard_map, rank, device=tensor.device, poison=Poison.ZEROS
        ).reshape(-1)
        for tensor in sent
    ]
