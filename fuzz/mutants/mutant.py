"""What a mutant is, and the few ways to change a map that all of them use."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

Change = Callable[[random.Random, ShardMap], ShardMap | None]
PieceChange = Callable[[random.Random, Piece], Piece | None]
Place = tuple[int, int]
"""(rank, position)."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A labelled defect.

    Attributes:
        change: makes it; None where the map has nothing to change.
        sure: what it makes of a right map is wrong for a reader who demands the function of that map,
            whatever else he demands or waives (T18). The others may make another way to write the same map,
            or a map that is right for a reader who looks things up and asks for no holders.
        codes: the diagnostics of a right map with this defect, consequences included; SM501 only where a
            reference is demanded, SM505, SM506 and others only where an expectation asks for them.
    """

    name: str
    change: Change
    sure: bool
    codes: frozenset[str]

    def __call__(self, rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        """The map with the defect; None where it cannot have it, stays what it was, or is no map at all."""
        try:
            made = self.change(rng, shard_map)
        except ValueError:  # the model refuses it, as a reader would
            return None
        return None if made == shard_map else made


def places(shard_map: ShardMap) -> list[Place]:
    """The pieces that carry something."""
    return [(rank, at) for rank, at, piece in shard_map.pieces() if 0 not in piece.shape]


def piece_at(shard_map: ShardMap, place: Place) -> Piece:
    """The piece at a place."""
    return shard_map.ranks[place[0]].pieces[place[1]]


def chosen(rng: random.Random, shard_map: ShardMap) -> Place | None:
    """The place of some piece that carries something."""
    found = places(shard_map)
    return rng.choice(found) if found else None


def with_pieces(shard_map: ShardMap, rank: int, pieces: Sequence[Piece]) -> ShardMap:
    """The map with another list of pieces on one rank."""
    shard = replace(shard_map.ranks[rank], pieces=tuple(pieces))
    return replace(shard_map, ranks={**shard_map.ranks, rank: shard})


def with_piece(shard_map: ShardMap, place: Place, piece: Piece) -> ShardMap:
    """The map with one piece exchanged."""
    pieces = list(shard_map.ranks[place[0]].pieces)
    pieces[place[1]] = piece
    return with_pieces(shard_map, place[0], pieces)


def on_piece(change: PieceChange) -> Change:
    """The change of one piece as a change of a map."""

    def changed_map(rng: random.Random, shard_map: ShardMap) -> ShardMap | None:
        place = chosen(rng, shard_map)
        changed = None if place is None else change(rng, piece_at(shard_map, place))
        return None if place is None or changed is None else with_piece(shard_map, place, changed)

    return changed_map
