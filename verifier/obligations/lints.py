"""Canonical form: what the constructors in use emit, and what almost every wrong edit of a valid map breaks.

A map can be a perfect tiling and the wrong function; nothing in the map can show that. These rules can only
raise an eyebrow: strides that are not the row-major strides of the declared shapes, pieces that are no boxes
of them, pieces not listed in rising dest order, a scale. They are warnings and never change a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.geometry.strided import StridedView, coordinates, row_major
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault


def lints(shard_map: ShardMap) -> Iterator[Fault]:
    """The first piece of each rank that breaks each rule (SM701 to SM704)."""
    for rank, shard in shard_map.ranks.items():
        seen: set[str] = set()
        previous: int | None = None
        for position, piece in enumerate(shard.pieces):
            if piece.is_empty:
                continue
            for code in _broken(shard_map.logical_shape, piece.source, shard.shard_shape, piece.dest):
                if code not in seen:
                    seen.add(code)
                    yield _lint(code, rank, position)
            if previous is not None and piece.dest.offset < previous and "SM703" not in seen:
                seen.add("SM703")
                yield _lint("SM703", rank, position)
            previous = piece.dest.offset
            if piece.scale != ONE and "SM704" not in seen:
                seen.add("SM704")
                yield Fault(
                    code="SM704",
                    side="piece",
                    rank=rank,
                    pieces=((rank, position),),
                    values={"scale": str(piece.scale)},
                )


def _lint(code: str, rank: int, position: int) -> Fault:
    return Fault(code=code, side="piece", rank=rank, pieces=((rank, position),))


def _broken(
    logical_shape: Sequence[int], source: StridedView, shard_shape: Sequence[int], dest: StridedView
) -> Iterator[str]:
    sides = ((source, logical_shape), (dest, shard_shape))
    if not all(_is_row_major(view, shape) for view, shape in sides):
        yield "SM701"
    elif not all(_is_box(view, shape) for view, shape in sides):
        yield "SM702"


def _is_row_major(view: StridedView, shape: Sequence[int]) -> bool:
    """The strides are those of the tensor, on every axis that moves; a view of fewer axes may be flat."""
    if len(view.shape) != len(shape):
        return len(view.shape) == 1 and view.strides[0] == 1
    return all(
        extent == 1 or stride == expected
        for extent, stride, expected in zip(view.shape, view.strides, row_major(shape), strict=True)
    )


def _is_box(view: StridedView, shape: Sequence[int]) -> bool:
    """No index leaves its row: the corner plus the extents stays inside the shape on every axis."""
    if len(view.shape) != len(shape):
        return True
    corner = coordinates(view.offset, shape)
    return all(low + extent <= size for low, extent, size in zip(corner, view.shape, shape, strict=True))
