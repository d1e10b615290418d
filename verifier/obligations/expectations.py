"""What the reader of a map may additionally demand.

Theory: T5 (reference), T9 (storage units), T16 (scales and their sums).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from verifier.model.expectation import Expectation
from verifier.model.piece import Scale
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Fault
from verifier.obligations.obligation import Obligation
from verifier.obligations.questions import PairView, SamePairs, UnitBoundaries


def same_frame(here: ShardMap, there: ShardMap) -> Fault | None:
    """The first disagreement of two maps in shapes or ranks, before any piece is looked at (SM501)."""
    if here.logical_shape != there.logical_shape:
        return _frame_fault(None, "logical_shape", here.logical_shape, there.logical_shape)
    if here.ranks.keys() != there.ranks.keys():
        return _frame_fault(None, "ranks", tuple(here.ranks), tuple(there.ranks))
    for rank, shard in here.ranks.items():
        other = there.ranks[rank]
        if shard.shard_shape != other.shard_shape:
            return _frame_fault(rank, "shard_shape", shard.shard_shape, other.shard_shape)
    return None


def _frame_fault(rank: int | None, what: str, here: tuple[int, ...], there: tuple[int, ...]) -> Fault:
    return Fault(
        code="SM501",
        side="map",
        rank=rank,
        values={"here": f"{what} {list(here)}", "there": f"{what} {list(there)}"},
    )


def pairs_by_scale(shard: RankShard) -> dict[Scale, tuple[PairView, ...]]:
    """The function a shard is cut by: its (source, dest) pairs for each scale."""
    pairs: dict[Scale, list[PairView]] = defaultdict(list)
    for piece in shard.pieces:
        if not piece.is_empty:
            pairs[piece.scale].append(PairView(piece.source, piece.dest))
    return {scale: tuple(views) for scale, views in pairs.items()}


def function_obligations(here: ShardMap, there: ShardMap) -> Iterator[Obligation]:
    """Two maps of one frame are the same function: per rank and scale, the same pairs. Theory: T5."""
    for rank, shard in here.ranks.items():
        ours, theirs = pairs_by_scale(shard), pairs_by_scale(there.ranks[rank])
        for scale in sorted({*ours, *theirs}, key=str):
            yield Obligation(
                f"reference/{rank}",
                "reference",
                rank,
                SamePairs(ours.get(scale, ()), theirs.get(scale, ())),
            )


def reference_obligations(shard_map: ShardMap, expectation: Expectation) -> Iterator[Obligation]:
    """The map is the same function as the reference; nothing when the frames differ (see ``same_frame``)."""
    reference = expectation.reference
    if reference is not None and same_frame(shard_map, reference) is None:
        yield from function_obligations(shard_map, reference)


def unit_obligations(shard_map: ShardMap, expectation: Expectation) -> Iterator[Obligation]:
    """Each rank's elements begin and end only at the edges of storage units. Theory: T9."""
    if expectation.write_unit is None:
        return
    for rank, shard in shard_map.ranks.items():
        views = tuple([piece.source for piece in shard.pieces if not piece.is_empty])
        if views:
            question = UnitBoundaries(shard_map.numel, expectation.write_unit, views)
            yield Obligation(f"unit/{rank}", "unit", rank, question)


def scale_faults(shard_map: ShardMap, expectation: Expectation) -> Iterator[Fault]:
    """Pieces whose scale is not the demanded one, and holders whose scales do not sum to 1 (SM505)."""
    if expectation.scale is not None:
        for rank, position, piece in shard_map.pieces():
            if not piece.is_empty and piece.scale != expectation.scale:
                yield Fault(
                    code="SM505",
                    side="piece",
                    rank=rank,
                    pieces=((rank, position),),
                    values={"scale": str(piece.scale), "expected": str(expectation.scale)},
                )
    if expectation.partial:
        yield from _partial_faults(shard_map, expectation.sum_ulps)


def _partial_faults(shard_map: ShardMap, ulps: int) -> Iterator[Fault]:
    """Per group of equal locations, one scale a rank, and their sum within ``ulps`` of 1. Theory: T16."""
    scales: dict[tuple[int, ...], dict[int, Scale]] = {}
    first: dict[tuple[int, ...], tuple[int, int]] = {}
    for rank, position, piece in shard_map.pieces():
        if piece.is_empty:
            continue
        by_rank = scales.setdefault(piece.locations, {})
        place = first.setdefault(piece.locations, (rank, position))
        if by_rank.setdefault(rank, piece.scale) != piece.scale:
            yield Fault(
                code="SM901",
                side="piece",
                rank=rank,
                pieces=(place, (rank, position)),
                values={
                    "obligation": "scale sum",
                    "reason": f"rank {rank} holds elements of ranks {list(piece.locations)} under two scales",
                },
                undecided=True,
            )
            return
    for locations, by_rank in scales.items():
        total = Fraction(0)
        for rank in locations:
            scale = by_rank.get(rank, Fraction(0))
            total += scale if isinstance(scale, Fraction) else 0
        if abs(total - 1) > Fraction(ulps, 2**53):
            yield Fault(
                code="SM505",
                side="piece",
                rank=first[locations][0],
                pieces=(first[locations],),
                values={"scale": f"sum {total} over ranks {list(locations)}", "expected": "sum 1"},
            )


def writer_faults(shard_map: ShardMap, expectation: Expectation) -> Iterator[Fault]:
    """With storage units, no element may have two writing ranks (SM506)."""
    if expectation.write_unit is None:
        return
    for rank, position, piece in shard_map.pieces():
        if not piece.is_empty and len(piece.locations) > 1:
            yield Fault(
                code="SM506",
                side="parameter",
                rank=rank,
                pieces=((rank, position),),
                address=piece.source.lowest,
                values={"unit": expectation.write_unit, "writers": piece.locations},
            )
            return
