"""``contract induce`` on what training writes: parameters beside optimizer state, chosen by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict

from tests.cli.command import ROOT, shardproof
from verifier.contracts.induced.state_names import is_state_name

ADAMW = ROOT / "verifier" / "contracts" / "known" / "torch.optim.AdamW.json"
CASE = ROOT / "corpora" / "contracts" / "cases" / "16_adam8bit_last_block_short.json"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training script saves: the model and the optimizer in one folder."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LayerNorm(3))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    weights, state = get_state_dict(model, optimizer)
    folder = tmp_path_factory.mktemp("dcp")
    saved: dict[str, Any] = {"model": weights, "optim": state}
    dcp.save(saved, checkpoint_id=folder, no_dist=True)  # type: ignore[attr-defined]
    return folder


def test_optimizer_state_is_no_parameter(checkpoint: Path) -> None:
    ran = shardproof("contract", "induce", ADAMW, "--map", checkpoint)
    said = " ".join(ran.out.split())
    assert (ran.code, ran.err) == (0, "")
    assert "model.0.weight: exp_avg" in said
    assert "optim.state" not in said
    assert "12 tensors of optimizer state in" in said
    assert "left out as no parameters" in said
    assert "4 parameters" not in said
    assert shardproof("contract", "induce", ADAMW, "--map", checkpoint, "--target", checkpoint).code == 0


def test_parameters_are_chosen_by_a_pattern(checkpoint: Path) -> None:
    ran = shardproof("contract", "induce", ADAMW, "--map", checkpoint, "--name", "*.bias")
    assert ran.code == 0
    assert "model.0.bias: exp_avg" in ran.out
    assert "weight" not in ran.out
    one = shardproof("contract", "induce", ADAMW, "--map", checkpoint, "--name", "model.0.weight")
    assert "model.0.weight: exp_avg" in one.out
    assert "bias" not in one.out
    none = shardproof("contract", "induce", ADAMW, "--map", checkpoint, "--name", "head.*")
    assert (none.code, none.out) == (2, "")
    assert "has no parameter like head.*; it has model.0.weight" in " ".join(none.err.split())


@pytest.mark.parametrize("arguments", [("nofile.json", "--map", CASE), (ADAMW, "--map", "nofile.json"),
                                       (ADAMW, "--map", CASE, "--target", "nofile.json"),
                                       (ADAMW, "--map", "nofolder")])  # fmt: skip
def test_a_missing_file_is_said_as_everywhere(arguments: tuple[str | Path, ...]) -> None:
    ran = shardproof("contract", "induce", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: SM001 no")
    assert "= help:" in ran.err


@pytest.mark.parametrize(
    ("name", "is_state"),
    [
        ("optim.state.0.weight.exp_avg", True),
        ("optimizer.state.layers.0.weight.anything", True),
        ("app.optim.state.layers.0.weight.step", True),
        ("optimizer.state.exp_avg.decoder.layers.weight", True),
        ("optim.param_groups.0.weight.lr", True),
        ("train.state.layers.0.weight.exp_avg_sq", True),
        ("state.w.exp_avg", True),
        ("model.state.layers.weight", False),
        ("state.weight", False),
        ("state.step", False),
        ("encoder.step", False),
        ("layers.0.exp_avg", False),
        ("optim.weight", False),
        ("model.ssm.state.in_proj.weight", False),
    ],
)
def test_names_of_state(name: str, is_state: bool) -> None:
    assert is_state_name(name) is is_state


def test_fields_of_the_contract_are_known() -> None:
    assert not is_state_name("state.w.velocity")
    assert is_state_name("state.w.velocity", ["velocity"])
