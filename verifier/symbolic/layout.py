"""A shard map whose numbers are polynomials.

Nothing is checked here: a negative extent is a number like any other, and whether there can be one is for the
proof to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product as iterate

from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece, Scale
from verifier.model.shard_map import RankShard, ShardMap
from verifier.symbolic.polynomial import ZERO, Polynomial, constant, product

Numbers = tuple[Polynomial, ...]


@dataclass(frozen=True, slots=True)
class SymbolicView:
    """``StridedView`` in polynomials."""

    offset: Polynomial
    shape: Numbers
    strides: Numbers

    def at(self, point: Mapping[str, int]) -> StridedView:
        """The view at one point.

        Raises:
            ValueError: there is no such view.
        """
        return StridedView(self.offset.value(point), _at(self.shape, point), _at(self.strides, point))


@dataclass(frozen=True, slots=True)
class SymbolicPiece:
    """``Piece`` in polynomials; locations and scale do not depend on sizes."""

    source: SymbolicView
    dest: SymbolicView
    locations: tuple[int, ...]
    scale: Scale


@dataclass(frozen=True, slots=True)
class SymbolicShard:
    """``RankShard`` in polynomials, and views of the cells that nothing has to write."""

    shard_shape: Numbers
    pieces: tuple[SymbolicPiece, ...]
    padding: tuple[SymbolicView, ...] = ()


@dataclass(frozen=True, slots=True)
class SymbolicMap:
    """``ShardMap`` in polynomials."""

    logical_shape: Numbers
    ranks: Mapping[int, SymbolicShard]

    @property
    def numel(self) -> Polynomial:
        """Elements of the parameter."""
        return product(self.logical_shape)

    def pieces(self) -> Iterator[tuple[int, int, SymbolicPiece]]:
        """Every piece as (rank, position in its rank's list, piece)."""
        for rank, shard in self.ranks.items():
            for position, piece in enumerate(shard.pieces):
                yield rank, position, piece

    def without_empty(self, point: Mapping[str, int]) -> SymbolicMap:
        """The map at one point, in constants, without the pieces and the padding that are empty there."""

        def numbers(values: Numbers) -> Numbers:
            return tuple([constant(value) for value in _at(values, point)])

        def view(one: SymbolicView) -> SymbolicView:
            return SymbolicView(constant(one.offset.value(point)), numbers(one.shape), numbers(one.strides))

        def shard(one: SymbolicShard) -> SymbolicShard:
            pieces = [
                replace(piece, source=view(piece.source), dest=view(piece.dest)) for piece in one.pieces
            ]
            return SymbolicShard(
                numbers(one.shard_shape),
                tuple([piece for piece in pieces if ZERO not in piece.source.shape]),
                tuple([cells for cells in map(view, one.padding) if ZERO not in cells.shape]),
            )

        ranks = {rank: shard(one) for rank, one in self.ranks.items()}
        return SymbolicMap(numbers(self.logical_shape), ranks)

    def at(self, point: Mapping[str, int]) -> ShardMap:
        """The map at one point.

        Raises:
            ValueError: there is no such map; an extent is negative, say.
        """
        ranks = {
            rank: RankShard(
                _at(shard.shard_shape, point),
                tuple(
                    [
                        Piece(piece.source.at(point), piece.dest.at(point), piece.locations, piece.scale)
                        for piece in shard.pieces
                    ]
                ),
            )
            for rank, shard in self.ranks.items()
        }
        return ShardMap(name="w", logical_shape=_at(self.logical_shape, point), ranks=ranks)

    def padded_cells(self) -> int:
        """How many cells are padding, of a map of plain numbers; negative extents count as they are."""
        views = [view for shard in self.ranks.values() for view in shard.padding]
        return sum([math.prod(_at(view.shape, {})) for view in views])

    def holes(self, point: Mapping[str, int]) -> dict[int, tuple[int, ...]]:
        """Per rank with padding, its cells at one point.

        Raises:
            ValueError: an extent is negative.
        """
        return {
            rank: tuple(
                [view.address(index) for view in views for index in iterate(*[range(n) for n in view.shape])]
            )
            for rank, shard in self.ranks.items()
            if (views := [view.at(point) for view in shard.padding])
        }


def _at(numbers: Numbers, point: Mapping[str, int]) -> tuple[int, ...]:
    return tuple([number.value(point) for number in numbers])
