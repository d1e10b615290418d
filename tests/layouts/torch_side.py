"""What torch itself makes of placements: by its formula, and by value under a fake process group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor._dtensor_spec import DTensorSpec, ShardOrderEntry
from torch.distributed.tensor._redistribute import redistribute_local_tensor
from torch.distributed.tensor._utils import _compute_local_shape_and_global_offset
from torch.distributed.tensor.placement_types import Placement, _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore

import verifier.layouts as ours
from tests.layouts.dtensor_cases import Case

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""(shape, offset)."""


def theirs(case: Case) -> tuple[Placement, ...]:
    """The placements in torch's classes."""
    return tuple(_placement(one) for one in case.placements)


def box(case: Case, rank: int) -> Box:
    """Local shape and first offset by torch's formula, which knows nothing of shard orders."""
    return _compute_local_shape_and_global_offset(case.shape, case.mesh, case.coordinate(rank), theirs(case))


@contextmanager
def rank_of(ranks: int, rank: int) -> Iterator[None]:
    """One rank of a group that does not exist: nothing is ever sent."""
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=ranks)
    try:
        yield
    finally:
        dist.destroy_process_group()


def mesh_of(shape: tuple[int, ...]) -> DeviceMesh:
    """The mesh of all ranks of the group, row-major."""
    ranks = torch.arange(int(np.prod(shape))).reshape(shape)
    return DeviceMesh("cpu", ranks)


def local(case: Case, mesh: DeviceMesh) -> np.ndarray:
    """The local tensor of the rank that runs, of a tensor in which each element is its own address."""
    full = torch.arange(int(np.prod(case.shape))).reshape(case.shape)
    if case.shard_order is None:
        return distribute_tensor(full, mesh, theirs(case), src_data_rank=None).to_local().numpy()
    whole = distribute_tensor(full, mesh, [Replicate()] * mesh.ndim, src_data_rank=None)
    target = DTensorSpec(mesh, theirs(case), tensor_meta=whole._spec.tensor_meta, shard_order=order(case))
    return redistribute_local_tensor(whole.to_local(), whole._spec, target).numpy()


def order(case: Case) -> tuple[ShardOrderEntry, ...]:
    """The shard order in torch's class."""
    assert case.shard_order is not None
    return tuple(ShardOrderEntry(dim, tuple(mesh_dims)) for dim, mesh_dims in case.shard_order)


def as_strided_shards(case: Case, mesh: DeviceMesh) -> Case:
    """The case with its shard order written as strided placements, by torch's own conversion."""
    made = DTensorSpec._convert_shard_order_to_StridedShard(order(case), theirs(case), mesh)
    return Case(case.shape, case.mesh, tuple(_ours(one) for one in made))


def _placement(one: ours.Placement) -> Placement:
    if isinstance(one, ours.Shard):
        return Shard(one.dim)
    if isinstance(one, ours.StridedShard):
        return _StridedShard(one.dim, split_factor=one.split_factor)
    return Replicate()


def _ours(one: Placement) -> ours.Placement:
    if isinstance(one, _StridedShard):
        return ours.StridedShard(one.dim, one.split_factor)
    return ours.Shard(one.dim) if isinstance(one, Shard) else ours.Replicate()
