"""Canonical form: what the constructors in use emit, and what almost every wrong edit of a valid map breaks.

A map can be a perfect tiling and the wrong function; nothing in the map can show that. These rules can only
raise an eyebrow: strides that are not the row-major strides of the declared shapes, pieces that are no boxes
of them, pieces not listed in rising dest order, a scale. They are warnings and change no verdict, unless the
reader demands canonical form (``--strict``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from verifier.geometry.strided import StridedView, row_major
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault


def lints(shard_map: ShardMap) -> Iterator[Fault]:
    """The first piece of each rank that breaks each rule (SM701 to SM704)."""
    parameter = _Grid.of(shard_map.logical_shape)
    for rank, shard in shard_map.ranks.items():
        grid = _Grid.of(shard.shard_shape)
        seen: set[str] = set()
        previous: int | None = None
        for position, piece in enumerate(shard.pieces):
            if 0 in piece.source.shape:
                continue
            for code, side in (
                (parameter.broken_by(piece.source), "source"),
                (grid.broken_by(piece.dest), "dest"),
            ):
                if code is not None and code not in seen:
                    seen.add(code)
                    yield _lint(code, rank, position, view=side)
            if previous is not None and piece.dest.offset < previous and "SM703" not in seen:
                seen.add("SM703")
                yield _lint("SM703", rank, position)
            previous = piece.dest.offset
            if piece.scale is not ONE and piece.scale != ONE and "SM704" not in seen:
                seen.add("SM704")
                yield _lint("SM704", rank, position, scale=str(piece.scale))


def _lint(code: str, rank: int, position: int, **values: str) -> Fault:
    return Fault(code=code, side="piece", rank=rank, pieces=((rank, position),), values=values)


@dataclass(frozen=True, slots=True)
class _Grid:
    """A row-major tensor, to compare views with."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> _Grid:
        return cls(shape, row_major(shape))

    def broken_by(self, view: StridedView) -> str | None:
        """SM701 for strides that are not the grid's on an axis that moves, SM702 for a view that is no box.

        A view of another number of axes passes when it is one contiguous run.
        """
        if view.strides == self.strides and view.shape == self.shape and view.offset == 0:
            return None
        if len(view.shape) != len(self.shape):
            return None if len(view.shape) == 1 and view.strides[0] == 1 else "SM701"
        rest, code = view.offset, None
        for extent, stride, size, step in zip(
            view.shape, view.strides, self.shape, self.strides, strict=True
        ):
            if stride != step and extent > 1:
                return "SM701"
            corner, rest = divmod(rest, step) if step else (0, rest)
            if corner + extent > size:
                code = "SM702"
        return code
