"""Defects in the lists of a map: its pieces, its ranks, and the holders that a piece names."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from fuzz.mutants.mutant import Change, Place, chosen, piece_at, places, with_piece, with_pieces
from fuzz.mutants.piece_numbers import SideName, side_of, with_side
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap


def drop_piece(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A piece is forgotten."""
    place = chosen(rng, shard_map)
    return None if place is None else _without(shard_map, place)


def _without(shard_map: ShardMap, place: Place) -> ShardMap:
    rank, at = place
    pieces = shard_map.ranks[rank].pieces
    return with_pieces(shard_map, rank, (*pieces[:at], *pieces[at + 1 :]))


def _with_one_more(shard_map: ShardMap, rank: int, piece: Piece) -> ShardMap:
    return with_pieces(shard_map, rank, (*shard_map.ranks[rank].pieces, piece))


def duplicate_piece(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A piece stands twice in its list."""
    place = chosen(rng, shard_map)
    return None if place is None else _with_one_more(shard_map, place[0], piece_at(shard_map, place))


def replace_by_copy(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A piece becomes a copy of another one, of any rank."""
    found = places(shard_map)
    if len(found) < 2:
        return None
    place, other = rng.sample(found, 2)
    return with_piece(shard_map, place, piece_at(shard_map, other))


def exchange(side: SideName) -> Change:
    """Two pieces of one rank and one shape take each other's source or dest."""

    def change(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        pairs = list(_pairs_of_one_shape(shard_map))
        if not pairs:
            return None
        first, second = rng.choice(pairs)
        a, b = piece_at(shard_map, first), piece_at(shard_map, second)
        changed = with_piece(shard_map, first, with_side(a, side, side_of(b, side)))
        return with_piece(changed, second, with_side(b, side, side_of(a, side)))

    return change


def _pairs_of_one_shape(shard_map: ShardMap) -> Iterator[tuple[Place, Place]]:
    found = places(shard_map)
    for k, first in enumerate(found):
        for second in found[k + 1 :]:
            same_shape = piece_at(shard_map, first).shape == piece_at(shard_map, second).shape
            if first[0] == second[0] and same_shape:
                yield first, second


def swap_pieces(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """Two pieces of different ranks change places."""
    place = chosen(rng, shard_map)
    if place is None:
        return None
    others = [other for other in places(shard_map) if other[0] != place[0]]
    if not others:
        return None
    other = rng.choice(others)
    changed = with_piece(shard_map, place, piece_at(shard_map, other))
    return with_piece(changed, other, piece_at(shard_map, place))


def move_piece(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A piece goes to the list of another rank."""
    place = chosen(rng, shard_map)
    if place is None or len(shard_map.ranks) < 2:
        return None
    other = rng.choice([rank for rank in shard_map.ranks if rank != place[0]])
    return _with_one_more(_without(shard_map, place), other, piece_at(shard_map, place))


def swap_ranks(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """Two ranks take each other's shards; the locations stay."""
    if len(shard_map.ranks) < 2:
        return None
    first, second = rng.sample(sorted(shard_map.ranks), 2)
    ranks = shard_map.ranks
    return replace(shard_map, ranks={**ranks, first: ranks[second], second: ranks[first]})


def drop_rank(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A rank is forgotten with all that it holds."""
    if len(shard_map.ranks) < 2:
        return None
    gone = rng.choice(sorted(shard_map.ranks))
    return replace(shard_map, ranks={rank: shard for rank, shard in shard_map.ranks.items() if rank != gone})


def drop_location(rng: random.Random, piece: Piece) -> Piece | None:
    """A holder is not named."""
    gone = rng.choice(piece.locations) if piece.locations else None
    return replace(piece, locations=tuple([rank for rank in piece.locations if rank != gone]))


def add_location(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """A rank of the map, or one it does not have, is named as a holder."""
    place = chosen(rng, shard_map)
    if place is None:
        return None
    piece, added = piece_at(shard_map, place), _some_rank(rng, shard_map)
    if added in piece.locations:
        return None
    return with_piece(shard_map, place, replace(piece, locations=tuple(sorted({*piece.locations, added}))))


def rename_location(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
    """One holder is named instead of another."""
    place = chosen(rng, shard_map)
    if place is None:
        return None
    piece, named = piece_at(shard_map, place), _some_rank(rng, shard_map)
    if not piece.locations or named in piece.locations:
        return None
    kept = set(piece.locations) - {rng.choice(piece.locations)}
    return with_piece(shard_map, place, replace(piece, locations=tuple(sorted({*kept, named}))))


def _some_rank(rng: random.Random, shard_map: ShardMap) -> int:
    """A rank of the map, the next one, or one far away."""
    return rng.choice([*shard_map.ranks, max(shard_map.ranks) + 1, max(shard_map.ranks) + 40])
