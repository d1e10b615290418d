"""Per-rank files of DTensors, written by torch under a process group that does not exist."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor._dtensor_spec import DTensorSpec

from tests.layouts.dtensor_cases import Case
from tests.layouts.torch_side import local, mesh_of, order, theirs
from verifier.oracle.live_group import as_rank

Tensors = Mapping[str, torch.Tensor]


def write(folder: Path, world: int, make: Callable[[], Tensors]) -> None:
    """What ``make`` returns on each rank, in ``rank0.pt``, ``rank1.pt``, ..."""

    def save(path: Path) -> None:
        torch.save(make(), path)

    for rank in range(world):
        as_rank(rank, world, partial(save, folder / f"rank{rank}.pt"))


def elements(shape: tuple[int, ...]) -> torch.Tensor:
    """A tensor in which each element is its own address."""
    return torch.arange(math.prod(shape)).reshape(shape)


def tensor_of(case: Case) -> torch.Tensor:
    """The DTensor of a case on the rank that runs."""
    mesh = mesh_of(case.mesh)
    if case.shard_order is None:
        return distribute_tensor(elements(case.shape), mesh, theirs(case), src_data_rank=None)
    whole = distribute_tensor(elements(case.shape), mesh, [Replicate()] * mesh.ndim, src_data_rank=None)
    meta = whole._spec.tensor_meta
    spec = DTensorSpec(mesh, theirs(case), tensor_meta=meta, shard_order=order(case))
    tensor: torch.Tensor = DTensor(torch.from_numpy(local(case, mesh)), spec, requires_grad=False)  # type: ignore[no-untyped-call]
    return tensor


def over_parts_of_a_mesh() -> Tensors:
    """Tensors on a mesh of 2 x 2 x 2 ranks, on two of its dimensions, one, and two flattened into one."""
    mesh = init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("pp", "dp", "tp"))
    flattened = mesh["dp", "tp"]._flatten("all")
    full = elements((7, 6))
    return {
        "whole": distribute_tensor(full, mesh, [Replicate(), Shard(0), Shard(1)], src_data_rank=None),
        "two": distribute_tensor(full, mesh["dp", "tp"], [Shard(1), Shard(0)], src_data_rank=None),
        "one": distribute_tensor(full, mesh["dp"], [Shard(0)], src_data_rank=None),
        "flattened": distribute_tensor(full, flattened, [Shard(0)], src_data_rank=None),
        "plain": full,
    }
