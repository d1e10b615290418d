"""The shard map of one parameter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from verifier.model.numbers import require_ranks, require_shape
from verifier.model.origin import Origin
from verifier.model.piece import Piece


@dataclass(frozen=True, slots=True)
class RankShard:
    """What one rank holds: a buffer of ``shard_shape`` (elements) filled by ``pieces``.

    Raises:
        TypeError: the shape is not a tuple of plain integers, or pieces not a tuple of Piece.
        ValueError: a dimension is negative or too large, or there are over 64.
    """

    shard_shape: tuple[int, ...]
    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        require_shape("shard_shape", self.shard_shape)
        if type(self.pieces) is not tuple or not {*map(type, self.pieces)} <= {Piece}:
            raise TypeError("pieces must be a tuple of Piece; convert a list with tuple()")

    @property
    def numel(self) -> int:
        """Elements of the shard buffer."""
        return math.prod(self.shard_shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardMap:
    """How one parameter is cut over ranks. Ranks are labels, not positions.

    ``ranks`` is ordered by rank. ``origin`` is where the map was read, None when built in memory.
    ``holder`` is what people call a rank of this map, a singular noun: formats that forget who wrote a block
    number the blocks instead. ``called`` are the names of ranks that have one, safe to print.

    Raises:
        TypeError: the shape is not a tuple of plain integers, or ranks not plain integers to RankShard.
        ValueError: a dimension or a rank is negative or too large, or there are over 64 dimensions.
    """

    name: str
    logical_shape: tuple[int, ...]
    ranks: dict[int, RankShard]
    origin: Origin | None = None
    holder: str = "rank"
    called: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_shape("logical_shape", self.logical_shape)
        require_ranks("ranks", self.ranks)
        if not {*map(type, self.ranks.values())} <= {RankShard}:
            raise TypeError("each rank must have a RankShard")
        object.__setattr__(self, "ranks", dict(sorted(self.ranks.items())))

    @property
    def numel(self) -> int:
        """Elements of the parameter."""
        return math.prod(self.logical_shape)

    def pieces(self) -> Iterator[tuple[int, int, Piece]]:
        """Every piece as (rank, position in its rank's list, piece), in rank order."""
        for rank, shard in self.ranks.items():
            for position, piece in enumerate(shard.pieces):
                yield rank, position, piece

    def piece_origin(self, rank: int, position: int) -> Origin | None:
        """The place of one piece in the document, None when the map has none."""
        if self.origin is None:
            return None
        return self.origin.child("ranks", rank, "pieces", position)
