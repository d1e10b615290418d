"""The two pictures of a fault: the side it happens on, and beside it the side that people think of next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from verifier.diagnostics.finding import Picture
from verifier.diagnostics.layers import holders, opposite, readers, visits, writers
from verifier.diagnostics.pictures import copies_picture, edge_picture, holders_picture, shard_picture
from verifier.diagnostics.windows import window_of
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class Sides:
    """A picture and its counterpart; None for what cannot be drawn."""

    shown: Picture | None = None
    beside: Picture | None = None


NEITHER = Sides()


def shard_first(
    shard_map: ShardMap,
    rank: int | None,
    address: int | None,
    *,
    free: Iterable[int] = (),
    gaps: Iterable[int] = (),
) -> Sides:
    """The shard around an address, then the parameter around what the shard holds there or next to it.

    ``free`` are shard addresses that are declared padding, ``gaps`` elements that nobody needs.
    """
    shard = None if rank is None else shard_map.ranks.get(rank)
    if shard is None or rank is None or address is None:
        return NEITHER
    window = window_of("", shard.shard_shape, address)
    found = opposite(window, writers(shard.pieces), address)
    beside = None if found is None else holders_picture(shard_map, found[1], free=gaps)
    return Sides(shard_picture(shard_map, rank, address, free=free), beside)


def parameter_first(
    shard_map: ShardMap, address: int | None, *, rank: int | None = None, gaps: Iterable[int] = ()
) -> Sides:
    """The parameter around an element, then the shard of ``rank`` that holds it; of any rank when None."""
    if address is None:
        return NEITHER
    window = window_of("", shard_map.logical_shape, address)
    found = opposite(window, [one for one in holders(shard_map) if rank in (None, one.key)], address)
    beside = None if found is None else shard_picture(shard_map, *found)
    return Sides(holders_picture(shard_map, address, free=gaps), beside)


def copies_first(shard_map: ShardMap, rank: int | None, address: int | None) -> Sides:
    """What one rank holds of the parameter around an element, then its shard."""
    shard = None if rank is None else shard_map.ranks.get(rank)
    if shard is None or rank is None or address is None:
        return NEITHER
    window = window_of("", shard_map.logical_shape, address)
    found = opposite(window, readers(shard.pieces), address)
    beside = None if found is None else shard_picture(shard_map, rank, found[1])
    return Sides(copies_picture(shard_map, rank, address), beside)


def write_past_edge(shard_map: ShardMap, rank: int, piece: Piece, size: int, reached: int) -> Sides:
    """The edge of the shard that a piece writes past, then what it carries there."""
    shown = edge_picture("shard addresses", piece, "dest", size, reached, shard_map.logical_shape)
    found = visits(piece.dest, reached)
    return Sides(shown, holders_picture(shard_map, piece.source.address(found[0])) if found else None)


def read_past_edge(shard_map: ShardMap, rank: int, piece: Piece, size: int, reached: int) -> Sides:
    """The edge of the parameter that a piece reads past, then where it goes."""
    shown = edge_picture("parameter addresses", piece, "source", size, reached, shard_map.logical_shape)
    found = visits(piece.source, reached)
    return Sides(shown, shard_picture(shard_map, rank, piece.dest.address(found[0])) if found else None)
