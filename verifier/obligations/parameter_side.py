"""Every element has holders, the holders are the declared ones, and they agree in scale.

Pieces are grouped by (locations L, scale s); F(L, s, r) are the elements that rank r holds by such pieces.
The map is right on this side iff F(L, s, r) is empty for r outside L (a direct rule), is the same for all r
in L, and the sum of one F(L, s, r) per group visits each element exactly once.

Theory: T10 conditions 3 to 5, T11, T15.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.geometry.equations import TooHard
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Scale
from verifier.model.shard_map import ShardMap
from verifier.obligations.declared import unvisited
from verifier.obligations.obligation import Obligation, Unposed
from verifier.obligations.questions import Packing, SameAddresses, Tiling

GroupKey = tuple[tuple[int, ...], Scale | int | str]
"""(locations, scale); the scale is the word "partial" where scales are summed instead of compared."""
Groups = dict[GroupKey, dict[int, list[StridedView]]]


def holder_groups(shard_map: ShardMap, expectation: Expectation) -> Groups:
    """F(L, s, r): source views of the non-empty pieces by (locations, scale) and rank."""
    groups: Groups = {}
    for rank, _, piece in shard_map.pieces():
        if 0 in piece.source.shape:
            continue
        scale = 1 if piece.scale is ONE else piece.scale  # an equal key that is hashed faster
        key: GroupKey = (piece.locations, "partial" if expectation.partial else scale)
        by_rank = groups.setdefault(key, {})
        if rank in by_rank:
            by_rank[rank].append(piece.source)
        else:
            by_rank[rank] = [piece.source]
    return groups


def parameter_obligations(shard_map: ShardMap, expectation: Expectation) -> Iterator[Obligation]:
    """Equality of holders per group, then one Tiling (or Packing, when coverage is not asked)."""
    groups = holder_groups(shard_map, expectation)
    representatives: list[StridedView] = []
    for (locations, scale), by_rank in groups.items():
        if not locations:
            continue
        first = tuple(by_rank.get(locations[0], ()))
        representatives += first
        for rank in locations[1:]:
            name = f"holders/{','.join(map(str, locations))}/{scale}/{rank}"
            yield Obligation(name, "holders", rank, SameAddresses(first, tuple(by_rank.get(rank, ()))))
    views = tuple(representatives)
    gaps = unvisited(expectation.gaps, views, shard_map.numel)
    question: Tiling | Packing | Unposed
    if isinstance(gaps, TooHard):
        question = Unposed(f"which declared gaps are held: {gaps.nodes} search nodes spent")
    else:
        kind = Tiling if expectation.cover else Packing
        question = kind(shard_map.numel, views + gaps)
    yield Obligation("parameter", "parameter", None, question)
