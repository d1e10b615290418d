"""From mesh and placements to the map of a DTensor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from verifier.formats.reading.refusal import FormatError
from verifier.formats.torch_files.dtensor_records import DTensor
from verifier.geometry.axis_parts import MOST_PARTS, AxisPart, refined, strided_chunks
from verifier.geometry.strided import StridedView, row_major
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.placements import Placement, Replicate, Shard, StridedShard
from verifier.model.shard_map import RankShard, ShardMap

MOST_PIECES = 2**20
"""No parameter is cut into more."""


class UnfitError(Exception):
    """A sharding that does not fit its mesh or its tensor (CK115): what is found, and what was stated."""

    def __init__(self, found: str, stated: str) -> None:
        super().__init__(found, stated)
        self.found = found
        self.stated = stated


@dataclass(frozen=True, slots=True)
class _Cut:
    """A cut of tensor dimension ``axis`` over mesh dimension ``mesh_dim``, within ``factor`` chunks each."""

    mesh_dim: int
    axis: int
    factor: int


def dtensor_map(
    name: str, origin: Origin, tensor: DTensor, copies: Sequence[tuple[int, ...]] | None = None
) -> ShardMap:
    """The map of a DTensor without partial placements.

    Args:
        name: of the parameter.
        origin: where the tensor was read.
        tensor: as one rank states it.
        copies: the ranks of every copy of its mesh, each in row-major order; its own alone when None.

    Raises:
        UnfitError: the placements do not fit the mesh or the tensor.
        FormatError: SM006 for a map of too many pieces or too large numbers.
    """
    cuts = _in_order(tensor, list(_cuts(tensor)))
    try:
        return _lowered(name, origin, tensor, cuts, copies or [tensor.mesh.ranks])
    except ValueError as error:
        raise FormatError(
            "SM006", f"no map of this DTensor: {error}", origin, help="write the shape that was meant"
        ) from None


def _cuts(tensor: DTensor) -> Iterator[_Cut]:
    mesh, dimensions = tensor.mesh.shape, len(tensor.shape)
    if len(tensor.placements) != len(mesh):
        raise UnfitError(f"has {len(tensor.placements)} placements", f"its mesh has {len(mesh)} dimensions")
    for mesh_dim, placement in enumerate(tensor.placements):
        if placement is None or isinstance(placement, Replicate):
            continue
        if not -dimensions <= placement.dim < dimensions:
            raise UnfitError(f"is cut along dimension {placement.dim}", f"its shape is {tensor.shape}")
        factor = placement.split_factor if isinstance(placement, StridedShard) else 1
        if factor * mesh[mesh_dim] > MOST_PARTS:
            raise UnfitError(f"has the split factor {factor}", f"at most {MOST_PARTS // mesh[mesh_dim]} fits")
        yield _Cut(mesh_dim, placement.dim % dimensions, factor)


def _in_order(tensor: DTensor, cuts: Sequence[_Cut]) -> list[_Cut]:
    """The cuts in the order that ``shard_order`` gives, else from the left."""
    if tensor.order is None:
        return list(cuts)
    if any(isinstance(placement, StridedShard) for placement in tensor.placements):
        raise UnfitError("has a shard order beside a _StridedShard", "its factor is an order already")
    by_dim = {cut.mesh_dim: cut for cut in cuts}
    listed = [(axis, mesh_dim) for axis, mesh_dims in tensor.order for mesh_dim in mesh_dims]
    stated = {(cut.axis, cut.mesh_dim) for cut in cuts}
    if len(listed) != len(cuts) or set(listed) != stated:
        raise UnfitError(
            "has a shard order of other cuts than its placements",
            f"the order lists {len(listed)}, the placements make {len(cuts)}",
        )
    return [by_dim[mesh_dim] for _, mesh_dim in listed]


def _lowered(
    name: str, origin: Origin, tensor: DTensor, cuts: Sequence[_Cut], copies: Sequence[tuple[int, ...]]
) -> ShardMap:
    mesh_shape = tensor.mesh.shape
    runs = [
        _runs(size, [cut for cut in cuts if cut.axis == axis], mesh_shape)
        for axis, size in enumerate(tensor.shape)
    ]
    owners: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for position, at in enumerate(product(*map(range, mesh_shape))):
        owner = tuple(
            tuple(at[cut.mesh_dim] for cut in cuts if cut.axis == axis) for axis in range(len(tensor.shape))
        )
        owners.setdefault(owner, []).extend(copy[position] for copy in copies)
    total = sum(
        math.prod(len(runs[axis].get(part, ())) for axis, part in enumerate(owner)) * len(ranks)
        for owner, ranks in owners.items()
    )
    if total > MOST_PIECES:
        raise ValueError(f"{total} pieces, over the limit of {MOST_PIECES}")
    full = row_major(tensor.shape)
    shards: dict[int, RankShard] = {}
    for owner, ranks in owners.items():
        held = [runs[axis].get(part, []) for axis, part in enumerate(owner)]
        shards |= dict.fromkeys(ranks, _shard(held, full, tuple(sorted(set(ranks)))))
    return ShardMap(name=name, logical_shape=tensor.shape, ranks=shards, origin=origin)


def _runs(
    size: int, cuts: Sequence[_Cut], mesh_shape: Sequence[int]
) -> Mapping[tuple[int, ...], list[tuple[int, int]]]:
    """The runs of an axis, as (first element, width), that each owner has: its position in each cut."""
    parts = [AxisPart(size, ())]
    for cut in cuts:
        parts = refined(parts, partial(strided_chunks, cut.factor, mesh_shape[cut.mesh_dim]))
    runs: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    start = 0
    for width, owner in parts:
        mine = runs.setdefault(owner, [])
        if mine and sum(mine[-1]) == start:
            mine[-1] = (mine[-1][0], mine[-1][1] + width)
        elif width:
            mine.append((start, width))
        start += width
    return runs


def _shard(
    held: Sequence[Sequence[tuple[int, int]]], full: Sequence[int], ranks: tuple[int, ...]
) -> RankShard:
    """The product of what ``ranks`` hold along each axis, packed; ``full`` are the strides of the tensor."""
    shape = tuple(sum(width for _, width in runs) for runs in held)
    strides = row_major(shape)
    placed = []
    for runs in held:
        dest, along = 0, []
        for start, width in runs:
            along.append((start, dest, width))
            dest += width
        placed.append(along)
    pieces = []
    for box in product(*placed):
        extents = tuple(width for _, _, width in box)
        source = sum(start * step for (start, _, _), step in zip(box, full, strict=True))
        dest = sum(start * step for (_, start, _), step in zip(box, strides, strict=True))
        pieces.append(
            Piece(StridedView(source, extents, tuple(full)), StridedView(dest, extents, strides), ranks)
        )
    return RankShard(shape, tuple(pieces))


def placements_text(placements: Sequence[Placement | None]) -> str:
    """Placements as people write them."""
    words = []
    for placement in placements:
        match placement:
            case Shard(dim):
                words.append(f"Shard({dim})")
            case StridedShard(dim, factor):
                words.append(f"_StridedShard({dim}, {factor})")
            case Replicate():
                words.append("Replicate()")
            case _:
                words.append("Partial()")
    return f"[{', '.join(words)}]"
