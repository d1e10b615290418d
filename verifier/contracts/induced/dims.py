"""Fields of a parameter that is cut along one dimension. Theory: T26."""

from __future__ import annotations

import math

from verifier.contracts.geometry import Geometry
from verifier.contracts.induced.fibres import block_size
from verifier.contracts.induced.field_shapes import field_shape
from verifier.contracts.induced.maps import boxes, intervals, whole_on
from verifier.contracts.induced.outcome import Induced, impossible
from verifier.contracts.shards import ParameterCut


def holders(cut: ParameterCut) -> list[int]:
    """The members that hold anything."""
    return [k for k, shard in enumerate(cut.shards) if shard.numel]


def without_axis(cut: ParameterCut, geometry: Geometry, name: str, axis: int) -> Induced:
    """Rows and columns: the mean over ``axis``, counted from 0."""
    shape = field_shape(geometry, cut.shape)
    if cut.dim == axis:
        return summed(cut, geometry, name, f"dimension {axis}, which is reduced, is cut")
    held: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for k, shard in enumerate(cut.shards):
        offsets, lengths = list(shard.offsets), list(shard.lengths)
        if geometry.keepdim:
            offsets[axis], lengths[axis] = 0, 1
        else:
            del offsets[axis], lengths[axis]
        held[k] = tuple(offsets), tuple(lengths)
    return Induced(kind="dropped", shard_map=boxes(name, shape, held))


def summed(cut: ParameterCut, geometry: Geometry, name: str, reason: str) -> Induced:
    """A field to which every member that holds anything adds its part."""
    shape, found = field_shape(geometry, cut.shape), holders(cut)
    shard_map = whole_on(name, shape, found, len(cut.shards))
    if len(found) < 2:
        return Induced(kind="dropped", shard_map=shard_map)
    return Induced(kind="needs_reduction", rule="M2", reason=reason, shard_map=shard_map)


def blocks(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """Blocks of the flat tensor. Each member holds O intervals of it, where O counts what is before the cut
    dimension; they begin and end at multiples of the block, or at the end.
    """
    dim, size = cut.dim or 0, block_size(geometry)
    outer, extent = math.prod(cut.shape[:dim]), cut.shape[dim]
    stride = math.prod(cut.shape[dim + 1 :])
    found = holders(cut)
    cuts = sorted(cut.shards[k].offsets[dim] for k in found)[1:]
    split = [c * stride for c in cuts if c * stride % size]
    if not split and len(found) > 1 and outer > 1 and extent * stride % size:
        split = [extent * stride]
    if split:
        return impossible(
            "M6", f"element {split[0]} begins another member: {split[0]} = {split[0] % size} mod {size}"
        )
    shape = field_shape(geometry, cut.shape)
    if len(found) == 1:
        return Induced(kind="block_aligned", shard_map=whole_on(name, shape, found, len(cut.shards)))
    held: dict[int, tuple[int, int, int, int]] = {}
    for k, shard in enumerate(cut.shards):
        begin, end = shard.offsets[dim] * stride, (shard.offsets[dim] + shard.lengths[dim]) * stride
        first = begin // size
        held[k] = first, outer, -(-end // size) - first if end > begin else 0, extent * stride // size
    return Induced(kind="block_aligned", shard_map=intervals(name, shape, _packed(held)))


def _packed(held: dict[int, tuple[int, int, int, int]]) -> dict[int, tuple[int, int, int, int]]:
    """A single interval has no step that matters; nothing held begins at 0."""
    packed: dict[int, tuple[int, int, int, int]] = {}
    for k, (first, count, length, step) in held.items():
        packed[k] = (first, count, length, step if count > 1 else max(length, 1)) if length else (0, 1, 0, 1)
    return packed


def rows_of_blocks(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """Blocks that begin anew in each row of the last dimension."""
    dim, size, last = cut.dim or 0, block_size(geometry), len(cut.shape) - 1
    shape = field_shape(geometry, cut.shape)
    cuts = sorted(cut.shards[k].offsets[dim] for k in holders(cut))[1:]
    split = [c for c in cuts if dim == last and c % size]
    if split:
        return impossible("M6", f"column {split[0]} begins another member: {split[0] % size} mod {size}")
    held: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for k, shard in enumerate(cut.shards):
        begin, end = shard.offsets[last], shard.offsets[last] + shard.lengths[last]
        first, after = -(-begin // size), -(-end // size)
        held[k] = (*shard.offsets[:last], first), (*shard.lengths[:last], after - first)
    return Induced(kind="block_aligned", shard_map=boxes(name, shape, held))


def factor(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """A Gram matrix of one axis: a sum over all others, and pairs of elements of its own."""
    axis, found = geometry.axis or 0, holders(cut)
    if cut.dim == axis and len(found) > 1:
        return impossible("M12", f"axis {axis} is cut: its factor pairs elements of {len(found)} members")
    return summed(cut, geometry, name, f"every member adds the part of its slice of dimension {cut.dim}")
