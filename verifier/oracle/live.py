"""A distributed model as every rank would build it, without the other ranks, their memory or their devices.

The model is built once for each rank, on meta tensors, under torch's fake process group. Nothing is judged
here: ``verifier.gate.live`` holds what was found against the map of mesh and placements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._utils import _compute_local_shape_and_global_offset
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

from verifier.oracle.live_errors import BuildFailedError, LiveError, NoSuchRankError, StaleMeshError
from verifier.oracle.live_group import as_rank
from verifier.oracle.live_parameter import (
    Box,
    Inspection,
    Layout,
    LiveParameter,
    LivePlacement,
    LiveShard,
)

Build = Callable[[], object]
"""Returns an ``nn.Module``; what strangers hand over is looked at first."""


def inspect_model(
    build: Build, world: int, *, ranks: Sequence[int] | None = None, device: str | torch.device = "meta"
) -> Inspection:
    """Every DTensor parameter and persistent buffer of a model, as each rank has it.

    Args:
        build: makes the model, its meshes included, as it would in a job; it is called once for each rank,
            with a process group in place and ``device`` as the default device.
        world: how many ranks the job has.
        ranks: which of them to play; None for all.
        device: where tensors are made unless ``build`` says otherwise.

    Raises:
        NoSuchRankError: the world has no ranks, or not these.
        BuildFailedError: ``build`` raises, or returns no module.
        GroupInUseError: this process has a process group.
        StaleMeshError: torch handed out the mesh of another rank; inspect that rank in a process of its own.
    """
    if world < 1:
        raise NoSuchRankError(f"a world of {world} has no ranks")
    played = tuple(range(world)) if ranks is None else tuple(sorted(set(ranks)))
    for rank in played:
        if not 0 <= rank < world:
            raise NoSuchRankError(f"a world of {world} has no rank {rank}")
    where = torch.device(device)
    seen = {rank: as_rank(rank, world, partial(_seen, build, rank, where)) for rank in played}
    plain = dict.fromkeys([name for one in seen.values() for name in one.plain])
    buffers = dict.fromkeys([name for one in seen.values() for name in one.plain_buffers])
    return Inspection(
        world=world,
        ranks=played,
        parameters=tuple(_joined(seen)),
        plain=tuple(plain),
        plain_buffers=tuple(buffers),
        torch_version=torch.__version__,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """One DTensor on one rank."""

    name: str
    module: str
    layout: Layout
    mesh: tuple[int, ...]
    shard: LiveShard


@dataclass(frozen=True, slots=True)
class _Seen:
    """A model on one rank."""

    found: tuple[_Found, ...]
    plain: tuple[str, ...]
    plain_buffers: tuple[str, ...]


def _seen(build: Build, rank: int, device: torch.device) -> _Seen:
    try:
        with device:
            model = build()
    except LiveError:
        raise
    except Exception as error:
        said = str(error).strip().split("\n", maxsplit=1)[0]
        raise BuildFailedError(rank, f"{type(error).__name__} while the model was built: {said}") from error
    if not isinstance(model, nn.Module):
        raise BuildFailedError(rank, f"a {type(model).__name__} was built, not a module")
    found: list[_Found] = []
    plain: list[str] = []
    buffers: list[str] = []
    for name, module, tensor in _tensors(model):
        if isinstance(tensor, DTensor):
            found.append(_found(name, module, tensor, rank))
        else:
            (plain if isinstance(tensor, nn.Parameter) else buffers).append(name)
    return _Seen(tuple(found), tuple(plain), tuple(buffers))


def _tensors(model: nn.Module) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Each parameter and persistent buffer once: its name, the class of its module, itself."""
    seen: set[int] = set()
    for path, module in model.named_modules():
        kept = {n: b for n, b in module._buffers.items() if n not in module._non_persistent_buffers_set}
        for name, tensor in [*module._parameters.items(), *kept.items()]:
            if tensor is not None and id(tensor) not in seen:
                seen.add(id(tensor))
                yield f"{path}.{name}" if path else name, type(module).__name__, tensor


def _found(name: str, module: str, tensor: DTensor, rank: int) -> _Found:
    mesh, spec = tensor.device_mesh, tensor._spec
    ranks = tuple(int(one) for one in mesh.mesh.reshape(-1).tolist())
    mesh_shape = tuple(int(n) for n in mesh.mesh.shape)
    if rank not in ranks:
        raise StaleMeshError(f"rank {rank}: {name} is on a mesh of ranks {list(ranks)}")
    coordinate = _coordinate(ranks.index(rank), mesh_shape)
    stated = mesh.get_coordinate()
    if stated is None or tuple(stated) != coordinate:
        raise StaleMeshError(f"rank {rank}: {name} is on a mesh that takes it for the one at {stated}")
    order = spec.shard_order
    layout = Layout(
        tuple(tensor.shape),
        mesh_shape,
        tuple(mesh.mesh_dim_names or ()),
        tuple(_placement(one) for one in spec.placements),
        None if order is None else tuple((int(dim), tuple(dims)) for dim, dims in order),
        str(tensor.dtype).removeprefix("torch."),
    )
    return _Found(name, module, layout, ranks, _shard(tensor, layout, coordinate))


def _shard(tensor: DTensor, layout: Layout, coordinate: tuple[int, ...]) -> LiveShard:
    with torch.no_grad():
        held = tuple(tensor.to_local().shape)
    shape, offset = _compute_local_shape_and_global_offset(
        layout.global_shape, layout.mesh_shape, list(coordinate), tensor.placements
    )
    try:
        chunks = tensor.__create_chunk_list__()  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError, NotImplementedError, AssertionError) as error:
        said = str(error).strip().split("\n", maxsplit=1)[0]
        return LiveShard(held, Box(tuple(offset), tuple(shape)), None, said)
    written = tuple(Box(tuple(one.offsets), tuple(one.sizes)) for one in chunks)
    return LiveShard(held, Box(tuple(offset), tuple(shape)), written)


def _placement(placement: Placement) -> LivePlacement:
    text = str(placement)
    factor = getattr(placement, "split_factor", None)
    if factor is not None:
        return LivePlacement("strided", text, int(placement.dim), int(factor))  # type: ignore[attr-defined]
    if isinstance(placement, Shard):
        return LivePlacement("shard", text, int(placement.dim))
    if isinstance(placement, Replicate):
        return LivePlacement("replicate", text)
    return LivePlacement("partial" if isinstance(placement, Partial) else "other", text)


def _coordinate(position: int, mesh_shape: Sequence[int]) -> tuple[int, ...]:
    coordinate: list[int] = []
    for extent in reversed(mesh_shape):
        position, along = divmod(position, extent)
        coordinate.append(along)
    return tuple(reversed(coordinate))


def _joined(seen: Mapping[int, _Seen]) -> Iterator[LiveParameter]:
    """The DTensors of all ranks by name and layout."""
    by_layout: dict[tuple[str, Layout], list[tuple[int, _Found]]] = {}
    for rank, one in seen.items():
        for found in one.found:
            by_layout.setdefault((found.name, found.layout), []).append((rank, found))
    for (name, layout), members in by_layout.items():
        yield LiveParameter(
            name=name,
            module=members[0][1].module,
            layout=layout,
            meshes=tuple(dict.fromkeys(found.mesh for _, found in members)),
            shards={rank: found.shard for rank, found in members},
        )
