"""Writes ZeRO checkpoints of stages 1 to 3 with the released DeepSpeed: arguments FOLDER RANK RANKS."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import torch

STAGES = (1, 2, 3)
TAG = "step1"


def model() -> torch.nn.Module:
    """Sizes that no number of ranks divides, and a frozen layer."""
    torch.manual_seed(7)
    made = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Linear(7, 3), torch.nn.Linear(3, 3))
    made[2].bias.requires_grad_(False)
    return made


def groups(module: torch.nn.Module) -> list[dict[str, object]]:
    """Weights decay, biases do not: two flat buffers."""
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in trained if parameter.dim() > 1]},
        {"params": [parameter for parameter in trained if parameter.dim() == 1], "weight_decay": 0.0},
    ]


def save(folder: Path, stage: int) -> None:
    """One training step, saved."""
    import deepspeed

    module = model()
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": True},
        "steps_per_print": 10**6,
    }
    engine, *_ = deepspeed.initialize(
        model=module, optimizer=torch.optim.AdamW(groups(module), lr=1e-3), config=config
    )
    engine.backward(engine(torch.ones(1, 5, dtype=torch.bfloat16)).sum())
    engine.step()
    engine.save_checkpoint(str(folder / f"zero{stage}"), tag=TAG)


def main(folder: Path, rank: int, ranks: int) -> None:
    """One of ``ranks`` processes; they meet in a file of ``folder``."""
    # A kernel that is compiled when it is first asked for, for a minute; gloo does without.
    vars(import_module("deepspeed.comm.torch"))["build_shm_op"] = lambda: None
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)}
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder / 'meeting'}", rank=rank, world_size=ranks
    )
    for stage in STAGES:
        save(folder, stage)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
