"""What the holders of a map are called: ranks with shards, or numbered blocks of a file without ranks.

Where a holder is one stored block, the block is the shard and its only piece: it has one name, "chunk 3".
"""

from __future__ import annotations

from collections.abc import Sequence

from verifier.diagnostics.wording import element_text, joined, listing, number, plural
from verifier.geometry.strided import coordinates, row_major
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

RANK = "rank"
"""The noun of maps whose holders run programs; any other noun is that of stored data."""

_MOST_JOINED = 6


def holders_phrase(holders: Sequence[int], noun: str = RANK) -> str:
    """``no rank``, ``rank 3``, ``ranks 0, 1``; with the noun that people use for them."""
    match len(holders):
        case 0:
            return f"no {noun}"
        case 1:
            return f"{noun} {number(holders[0])}"
        case _:
            return f"{plural(noun)} {listing(holders)}"


def holders_of(shard_map: ShardMap, holders: Sequence[int]) -> str:
    """The holders of a map: ``ranks 0, 1``, or by their names, ``tensor "bias"``."""
    names = [shard_map.called.get(holder) for holder in holders]
    known = [name for name in names if name is not None]
    if not names or len(known) < len(names) or len(names) > _MOST_JOINED:
        return holders_phrase(holders, shard_map.holder)
    noun = shard_map.holder if len(names) == 1 else plural(shard_map.holder)
    return f"{noun} {', '.join(known)}"


def together(shard_map: ShardMap, holders: Sequence[int]) -> str:
    """The holders as subject of a sentence: ``chunks 3 and 4``; a long list is cut short."""
    if not 1 < len(holders) <= _MOST_JOINED:
        return holders_of(shard_map, holders)
    names = [shard_map.called.get(holder, number(holder)) for holder in holders]
    return f"{plural(shard_map.holder)} {joined(names)}"


def is_block(shard_map: ShardMap, holder: int) -> bool:
    """Whether a holder is one stored block of the parameter."""
    shard = shard_map.ranks.get(holder)
    return shard_map.holder != RANK and shard is not None and len(shard.pieces) == 1


def shard_phrase(shard_map: ShardMap, holder: int) -> str:
    """``rank 0 shard``; ``chunk 3`` for a block."""
    name = holders_of(shard_map, (holder,))
    return name if is_block(shard_map, holder) else f"{name} shard"


def piece_phrase(shard_map: ShardMap, holder: int, position: int) -> str:
    """``piece 1 of rank 0``; ``chunk 3`` for a block."""
    name = holders_of(shard_map, (holder,))
    return name if position == 0 and is_block(shard_map, holder) else f"piece {position} of {name}"


def block_text(shard_map: ShardMap, holder: int, piece: Piece) -> str | None:
    """``chunk 3: offsets [4, 0], sizes [2, 8]``; None for what is no box of the parameter."""
    shape, source = shard_map.logical_shape, piece.source
    if source.strides != row_major(shape) or not 0 <= source.offset < shard_map.numel:
        return None
    offsets = coordinates(source.offset, shape)
    if any(offset + size > extent for offset, size, extent in zip(offsets, source.shape, shape, strict=True)):
        return None
    name = holders_of(shard_map, (holder,))
    return f"{name}: offsets {element_text(offsets)}, sizes {element_text(source.shape)}"
