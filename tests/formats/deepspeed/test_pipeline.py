"""Pipelines of DeepSpeed: each stage has model states and shards, each layer a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.audited import said
from tests.formats.deepspeed.zero_shards import State, checkpoint, shard_name, write


def two_stages() -> dict[str, State]:
    """The files of a pipeline of two stages, each with one layer that has parameters."""
    files: dict[str, State] = {}
    for stage in range(2):
        for name, value in checkpoint().items():
            files[name.replace("mp_rank_00", f"mp_rank_{stage:02d}")] = value
        state = files[f"mp_rank_{stage:02d}_model_states.pt"]
        state["module"] = None
        state["param_shapes"] = [
            {f"{2 * stage}.{name}": shape for name, shape in group.items()} for group in state["param_shapes"]
        ]
        for rank in range(2):
            optimizer = files[shard_name(rank, stage)]["optimizer_state_dict"]
            optimizer["param_slice_mappings"] = [
                {f"{2 * stage}.{name}": one for name, one in group.items()}
                for group in optimizer["param_slice_mappings"]
            ]
        files |= {f"layer_{2 * stage:02d}-model_{rank:02d}-model_states.pt": {} for rank in range(2)}
    return files


def test_a_pipeline_is_proved(tmp_path: Path) -> None:
    report = said(write(tmp_path / "ckpt", two_stages()))
    assert (report.verdict, report.codes) == ("proved", ())


LOST = {
    "all shards of a stage": (
        [shard_name(0, 1), shard_name(1, 1)],
        f"{shard_name(0, 1)} is missing: the number of model-parallel ranks with model states is 2",
    ),
    "the last layer": (
        ["layer_02-model_00-model_states.pt", "layer_02-model_01-model_states.pt"],
        "layer_02-model_00-model_states.pt is missing: the number of layers with parameters is 2 "
        "(2 are missing in all)",
    ),
    "a layer of one rank": (
        ["layer_00-model_01-model_states.pt"],
        "layer_00-model_01-model_states.pt is missing: the number of layers with parameters is 2",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_file_of_a_stage_is_named(name: str, tmp_path: Path) -> None:
    lost, sentence = LOST[name]
    files = {file: value for file, value in two_stages().items() if file not in lost}
    report = said(write(tmp_path / "ckpt", files))
    assert (report.verdict, report.codes, report.sentences) == ("refuted", ("CK101",), (sentence,))


def test_a_shard_that_cannot_be_read_is_there(tmp_path: Path) -> None:
    files = two_stages()
    del files[shard_name(1, 1)]
    folder = write(tmp_path / "ckpt", files)
    (folder / shard_name(0, 1)).write_bytes(b"PK\x03\x04")
    assert "CK101" not in said(folder).codes
