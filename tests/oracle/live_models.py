"""Small models on meshes, built as a job would build them."""

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_tensor
from torch.distributed.tensor._dtensor_spec import DTensorSpec, ShardOrderEntry
from torch.distributed.tensor._redistribute import redistribute_local_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.distributed.tensor.placement_types import _StridedShard

Build = Callable[[], nn.Module]


class Holder(nn.Module):
    """A module of given tensors: parameters, or buffers where the name ends so."""

    def __init__(self, **tensors: torch.Tensor) -> None:
        super().__init__()
        for name, tensor in tensors.items():
            if name.endswith("buffer"):
                self.register_buffer(name, tensor)
            else:
                self.register_parameter(name, nn.Parameter(tensor))


def mesh_of(shape: Sequence[int], names: Sequence[str]) -> DeviceMesh:
    return init_device_mesh("cpu", tuple(shape), mesh_dim_names=tuple(names))


def fsdp_over_tp(rows: int, fsdp: int, tp: int) -> Build:
    """A column and a row parallel layer under FSDP2; each row of the first weight holds its own number."""

    def build() -> nn.Module:
        mesh = mesh_of((fsdp, tp), ("fsdp", "tp"))
        model = nn.Sequential(nn.Linear(2, rows), nn.Linear(rows, 2), nn.LayerNorm(2))
        first = model[0]
        with torch.no_grad():
            first.weight.copy_(torch.arange(rows)[:, None].expand(rows, 2))
        plan = {"0": ColwiseParallel(), "1": RowwiseParallel()}
        parallelize_module(model, mesh["tp"], plan, src_data_rank=None)
        fully_shard(model, mesh=mesh["fsdp"])
        return model

    return build


def tensor_parallel(data: int, tp: int) -> Build:
    """Tensor parallelism alone, in a job with several groups of it."""

    def build() -> nn.Module:
        model = nn.Sequential(nn.Linear(4, 8))
        mesh = mesh_of((data, tp), ("data", "tp"))
        return parallelize_module(model, mesh["tp"], {"0": ColwiseParallel()})

    return build


def ordered(rows: int) -> DTensor:
    """Rows cut by the second dimension of the mesh first; each row holds its own number."""
    mesh = mesh_of((2, 2), ("a", "b"))
    full = torch.arange(rows)[:, None]
    whole = distribute_tensor(full, mesh, [Replicate()] * 2, src_data_rank=None)
    order = (ShardOrderEntry(0, (1, 0)),)
    spec = DTensorSpec(mesh, (Shard(0), Shard(0)), tensor_meta=whole._spec.tensor_meta, shard_order=order)
    local = redistribute_local_tensor(whole.to_local(), whole._spec, spec)
    return DTensor(local, spec, requires_grad=False)


def distributed(placements: Sequence[Placement], *shape: int, ranks: int = 2) -> DTensor:
    return distribute_tensor(torch.empty(shape), mesh_of((ranks,), ("tp",)), placements, src_data_rank=None)


def packed() -> nn.Module:
    """A weight of two interleaved halves beside a bias that is cut plainly."""
    weight = distributed([_StridedShard(0, split_factor=2)], 12, 4)
    return Holder(weight=weight, bias=distributed([Shard(0)], 12))


def partial() -> nn.Module:
    return Holder(weight=DTensor.from_local(torch.empty(3, 4), mesh_of((2,), ("tp",)), [Partial()]))


def disagreeing() -> nn.Module:
    """Each rank cuts another dimension."""
    return Holder(weight=distributed([Shard(dist.get_rank())], 4, 4))
