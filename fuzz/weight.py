"""How much there is to read in a map: what examples are compared by, and what shrinking makes less."""

from __future__ import annotations

from verifier.model.expectation import Expectation
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap

Weight = tuple[int, int, int, int]
"""(pieces, ranks, axes, sum of all numbers by size); the first that differs decides."""


def weight(shard_map: ShardMap, expectation: Expectation | None = None) -> Weight:
    """The weight of a map, with the demands and the reference of its expectation."""
    pieces, ranks, axes, numbers = _map_weight(shard_map)
    if expectation is not None:
        demanded = expectation.gaps, *expectation.holes.values()
        numbers += sum(abs(number) + 1 for listed in demanded for number in listed)
        numbers += sum((expectation.lookup, expectation.partial, not expectation.cover))
        numbers += sum(given is not None for given in (expectation.scale, expectation.write_unit))
        if expectation.reference is not None:
            more = _map_weight(expectation.reference)
            pieces, ranks, axes, numbers = (
                pieces + more[0], ranks + more[1], axes + more[2], numbers + more[3]
            )  # fmt: skip
    return pieces, ranks, axes, numbers


def _map_weight(shard_map: ShardMap) -> Weight:
    pieces, axes = 0, len(shard_map.logical_shape)
    numbers = sum(shard_map.logical_shape)
    for shard in shard_map.ranks.values():
        axes += len(shard.shard_shape)
        numbers += sum(shard.shard_shape)
    for rank, _, piece in shard_map.pieces():
        pieces += 1
        axes += len(piece.shape)
        numbers += rank + len(piece.locations) + (piece.scale != ONE)
        numbers += sum(piece.shape) + abs(piece.source.offset) + abs(piece.dest.offset)
        numbers += sum(map(abs, piece.source.strides)) + sum(map(abs, piece.dest.strides))
    return pieces, len(shard_map.ranks), axes, numbers
