"""What can be seen of a piece by itself: bounds, signs, scale, locations, integer widths.

Empty pieces touch nothing and are never wrong, whatever their numbers.

Theory: T2, T10 condition 1, T16.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from operator import mul

from verifier.geometry.strided import INT64_MAX, StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Piece
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault, Value, Visit

RULES = ("index-width", "bounds", "signs", "scales", "locations")
"""The direct rules, each one obligation of a map."""


def piece_faults(shard_map: ShardMap, expectation: Expectation) -> Iterator[Fault]:
    """Every direct fault of a map, in document order."""
    if shard_map.numel > INT64_MAX:
        yield _too_wide("elements of the parameter", shard_map.numel, 64)
    world = _plausible_ranks(shard_map)
    numel = shard_map.numel
    within = 1 << (min(expectation.index_bits, 64) - 1)
    for rank, shard in shard_map.ranks.items():
        shard_numel = shard.numel
        if shard_numel > INT64_MAX:
            yield _too_wide("elements of the shard", shard_numel, 64, rank)
        for position, piece in enumerate(shard.pieces):
            if 0 in piece.source.shape:
                continue
            place = (rank, position)
            if not _evidently_placed(piece, shard_numel, numel, within):
                yield from _address_faults(place, piece, shard_numel, numel, expectation.index_bits)
            if piece.scale is not ONE and (not isinstance(piece.scale, Fraction) or not piece.scale):
                yield Fault(
                    code="SM106",
                    side="piece",
                    rank=rank,
                    pieces=(place,),
                    values={"scale": str(piece.scale)},
                )
            if not expectation.lookup and (
                rank not in piece.locations or not world.issuperset(piece.locations)
            ):
                yield from _location_faults(place, piece, world)


def misplaced_reference(reference: ShardMap) -> list[Fault]:
    """The first piece of a reference that no consumer could read, as a fault of the comparison (SM501)."""
    for fault in piece_faults(reference, Expectation(lookup=True)):
        where = "".join([f" in piece {position} of rank {rank}" for rank, position in fault.pieces])
        values: dict[str, Value] = {
            "here": "a map",
            "there": f"no map that could be run: {fault.code}{where}",
        }
        return [Fault(code="SM501", side="map", rank=fault.rank, values=values)]
    return []


def _plausible_ranks(shard_map: ShardMap) -> frozenset[int]:
    """Ranks a piece may name: those with a shard, and those whose shard is merely missing.

    A named rank without a shard is a missing one (SM402, found by the holders) when it fits into a world
    0..n of as many ranks as are known by name; a rank outside that world is unknown (SM108).
    """
    known = set(shard_map.ranks)
    for _, _, piece in shard_map.pieces():
        known.update(piece.locations)
    return frozenset({*shard_map.ranks, *range(len(known))})


def _evidently_placed(piece: Piece, shard_numel: int, numel: int, within: int) -> bool:
    """True for a piece whose numbers and addresses are all in range: one look for the many that are right.

    Whatever it says no to is looked at rule by rule.
    """
    source, dest = piece.source, piece.dest
    strides = source.strides + dest.strides
    if strides and (min(strides) < 0 or max(strides) > INT64_MAX):
        return False
    reached = dest.offset + sum(map(mul, dest.shape, dest.strides)) - sum(dest.strides)
    read = source.offset + sum(map(mul, source.shape, source.strides)) - sum(source.strides)
    return (
        dest.offset >= 0
        and source.offset >= 0
        and reached < shard_numel
        and read < numel
        and reached < within
        and read < within
    )


def _address_faults(
    place: tuple[int, int], piece: Piece, shard_numel: int, numel: int, index_bits: int
) -> Iterator[Fault]:
    """Width of the numbers, bounds, width of the addresses, signs; one fault a cause."""
    wide = _widest(piece)
    if wide is not None:
        yield _too_wide("a number of the piece", wide, 64, place[0], place)
        return
    dest, source = piece.dest.hull, piece.source.hull
    if dest[0] < 0 or dest[1] >= shard_numel:
        yield _out_of_bounds("SM101", place, piece.dest, shard_numel)
    if source[0] < 0 or source[1] >= numel:
        yield _out_of_bounds("SM102", place, piece.source, numel)
    elif dest[0] >= 0 and dest[1] < shard_numel:
        reached = max(source[1], dest[1])
        if reached.bit_length() >= index_bits:
            yield _too_wide("an address", reached, index_bits, place[0], place)
        yield from _sign_faults(place, piece)


def _widest(piece: Piece) -> int | None:
    """A number of the piece that no int64 holds, None when all fit."""
    source, dest = piece.source, piece.dest
    numbers = (*source.shape, source.offset, *source.strides, dest.offset, *dest.strides)
    if max(numbers) > INT64_MAX:
        return max(numbers)
    return min(numbers) if min(numbers) < -INT64_MAX else None


def _too_wide(
    what: str, value: int, bits: int, rank: int | None = None, place: tuple[int, int] | None = None
) -> Fault:
    return Fault(
        code="SM109",
        side="map" if place is None else "piece",
        rank=rank,
        pieces=() if place is None else (place,),
        values={"what": what, "value": value, "bits": bits},
    )


def _out_of_bounds(code: str, place: tuple[int, int], view: StridedView, size: int) -> Fault:
    """The fault of a view that leaves 0..size, at the lowest address below it or else the highest above."""
    lowest, highest = view.hull
    reached, positive = (lowest, False) if lowest < 0 else (highest, True)
    index = tuple(
        [
            n - 1 if (s > 0) == positive and s != 0 else 0
            for n, s in zip(view.shape, view.strides, strict=True)
        ]
    )
    return Fault(
        code=code,
        side="shard" if code == "SM101" else "parameter",
        rank=place[0],
        pieces=(place,),
        address=reached,
        visits=(Visit(*place, index),),
        values={"reached": reached, "size": size, "lowest": lowest, "highest": highest},
    )


def _sign_faults(place: tuple[int, int], piece: Piece) -> Iterator[Fault]:
    """torch.as_strided has no negative strides, not even on an axis of extent 1."""
    for side, view in (("dest", piece.dest), ("source", piece.source)):
        if min(view.strides, default=0) >= 0:
            continue
        for axis, stride in enumerate(view.strides):
            if stride < 0:
                yield Fault(
                    code="SM105",
                    side="piece",
                    rank=place[0],
                    pieces=(place,),
                    values={"axis": axis, "stride": stride, "view": side},
                )
                return


def _location_faults(place: tuple[int, int], piece: Piece, world: frozenset[int]) -> Iterator[Fault]:
    rank = place[0]
    if not piece.locations:
        yield Fault(code="SM107", side="piece", rank=rank, pieces=(place,))
        return
    unknown = tuple([r for r in piece.locations if r not in world])
    if unknown:
        yield Fault(code="SM108", side="piece", rank=rank, pieces=(place,), values={"unknown": unknown})
    if rank not in piece.locations:
        yield Fault(
            code="SM401",
            side="parameter",
            rank=rank,
            pieces=(place,),
            address=piece.source.address((0,) * len(piece.shape)),
            visits=(Visit(*place, (0,) * len(piece.shape)),),
            values={"declared": piece.locations, "holders": (rank,)},
        )
