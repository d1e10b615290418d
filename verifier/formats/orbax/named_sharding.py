"""JAX's ``NamedSharding``: a mesh of devices with named axes, and for each dimension of an array the mesh
axes that cut it, the one that varies slowest first.

A dimension cut by axes of sizes a, b is cut into a * b equal parts; the device at (i, j) of those axes holds
part i * b + j. Axes that cut no dimension repeat the shard: all devices along them hold the same elements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from verifier.formats.reading.fields import integer, integers, items_of, malformed, name_text
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.geometry.strided import StridedView, row_major
from verifier.model.numbers import RANK_LIMIT
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

Plain = Mapping[str, object]

_Key = TypeVar("_Key", str, int)

AXES_SHOWN = 6
MOST_PAIRS = 2**16
"""Names of holders in all pieces of a map: a parameter on 4096 devices, all of it on each, has 2**24."""
MOST_DEVICES = 2**17
"""No job has more; a mesh without device ids is not counted beyond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSharding:
    """One sharding, as stated.

    Attributes:
        axes: the mesh axes with their sizes, the slowest first.
        spec: for each leading dimension of an array the axes that cut it; the others are not cut.
        devices: id of each device of the mesh, in row-major order.
    """

    axes: tuple[tuple[str, int], ...]
    spec: tuple[tuple[str, ...], ...]
    devices: tuple[int, ...]

    def words(self) -> str:
        """The axes of the mesh with their sizes, the first few of them."""
        some = ", ".join(f"{shown(name)} ({size})" for name, size in self.axes[:AXES_SHOWN])
        return f"the axes {some}" if self.axes else "no axes"


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a sharding means nothing: what is there, and what should be."""

    found: str
    stated: str


def named_sharding(value: Plain, origin: Origin, limits: Limits) -> NamedSharding | Unfit:
    """The sharding that an object of a ``_sharding`` file states.

    Raises:
        FormatError: SM002, SM005 or SM006 for a value that has not the form of one.
    """
    sizes = integers(value.get("shape"), origin, "shape")
    names = [
        name_text(name, origin.child("axis_names", position), limits)
        for position, name in enumerate(items_of(value.get("axis_names"), origin.child("axis_names")))
    ]
    spec = _spec(value.get("partition_spec"), origin.child("partition_spec"), limits)
    if any(size < 1 for size in sizes):
        return Unfit(f"has the sizes {list(sizes)}", "a mesh axis has at least 1 device")
    if len(names) != len(sizes):
        return Unfit(f"names {len(names)} mesh axes", f"its mesh has {len(sizes)}")
    if (repeated := _repeated(names)) is not None:
        return Unfit(f"has two mesh axes {shown(repeated)}", "a name stands for one axis")
    devices = _devices(value.get("device_mesh"), sizes, origin.child("device_mesh"))
    if isinstance(devices, Unfit):
        return devices
    return NamedSharding(axes=tuple(zip(names, sizes, strict=True)), spec=spec, devices=devices)


def fit(sharding: NamedSharding, dimensions: int) -> Unfit | None:
    """Why a sharding cannot cut an array of so many dimensions, whatever its sizes; None when it can."""
    sizes = dict(sharding.axes)
    if len(sharding.spec) > dimensions:
        return Unfit(f"cuts {len(sharding.spec)} dimensions", f"the array has {dimensions}")
    used = list(itertools.chain.from_iterable(sharding.spec))
    unknown = next((name for name in used if name not in sizes), None)
    if unknown is not None:
        return Unfit(f"cuts along the axis {shown(unknown)}", f"its mesh has {sharding.words()}")
    if (repeated := _repeated(used)) is not None:
        return Unfit(f"cuts along the axis {shown(repeated)} twice", "an axis can cut one dimension")
    return None


def parts(sharding: NamedSharding, dimensions: int) -> tuple[int, ...]:
    """Into how many parts each dimension is cut."""
    sizes = dict(sharding.axes)
    cuts = [math.prod(sizes[name] for name in names) for names in sharding.spec]
    return (*cuts, *[1] * (dimensions - len(cuts)))


def indivisible(sharding: NamedSharding, shape: Sequence[int]) -> Unfit | None:
    """Why an array of this shape cannot be cut: JAX cuts into equal parts only."""
    for axis, (extent, number) in enumerate(zip(shape, parts(sharding, len(shape)), strict=True)):
        if extent % number:
            return Unfit(
                f"cuts dimension {axis} into {number} parts", f"{extent} elements are not divisible by it"
            )
    return None


def device_map(sharding: NamedSharding, shape: tuple[int, ...], *, name: str, origin: Origin) -> ShardMap:
    """Which device holds what of an array that fits; devices with the same elements name each other.

    Where that would be over MOST_PAIRS of names, the least device stands for all that hold the same.
    """
    numbers = parts(sharding, len(shape))
    shard = tuple(extent // number for extent, number in zip(shape, numbers, strict=True))
    strides, dest = row_major(shape), StridedView(0, shard, row_major(shard))
    holders = _holders(sharding, len(shape))
    alone = stands_for_replicas(sharding, len(shape))
    ranks: dict[int, RankShard] = {}
    for place, devices in holders.items():
        named = (min(devices),) if alone else tuple(sorted(devices))
        start = sum(
            part * extent * stride for part, extent, stride in zip(place, shard, strides, strict=True)
        )
        piece = Piece(StridedView(start, shard, strides), dest, named)
        ranks.update(dict.fromkeys(named, RankShard(shard, (piece,))))
    return ShardMap(name=name, logical_shape=shape, ranks=ranks, origin=origin, holder="device")


def stands_for_replicas(sharding: NamedSharding, dimensions: int) -> bool:
    """Whether one device stands for those that hold the same elements."""
    devices = len(sharding.devices)
    return devices * (devices // math.prod(parts(sharding, dimensions))) > MOST_PAIRS


def _holders(sharding: NamedSharding, dimensions: int) -> dict[tuple[int, ...], list[int]]:
    """The devices that hold each part, by the number of the part along each dimension."""
    axis_of = {name: axis for axis, (name, _) in enumerate(sharding.axes)}
    sizes = [size for _, size in sharding.axes]
    cuts = [[axis_of[name] for name in names] for names in sharding.spec]
    uncut = (0,) * (dimensions - len(cuts))
    holders: dict[tuple[int, ...], list[int]] = {}
    for device, at in zip(sharding.devices, itertools.product(*map(range, sizes)), strict=True):
        place: list[int] = []
        for axes in cuts:
            part = 0
            for axis in axes:
                part = part * sizes[axis] + at[axis]
            place.append(part)
        holders.setdefault((*place, *uncut), []).append(device)
    return holders


def _spec(value: object, origin: Origin, limits: Limits) -> tuple[tuple[str, ...], ...]:
    entries: list[tuple[str, ...]] = []
    for position, entry in enumerate(items_of(value, origin)):
        place = origin.child(position)
        if entry is None:
            entries.append(())
        elif isinstance(entry, list):
            entries.append(tuple(name_text(name, place.child(i), limits) for i, name in enumerate(entry)))
        else:
            entries.append((name_text(entry, place, limits),))
    return tuple(entries)


def _devices(value: object, sizes: Sequence[int], origin: Origin) -> tuple[int, ...] | Unfit:
    total = math.prod(sizes)
    if value is None:
        # Older files have no ids; the devices then stand in their own order.
        if total > MOST_DEVICES:
            raise FormatError(
                "SM006",
                f"a mesh of {shown(total)} devices, over the limit of {MOST_DEVICES}",
                origin,
                help="write the mesh that was meant",
            )
        return tuple(range(total))
    place = origin.child("mesh")
    level: list[object] = [value.get("mesh") if isinstance(value, dict) else value]
    for axis, size in enumerate(sizes):
        below: list[object] = []
        for group in level:
            items = items_of(group, place)
            if len(items) != size:
                return Unfit(f"lists {len(items)} devices along mesh axis {axis}", f"its size is {size}")
            below += items
        level = below
    ids = [_id(device, place) for device in level]
    if (repeated := _repeated(ids)) is not None:
        return Unfit(f"has device {repeated} twice", "each device has one place in a mesh")
    return tuple(ids)


def _id(device: object, place: Origin) -> int:
    number = integer(device.get("id") if isinstance(device, dict) else device, place)
    if not 0 <= number < RANK_LIMIT:
        raise malformed(f"{shown(number)} is no device", place, "write the id of the device")
    return number


def _repeated(values: Sequence[_Key]) -> _Key | None:
    """The first of the values that occurs a second time."""
    seen: set[_Key] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
