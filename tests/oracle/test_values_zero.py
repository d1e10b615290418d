"""Maps lowered from ZeRO checkpoints rebuild the tensors that DeepSpeed's own zero_to_fp32 makes of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from tests.oracle.zero_checkpoints import STAGES, TAG
from verifier.audit.check import Settings
from verifier.audit.documents import audit_path
from verifier.formats import Document, read
from verifier.formats.deepspeed.zero_layout import part
from verifier.oracle.execute import rebuild

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "corpora" / "files" / "deepspeed"
RANKS = 2

Starts = Mapping[str, Mapping[int, tuple[int, int]]]
"""By parameter and rank: its group, and where its part begins in the flat partition."""


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of stages 1 to 3 by two processes: two groups, uneven sizes, a frozen parameter."""
    folder = tmp_path_factory.mktemp("zero")
    command = [sys.executable, "-m", "tests.oracle.zero_checkpoints", str(folder)]
    environment = {**os.environ, "DS_ACCELERATOR": "cpu"}
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(RANKS)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(RANKS)
    ]
    for process in processes:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
    return folder


def rebuilt(folder: Path) -> dict[str, torch.Tensor]:
    """Every parameter of a checkpoint, from its flat partitions and the maps of our reader."""
    files = sorted(folder.glob("*_optim_states.pt"))
    states = [torch.load(path, weights_only=False)["optimizer_state_dict"] for path in files]
    starts = starts_in_3(read(folder), len(files)) if states[0]["zero_stage"] == 3 else starts_in_2(states)
    flat = [state.get("fp32_flat_groups") or state["single_partition_of_fp32_groups"] for state in states]
    if states[0]["zero_stage"] == 3:
        flat = [[torch.cat(list(groups))] for groups in flat]
    full = {}
    for subject in read(folder).subjects:
        shards = {}
        for rank, shard in subject.shard_map.ranks.items():
            group, start = starts[subject.name][rank]
            shards[rank] = flat[rank][group].detach()[start : start + shard.numel].clone()
        full[subject.name] = rebuild(shards, subject.shard_map).full
    return full


def starts_in_2(states: list[dict[str, object]]) -> Starts:
    """As the files state it."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for rank, state in enumerate(states):
        mappings = state["param_slice_mappings"]
        assert isinstance(mappings, list)
        for group, slices in enumerate(mappings):
            for name, address in slices.items():
                found.setdefault(name, {})[rank] = (group, address.start)
    return found


def starts_in_3(document: Document, ranks: int) -> Starts:
    """One after another, in the order of the parameters."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    before = 0
    for subject in document.subjects:
        found[subject.name] = dict.fromkeys(range(ranks), (0, before))
        before += part(subject.shard_map.numel, ranks)
    return found


def theirs(folder: Path) -> dict[str, torch.Tensor]:
    from deepspeed.utils.zero_to_fp32 import get_fp32_state_dict_from_zero_checkpoint

    state = get_fp32_state_dict_from_zero_checkpoint(
        str(folder.parent), tag=folder.name, exclude_frozen_parameters=True
    )
    return {name: tensor.contiguous() for name, tensor in state.items()}


def assert_same(ours: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> None:
    assert ours.keys() == other.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, other[name]), name


@pytest.mark.parametrize("stage", STAGES)
def test_a_checkpoint_of_this_release_is_proved_and_rebuilt(saved: Path, stage: int) -> None:
    folder = saved / f"zero{stage}" / TAG
    audited = audit_path(folder, Settings())
    assert {subject.verdict for subject in audited.subjects} == {"proved"}
    frozen = 'frozen parameters, which have no optimizer state: "2.bias"'
    assert (frozen in audited.unchecked) == (stage > 1), "stage 1 does not list them"
    ours = rebuilt(folder)
    assert len(ours) == 5
    assert_same(ours, theirs(folder))


@pytest.mark.parametrize("stage", STAGES)
def test_recorded_checkpoints_of_three_ranks_are_rebuilt(stage: int) -> None:
    folder = RECORDED / f"zero{stage}" / TAG
    ours = rebuilt(folder)
    assert len(ours) == 9
    assert_same(ours, theirs(folder))
