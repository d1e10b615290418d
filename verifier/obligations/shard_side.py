"""Each address of a rank's shard is written exactly once, save declared padding.

Theory: T10 condition 2, T15.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.geometry.equations import TooHard
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.declared import unvisited
from verifier.obligations.obligation import Obligation, Unposed
from verifier.obligations.questions import Tiling


def shard_obligations(shard_map: ShardMap, expectation: Expectation) -> Iterator[Obligation]:
    """One Tiling per rank, ranks without pieces included."""
    for rank, shard in shard_map.ranks.items():
        views = tuple([piece.dest for piece in shard.pieces])
        numel = shard.numel
        padding = unvisited(expectation.holes.get(rank, ()), views, numel)
        question: Tiling | Unposed
        if isinstance(padding, TooHard):
            question = Unposed(f"which declared holes are written: {padding.nodes} search nodes spent")
        else:
            question = Tiling(numel, views + padding)
        yield Obligation(f"shard/{rank}", "shard", rank, question)
