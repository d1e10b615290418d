"""ZeRO checkpoints as DeepSpeed writes them, from numbers alone: DeepSpeed itself takes seconds to import."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tests.builders.modules import stand_in
from verifier.formats.deepspeed.zero_layout import flat_buffers, part

GROUPS: list[dict[str, tuple[int, ...]]] = [{"a": (5, 3), "b": (7,)}, {"c": (4,)}]
"""Two parameter groups. The first has 22 elements: 12 on rank 0, 10 on rank 1 with two of padding."""

State = dict[str, Any]


class fragment_address:  # noqa: N801 - the name in the pickle
    """Stands for the class of DeepSpeed: two numbers."""

    def __init__(self, numel: int, start: int) -> None:
        self.numel = numel
        self.start = start


fragment_address.__module__ = "deepspeed.utils.tensor_fragment"


@contextmanager
def pickled_by_name() -> Iterator[None]:
    """Lets instances of the classes above be pickled under the names that DeepSpeed has for them."""
    names = ("deepspeed", "deepspeed.utils", "deepspeed.utils.tensor_fragment")
    modules = {name: ModuleType(name) for name in names}
    vars(modules[names[-1]])["fragment_address"] = fragment_address
    with stand_in(modules):
        yield


def model_states(groups: list[dict[str, tuple[int, ...]]] | None = None) -> State:
    """The model states of one rank."""
    shapes = [{name: torch.Size(shape) for name, shape in group.items()} for group in groups or GROUPS]
    return {"module": {}, "param_shapes": shapes, "ds_version": "0.19.8"}


def adam(length: int) -> State:
    """The moments of one flat partition."""
    return {name: torch.zeros(length) for name in ("exp_avg", "exp_avg_sq")} | {"step": torch.tensor(2.0)}


def shard(rank: int, ranks: int = 2) -> State:
    """The optimizer state of one rank in stage 2."""
    flat, slices, paddings, states = [], [], [], {}
    for number, group in enumerate(GROUPS):
        buffer = flat_buffers([math.prod(shape) for shape in group.values()], [0] * len(group), ranks)[0]
        padding = buffer.padding(rank)
        flat.append(torch.zeros(buffer.partition - padding))
        paddings.append(padding)
        states[number] = adam(buffer.partition)
        held = {name: buffer.fragment(position, rank) for position, name in enumerate(group)}
        slices.append(
            {name: fragment_address(numel, start) for name, (_, start, numel) in held.items() if numel}
        )
    return {
        "optimizer_state_dict": {
            "zero_stage": 2,
            "partition_count": [ranks] * len(GROUPS),
            "single_partition_of_fp32_groups": flat,
            "group_paddings": paddings,
            "param_alignment_paddings": [[0] * len(group) for group in GROUPS],
            "param_slice_mappings": slices,
            "base_optimizer_state": {"state": states, "param_groups": []},
        },
        "ds_version": "0.19.8",
    }


def shard_of_stage_3(ranks: int = 2) -> State:
    """The optimizer state of any rank in stage 3."""
    lengths = [sum(part(math.prod(shape), ranks) for shape in group.values()) for group in GROUPS]
    return {
        "optimizer_state_dict": {
            "zero_stage": 3,
            "partition_count": ranks,
            "fp32_flat_groups": [torch.zeros(length) for length in lengths],
            "optimizer_state_dict": {"state": dict(enumerate(map(adam, lengths))), "param_groups": []},
        },
        "ds_version": "0.19.8",
    }


def shard_name(rank: int, mp_rank: int = 0) -> str:
    return f"zero_pp_rank_{rank}_mp_rank_{mp_rank:02d}_optim_states.pt"


def write(folder: Path, files: dict[str, State]) -> Path:
    """A checkpoint folder."""
    folder.mkdir()
    with pickled_by_name():
        for name, value in files.items():
            torch.save(value, folder / name)
    return folder


def checkpoint(ranks: int = 2) -> dict[str, State]:
    """The files of a checkpoint of stage 2, by name."""
    files = {shard_name(rank): shard(rank, ranks) for rank in range(ranks)}
    return {"mp_rank_00_model_states.pt": model_states(), **files}


def checkpoint_of_stage_3(ranks: int = 2) -> dict[str, State]:
    """The files of a checkpoint of stage 3, by name."""
    states = {f"zero_pp_rank_{rank}_mp_rank_00_model_states.pt": model_states() for rank in range(ranks)}
    return states | {shard_name(rank): shard_of_stage_3(ranks) for rank in range(ranks)}
