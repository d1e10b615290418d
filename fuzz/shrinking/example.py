"""What is shrunk: a map under an expectation, with the map before its defect where that matters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from fuzz.weight import Weight, weight
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Piece, Scale, exact_scale
from verifier.model.shard_map import RankShard, ShardMap

Role = Literal["shard_map", "clean", "reference"]
Place = tuple[int, int]
"""(rank, position)."""
Order = tuple[Weight, int]

MANY = 10
"""What a whole rank or piece counts for among differing numbers."""
PLAIN_SCALES: tuple[Scale, ...] = (ONE, Fraction(2), Fraction(0))
"""The scales that examples have, if they can."""


@dataclass(frozen=True, slots=True)
class Example:
    """A map that shows something.

    Attributes:
        clean: the map before its defect, None where what is shown does not depend on it.
    """

    shard_map: ShardMap
    expectation: Expectation
    clean: ShardMap | None = None

    def maps(self) -> Iterator[tuple[Role, ShardMap]]:
        """The maps of the example, the one that is shown first."""
        yield "shard_map", self.shard_map
        if self.clean is not None:
            yield "clean", self.clean
        if self.expectation.reference is not None:
            yield "reference", self.expectation.reference

    def with_map(self, role: Role, shard_map: ShardMap) -> Example:
        """The example with one of its maps exchanged."""
        match role:
            case "shard_map":
                return replace(self, shard_map=shard_map)
            case "clean":
                return replace(self, clean=shard_map)
            case "reference":
                return replace(self, expectation=replace(self.expectation, reference=shard_map))

    def everywhere(self, change: Callable[[ShardMap], ShardMap]) -> Example:
        """The example with the same change of all its maps."""
        changed = self
        for role, shard_map in self.maps():
            changed = changed.with_map(role, change(shard_map))
        return changed

    @property
    def order(self) -> Order:
        """What shrinking makes less: the weight of all maps, then what the weight does not count."""
        heavy = weight(self.shard_map, self.expectation)
        if self.clean is not None:
            pieces, ranks, axes, numbers = (a + b for a, b in zip(heavy, weight(self.clean), strict=True))
            heavy = pieces, ranks, axes, numbers
        return heavy, _expectation_detail(self.expectation) + sum(_detail(m) for _, m in self.maps())

    @property
    def defect(self) -> int:
        """By how many numbers the map differs from its clean one; a rank or a piece counts as ``MANY``."""
        if self.clean is None:
            return 0
        ours, theirs = self.shard_map.ranks, self.clean.ranks
        found = MANY * len(ours.keys() ^ theirs.keys())
        found += _difference(self.shard_map.logical_shape, self.clean.logical_shape)
        for rank in ours.keys() & theirs.keys():
            found += _difference(ours[rank].shard_shape, theirs[rank].shard_shape)
            found += _pieces_apart(ours[rank].pieces, theirs[rank].pieces)
        return found


def _pieces_apart(ours: tuple[Piece, ...], theirs: tuple[Piece, ...]) -> int:
    """Pieces that are equal are left out; what remains is compared in order."""
    if ours == theirs:
        return 0
    left = list(theirs)
    changed = []
    for piece in ours:
        if piece in left:
            left.remove(piece)
        else:
            changed.append(piece)
    found = MANY * abs(len(changed) - len(left))
    for one, other in zip(changed, left, strict=False):
        found += _difference(_numbers(one), _numbers(other))
        found += (one.locations != other.locations) + (one.scale != other.scale)
    return found


def _numbers(piece: Piece) -> tuple[int, ...]:
    source, dest = piece.source, piece.dest
    return (source.offset, dest.offset, *piece.shape, *source.strides, *dest.strides)


def _difference(ours: tuple[int, ...], theirs: tuple[int, ...]) -> int:
    if len(ours) != len(theirs):
        return MANY
    return sum(a != b for a, b in zip(ours, theirs, strict=True))


def _detail(shard_map: ShardMap) -> int:
    labels = sum(shard_map.ranks)
    return labels + sum(sum(p.locations) + _scale_detail(p.scale) for _, _, p in shard_map.pieces())


def _scale_detail(scale: Scale) -> int:
    """A scale that a JSON document cannot state weighs most."""
    if scale in PLAIN_SCALES:
        return PLAIN_SCALES.index(scale)
    if not isinstance(scale, Fraction):
        return 10_000
    bits = scale.numerator.bit_length() + scale.denominator.bit_length()
    return 8 + bits + (0 if exact_scale(float(scale)) == scale else 5_000)


def _expectation_detail(expectation: Expectation) -> int:
    default = Expectation()
    detail = len(expectation.holes) + sum(expectation.holes) + (expectation.write_unit or 0)
    if expectation.scale is not None:
        detail += _scale_detail(expectation.scale)
    if expectation.index_bits != default.index_bits:
        detail += expectation.index_bits
    return detail + (expectation.sum_ulps != default.sum_ulps)


def without(shard_map: ShardMap, *, ranks: Collection[int]) -> ShardMap:
    """The map without some of its ranks; others may still name them as holders."""
    return replace(shard_map, ranks={r: shard for r, shard in shard_map.ranks.items() if r not in ranks})


def with_shard(shard_map: ShardMap, rank: int, shard: RankShard) -> ShardMap:
    """The map with another shard on one rank."""
    return replace(shard_map, ranks={**shard_map.ranks, rank: shard})


def with_pieces_at(shard_map: ShardMap, place: Place, pieces: tuple[Piece, ...]) -> ShardMap:
    """The map with other pieces, or none, in place of one."""
    rank, at = place
    shard = shard_map.ranks[rank]
    listed = (*shard.pieces[:at], *pieces, *shard.pieces[at + 1 :])
    return with_shard(shard_map, rank, RankShard(shard.shard_shape, listed))


def twin(other: ShardMap, shard_map: ShardMap, place: Place) -> Place | None:
    """The piece of another map that stands for a piece: an equal one, or else the one at its position."""
    rank, at = place
    if rank not in other.ranks:
        return None
    pieces, theirs = shard_map.ranks[rank].pieces, other.ranks[rank].pieces
    if pieces[at] in theirs:
        same = at < len(theirs) and theirs[at] == pieces[at]
        return rank, at if same else theirs.index(pieces[at])
    return place if len(pieces) == len(theirs) else None
