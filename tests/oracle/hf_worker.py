"""One process of a job that saves into Hugging Face storage: ``python -m ... RANK WORLD FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor


def tensors() -> dict[str, torch.Tensor]:
    """The full tensors: uneven cuts, an empty last part, and two that are not cut.

    All are of floating types: torch 2.13 cannot put parts of others together.
    """
    numbers = torch.arange(70, dtype=torch.float32)
    return {
        "rows": numbers[:40].reshape(8, 5),
        "columns": numbers.reshape(7, 10).to(torch.bfloat16),
        "short": numbers[:4].reshape(2, 2).to(torch.float64),
        "vector": numbers[:5].to(torch.float16),
        "scalar": torch.tensor(3.0),
    }


def main(rank: int, world: int, folder: Path) -> None:
    """Save it twice: as shards alone, and with files that are put together from them."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=world)
    mesh = init_device_mesh("cpu", (world,))
    cuts = {"rows": 0, "columns": 1, "short": 0}
    state = {
        name: distribute_tensor(full, mesh, [Shard(cuts[name])]) if name in cuts else full
        for name, full in tensors().items()
    }
    for name, together in (("shards", False), ("whole", True)):
        writer = HuggingFaceStorageWriter(
            str(folder / name), save_distributed=True, enable_consolidation=together
        )
        save(state, storage_writer=writer)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
