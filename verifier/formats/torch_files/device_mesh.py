"""The device mesh of a DTensor: which ranks hold it, in the order of the mesh.

Since torch 2.9 a mesh is laid out in the ranks of its root mesh by sizes and strides; before, it carried its
ranks as a tensor, whose few values are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from verifier.formats.pickles.records import Call, Name
from verifier.formats.pickles.torch_zip import TensorHeader, tensor_header
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.refusal import FormatError, shown
from verifier.geometry.strided import row_major
from verifier.model.origin import Origin

MESH = Name("torch.distributed.device_mesh", "DeviceMesh")
LAYOUTS = frozenset(Name("torch.distributed._mesh_layout", name) for name in ("_MeshLayout", "_FlatLayout"))

MESH_FIELDS = frozenset({"_layout", "_flatten_rank_map", "_rank", "_coordinate_on_dim", "mesh"})
"""What is read of a mesh. Its root and the meshes flattened from it refer to each other."""

MOST_RANKS = 2**20
"""No job has more."""

Integers = Callable[[TensorHeader], tuple[int, ...] | None]
"""Reads the values of a small tensor of integers; None where they cannot be read."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """A mesh as the rank sees it that wrote it.

    Attributes:
        shape: ranks along each dimension.
        ranks: in row-major order.
        world: all ranks of its root mesh.
        writer: the rank that wrote it, None when that is not stated.
    """

    shape: tuple[int, ...]
    ranks: tuple[int, ...]
    world: tuple[int, ...]
    writer: int | None


def device_mesh(record: object, place: Origin, integers: Integers) -> Mesh:
    """The mesh of a record.

    Raises:
        FormatError: SM002 when it is no mesh as torch writes it.
    """
    if not isinstance(record, Call) or record.function != MESH or not isinstance(record.state, dict):
        raise odd("no device mesh", place)
    fields = record.state
    if "_layout" not in fields:
        return _stated(fields, place, integers)
    listed = fields.get("_flatten_rank_map")
    if not isinstance(listed, list | tuple):
        raise odd("no rank map in the device mesh", place)
    world = _distinct([count(one, "a rank of the mesh", place) for one in listed], place)
    writer = _writer(fields.get("_rank"), world, place)
    shape, offsets = _layout(fields["_layout"], place)
    return Mesh(shape, _own(offsets, world, writer, place), world, writer)


def _stated(fields: Mapping[object, object], place: Origin, integers: Integers) -> Mesh:
    """A mesh that carries its ranks as a tensor."""
    header = tensor_header(fields.get("mesh"))
    values = None if header is None or header.numel > MOST_RANKS else integers(header)
    if header is None or values is None or not header.shape:
        raise odd("no ranks of the device mesh", place)
    ranks = _distinct([count(one, "a rank of the mesh", place) for one in values], place)
    writer = fields.get("_rank")
    at = fields.get("_coordinate_on_dim")
    if writer is None and isinstance(at, list | tuple) and len(at) == len(header.shape):
        steps = row_major(header.shape)
        place_of = [count(one, "a coordinate of the mesh", place) for one in at]
        position = sum(one * step for one, step in zip(place_of, steps, strict=True))
        writer = ranks[position] if position < len(ranks) else -1
    return Mesh(header.shape, ranks, ranks, _writer(writer, ranks, place))


def _writer(rank: object, ranks: Sequence[int], place: Origin) -> int | None:
    if rank is None:
        return None
    if type(rank) is not int or rank not in ranks:
        raise odd(f"a device mesh that was written by rank {shown(rank)}, which is not in it", place)
    return rank


def _distinct(ranks: Sequence[int], place: Origin) -> tuple[int, ...]:
    if not ranks or len(set(ranks)) != len(ranks):
        raise odd("no rank, or one twice, in its device mesh", place)
    return tuple(ranks)


def _layout(record: object, place: Origin) -> tuple[tuple[int, ...], Sequence[int]]:
    """The shape of a mesh, and the positions of its ranks in the root mesh, counted from the first one."""
    fields = record.state if isinstance(record, Call) and record.function in LAYOUTS else None
    if not isinstance(fields, dict):
        raise odd("no layout of the device mesh", place)
    axes = fields.get("axes")
    if isinstance(axes, list | tuple):
        states = [axis.state for axis in axes if isinstance(axis, Call)]
        pairs = [(axis.get("shape"), axis.get("stride")) for axis in states if isinstance(axis, dict)]
    else:
        sizes, steps = _listed(fields.get("shape")), _listed(fields.get("stride"))
        if len(sizes) != len(steps):
            raise odd("a layout of the device mesh with other strides than sizes", place)
        pairs = list(zip(sizes, steps, strict=True))
    along = [_positions(size, step, place) for size, step in pairs]
    if not along or math.prod(map(len, along)) > MOST_RANKS:
        raise odd("a layout of the device mesh without ranks, or with too many", place)
    return tuple(map(len, along)), [sum(steps) for steps in product(*along)]


def _positions(sizes: object, steps: object, place: Origin) -> list[int]:
    """The positions along one axis of a mesh, which may itself be flattened from several."""
    extents = [count(one, "a size of the mesh", place, least=1) for one in _flat(sizes)]
    strides = [count(one, "a stride of the mesh", place) for one in _flat(steps)]
    if len(extents) != len(strides) or math.prod(extents) > MOST_RANKS:
        raise odd("an axis of the device mesh without a stride for each size, or too long", place)
    along = [[k * step for k in range(n)] for n, step in zip(extents, strides, strict=True)]
    return [sum(steps) for steps in product(*along)]


def _own(offsets: Sequence[int], world: Sequence[int], writer: int | None, place: Origin) -> tuple[int, ...]:
    """The ranks of the copy of a mesh in its root mesh that has ``writer``; of the first copy if None.

    The root mesh falls apart into copies of a mesh, each told by the place of its first rank.
    """
    at = world.index(writer) if writer is not None else 0
    reach = max(offsets)
    taken: set[int] = set()
    for first in range(len(world) - reach):
        if first in taken:
            continue
        copy = [first + offset for offset in offsets]
        if not taken.isdisjoint(copy) or len(set(copy)) != len(copy):
            break
        taken.update(copy)
        if at in copy:
            return tuple([world[position] for position in copy])
    raise odd("a layout of the device mesh that does not divide its rank map", place)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else (value,)


def _flat(value: object) -> list[object]:
    """The numbers of nested tuples, in order."""
    found: list[object] = []
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, list | tuple):
            stack.extend(reversed(top))
        else:
            found.append(top)
    return found


def count(value: object, what: str, place: Origin, *, least: int = 0) -> int:
    """A plain integer from ``least`` to MOST_RANKS.

    Raises:
        FormatError: SM002 for anything else.
    """
    if type(value) is int and least <= value <= MOST_RANKS:
        return value
    raise odd(f"{shown(value)} for {what}", place)


def odd(found: str, place: Origin) -> FormatError:
    """The refusal (SM002) of a record that is no DTensor as torch writes it."""
    return malformed(
        f"a DTensor with {found}", place, "save it with a known torch; this one is not understood"
    )
