"""The map of one parameter in the optimizer shards of ZeRO."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from verifier.formats.deepspeed.statements import Shape
from verifier.formats.deepspeed.zero_layout import Fragment
from verifier.formats.deepspeed.zero_moments import Lengths
from verifier.formats.reading.document import Subject
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Fault

SOUNDNESS = Expectation()


@dataclass(frozen=True, slots=True)
class Named:
    """How the maps of parameters are called: beside an affine map and beside other ranks, not only by name.

    ``mp_rank`` is None where there is only one.
    """

    mapped: frozenset[str]
    mp_rank: int | None

    def label(self, name: str) -> str:
        """What the map of a parameter is called."""
        words = ["optimizer state"] if name in self.mapped else []
        if self.mp_rank is not None:
            words.append(f"mp rank {self.mp_rank}")
        return f"{name} ({', '.join(words)})" if words else name


@dataclass(slots=True)
class Placed:
    """The maps of the parameters of one model-parallel rank, and what was found about its partitions."""

    lengths: Lengths
    subjects: list[Subject] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def fragment_subject(
    label: str,
    shape: Shape,
    fragments: Iterable[tuple[int, Fragment]],
    origin: Origin,
    faults: Sequence[Fault] = (),
) -> Subject:
    """The map of a parameter whose rows-first elements are in fragments, each of them one shard.

    What lies around a fragment in its partition belongs to other parameters, so it is no part of this map.
    """
    ranks = {}
    for rank, (first, _, length) in fragments:
        source, dest = StridedView(first, (length,), (1,)), StridedView(0, (length,), (1,))
        ranks[rank] = RankShard((length,), (Piece(source, dest, (rank,)),))
    return Subject(
        name=label,
        origin=origin,
        shard_map=ShardMap(name=label, logical_shape=shape, ranks=ranks, origin=origin),
        expectation=SOUNDNESS,
        faults=tuple(faults),
    )
