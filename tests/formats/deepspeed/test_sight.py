"""A folder is DeepSpeed's by its state files: other trainers write ``latest`` and ``*_states.pt`` too."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifier.formats.deepspeed.sight import deepspeed_claims, is_deepspeed_folder
from verifier.formats.reading.sight import Sight

STATES = "mp_rank_00_model_states.pt"


def made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("step1")
    return folder


def claims(folder: Path) -> list[str]:
    return list(deepspeed_claims(Sight(folder)))


@pytest.mark.parametrize(
    "names",
    [
        ("latest", "step1/.metadata"),
        ("latest/.metadata", "best/.metadata"),
        ("rng_states.pt", "model.safetensors"),
        ("extra/rng_states.pt", "step1/.metadata"),
        ("latest",),
    ],
)
def test_what_other_trainers_write_is_not_deepspeeds(names: tuple[str, ...], tmp_path: Path) -> None:
    assert not is_deepspeed_folder(Sight(made(tmp_path, *names)))


@pytest.mark.parametrize(
    "name",
    [
        STATES,
        "layer_00-model_states.pt",
        "zero_pp_rank_0_mp_rank_00_model_states.pt",
        "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt",
    ],
)
def test_state_files_are_deepspeeds_in_a_folder_and_in_one_below(name: str, tmp_path: Path) -> None:
    made(tmp_path, f"step1/{name}")
    assert is_deepspeed_folder(Sight(tmp_path))
    assert is_deepspeed_folder(Sight(tmp_path / "step1"))


def test_a_link_to_the_latest_tag_is_no_second_checkpoint(tmp_path: Path) -> None:
    made(tmp_path, f"step1/{STATES}")
    (tmp_path / "latest").symlink_to("step1")
    assert claims(tmp_path) == ["step1"]


def test_a_file_claims_the_tag_that_it_names(tmp_path: Path) -> None:
    made(tmp_path, "latest", f"step1/{STATES}", f"step2/{STATES}")
    assert claims(tmp_path) == ["latest", "step1"]


def test_a_tag_may_be_called_latest(tmp_path: Path) -> None:
    assert claims(made(tmp_path, f"latest/{STATES}")) == ["latest"]
