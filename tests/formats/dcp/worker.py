"""One process of a job that saves real distributed checkpoints: ``python -m ... RANK WORLD FOLDER``.

The processes meet through a file in FOLDER and talk over gloo on the loopback device.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, StateDictType, fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

EXPECTED = "expected.pt"


class Block(nn.Module):
    """Two layers; no row count of the second is divided by the number of ranks."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(6, 8)
        self.down = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


def full(state: Any) -> Any:
    """The state with every tensor in one piece; all ranks must call it."""
    if isinstance(state, DTensor):
        return state.full_tensor()
    if isinstance(state, dict):
        return {key: full(value) for key, value in state.items()}
    return state


def save(folder: Path, state: dict[str, Any], **options: Any) -> None:
    """Save a state, and beside it what its tensors are."""
    dcp.save(state, storage_writer=dcp.FileSystemWriter(folder), **options)
    whole = full(state)
    if dist.get_rank() == 0:
        torch.save(whole, folder.with_name(f"{folder.name}-{EXPECTED}"))


def trained(mesh: Any, *, tensor_parallel: bool) -> dict[str, Any]:
    """Model and AdamW state after one step, under FSDP2, and under tensor parallelism where asked."""
    torch.manual_seed(0)
    model: nn.Module = Block()
    if tensor_parallel:
        model = parallelize_module(model, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        fully_shard(model, mesh=mesh["dp"])
    else:
        fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 6)).sum().backward()
    optimizer.step()
    weights, state = get_state_dict(model, optimizer)
    return {"model": weights, "optim": state}


def save_fsdp1(folder: Path) -> None:
    """What FSDP1 saves: its local state and its sharded one by rank, and the sharded one through DCP."""
    torch.manual_seed(0)
    device = torch.device("cpu")
    inner = FullyShardedDataParallel(nn.Linear(7, 5), device_id=device)
    model = FullyShardedDataParallel(nn.Sequential(nn.Linear(6, 7), inner), device_id=device)
    for kind in (StateDictType.LOCAL_STATE_DICT, StateDictType.SHARDED_STATE_DICT):
        with FullyShardedDataParallel.state_dict_type(model, kind):
            state = model.state_dict()
        inside = folder / f"fsdp1-{kind.name.partition('_')[0].lower()}"
        inside.mkdir(exist_ok=True)
        torch.save(state, inside / f"pytorch_model_fsdp_rank{dist.get_rank()}.bin")
    dcp.save(state, checkpoint_id=folder / "fsdp1-dcp")


def main(rank: int, world: int, folder: Path) -> None:
    """Save every kind of checkpoint that the tests want."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=world)
    line = init_device_mesh("cpu", (world,))
    square = init_device_mesh("cpu", (world // 2, 2), mesh_dim_names=("dp", "tp"))
    save(folder / "fsdp2", trained(line, tensor_parallel=False))
    save(folder / "fsdp2-tp", trained(square, tensor_parallel=True))
    numbers = torch.arange(35, dtype=torch.float32).reshape(7, 5)
    cut = distribute_tensor(numbers, line, [Shard(0)])
    short = distribute_tensor(numbers[:2].contiguous(), line, [Shard(0)])
    plain = {
        "cut": cut,
        "short": short,
        "plain": numbers[0].clone(),
        "step": torch.tensor(3.0),
        "note": [1, 2],
    }
    save(folder / "plain", plain)
    dcp.save({"cut": cut, "plain": plain["plain"]}, checkpoint_id=folder / "ranks", use_collectives=False)
    save_fsdp1(folder)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
