"""Optimizer state that Megatron-core flattened before it cut it, seen as pieces of the parameter again.

The parameter, of shape G, is first cut into a grid of f cells of shape c = G / f. Each cell is flattened, and
the ranks of the distributed optimizer hold ranges of it. Stored is a tensor of shape (f..., product of c), of
which a chunk is one range of one cell; the metadata keeps G beside it. Theory: T24.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from math import prod
from operator import add, mul

from verifier.formats.dcp.contents import StoredTensor
from verifier.formats.reading.document import BoxSubject
from verifier.geometry.flat_ranges import range_boxes
from verifier.model.box_map import COLUMN, BoxMap
from verifier.obligations.faults import Fault, Value

HOLDER = "part"


def unflattened(subject: BoxSubject, tensor: StoredTensor, shape: tuple[int, ...]) -> BoxSubject:
    """The parameter of ``shape`` that a flattened tensor stands for, each chunk as up to 2n - 1 boxes.

    Where that cannot be undone, the tensor as it is stored: with SM507 when the shapes do not fit, without
    when a chunk leaves the stored tensor, which is for its judge to say.
    """
    cell = _cell(tensor, shape)
    if cell is None:
        return replace(subject, faults=(*subject.faults, _unfit(tensor, shape)))
    boxes = _parts(tensor, cell)
    if boxes is None:
        return subject
    offsets, sizes, count = boxes
    whole = BoxMap(
        name=tensor.name,
        logical_shape=shape,
        offsets=offsets,
        sizes=sizes,
        count=count,
        origin=subject.boxes.origin,
        holder=HOLDER,
    )
    # A fault of a chunk names no box of this map.
    faults = tuple(replace(fault, rank=None, pieces=()) for fault in subject.faults)
    return replace(subject, boxes=whole, faults=faults)


def _cell(tensor: StoredTensor, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of a cell; None when the stored tensor is no grid of flattened cells of the parameter."""
    if len(tensor.shape) != len(shape) + 1:
        return None
    *grid, flat = tensor.shape
    if any(cells < 1 or extent % cells for extent, cells in zip(shape, grid, strict=True)):
        return None
    cell = tuple(extent // cells for extent, cells in zip(shape, grid, strict=True))
    return cell if prod(cell) == flat else None


def _parts(tensor: StoredTensor, cell: tuple[int, ...]) -> tuple[array[int], array[int], int] | None:
    """Offsets and sizes of all boxes, and their number; None when a chunk is no range of one cell."""
    axes = len(tensor.shape)
    *grid, flat = tensor.shape
    offsets, sizes, count = array(COLUMN), array(COLUMN), 0
    for position in range(tensor.count):
        *at, start = tensor.offsets[position * axes : (position + 1) * axes]
        *cells, length = tensor.sizes[position * axes : (position + 1) * axes]
        inside = all(0 <= index < number for index, number in zip(at, grid, strict=True))
        if not inside or set(cells) - {1} or not 0 <= start <= start + length <= flat:
            return None
        corner = [*map(mul, at, cell)]
        for low, extent in range_boxes(cell, start, start + length):
            offsets.extend(map(add, corner, low))
            sizes.extend(extent)
            count += 1
    return offsets, sizes, count


def _unfit(tensor: StoredTensor, shape: tuple[int, ...]) -> Fault:
    values: dict[str, Value] = {
        "descriptor": "mcore_data, which keeps the shape from before it was flattened,",
        "stated": shape,
        "found": tensor.shape,
    }
    return Fault(code="SM507", side="map", values=values)
