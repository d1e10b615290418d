"""Consolidated files above the shards that they were made from, as torch writes both, damaged on one side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import load_file, save_file
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter

from tests.formats.audited import said
from tests.formats.safetensors.samples import SHARDS, write_shards

STATE = {"a": torch.ones(3, 4), "b": torch.ones(2)}
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"
LAST = [*SHARDS][-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    writer = HuggingFaceStorageWriter(
        str(folder),
        fqn_to_index_mapping={"a": 1, "b": 2},
        save_distributed=True,
        enable_consolidation=True,
    )
    dcp.save(STATE, storage_writer=writer, no_dist=True)
    return folder


def retyped(path: Path) -> None:
    """The bits of a file as integers."""
    text = path.read_bytes()
    assert b'"F32"' in text
    path.write_bytes(text.replace(b'"F32"', b'"I32"'))


def index(folder: Path, change: Callable[[Any], None]) -> None:
    path = folder / INDEX
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def without(name: str) -> Callable[[Any], None]:
    def change(value: Any) -> None:
        del value["weight_map"][name]
        value["metadata"]["total_size"] -= STATE[name].nbytes

    return change


@pytest.mark.parametrize("values", [False, True])
def test_what_torch_writes_is_proved(folder: Path, values: bool) -> None:
    found = said(folder, values=values)
    assert (found.verdict, found.codes, found.warnings) == ("proved", (), ())


@pytest.mark.parametrize("file", [FIRST, f"sharded/shard-00001-{FIRST}"])
def test_a_type_on_one_side_is_compared_without_values(folder: Path, file: str) -> None:
    retyped(folder / file)
    found = said(folder)
    assert found.codes == ("CK114",)
    assert 'the type of "a" is ' in found.sentences[0]


def test_a_tensor_that_only_the_shards_have_is_missed(folder: Path) -> None:
    (folder / SECOND).unlink()
    index(folder, without("b"))
    found = said(folder)
    assert found.codes == ("CK101", "CK111")
    assert 'the tensor "b" is in no consolidated file, there are shards of it' in found.sentences[1]


def test_a_tensor_that_was_lost_inside_a_file_is_missed(folder: Path) -> None:
    writer = HuggingFaceStorageWriter(str(folder), save_distributed=True, enable_consolidation=True)
    for path in folder.rglob("*.*"):
        path.unlink()
    dcp.save(STATE, storage_writer=writer, no_dist=True)
    (file,) = folder.glob("*.safetensors")
    tensors = load_file(file)
    save_file({"a": tensors["a"]}, file)
    index(folder, without("b"))
    assert said(folder).codes == ("CK111",)


def test_a_tensor_that_an_index_lists_and_no_file_has_is_told_once(folder: Path) -> None:
    (folder / SECOND).unlink()
    assert said(folder).codes == ("CK101",)


def test_an_index_that_names_nothing_is_no_index_of_the_consolidated_files(folder: Path) -> None:
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": {}}))
    found = said(folder)
    assert found.codes == ("CK105",)
    assert f'the tensor "a" in "{FIRST}" is not in the index' in found.sentences[0]


def test_an_index_of_other_files_is_no_index_of_the_consolidated_ones(folder: Path) -> None:
    index(folder, lambda index: index.update(metadata={}, weight_map={"c": "other.safetensors"}))
    save_file({"c": torch.zeros(1)}, folder / "other.safetensors")
    found = said(folder)
    assert "CK105" in found.codes
    assert any('"a" is in a consolidated file that no index names' in said for said in found.sentences)


def test_without_an_index_nothing_is_missing_from_it(folder: Path) -> None:
    (folder / INDEX).unlink()
    assert said(folder).verdict == "proved"


def test_another_variant_of_the_model_may_have_another_type(folder: Path) -> None:
    save_file({name: tensor.half() for name, tensor in STATE.items()}, folder / "model.fp16.safetensors")
    assert (said(folder).codes, said(folder).warnings) == ((), ("CK202",))


def test_shards_that_were_not_consolidated_yet_miss_nothing(folder: Path) -> None:
    for name in (FIRST, SECOND, INDEX):
        (folder / name).unlink()
    assert (said(folder).codes, said(folder).warnings) == ((), ("CK201",))


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("gone"), os.mkfifo], ids=["link", "fifo"])
def test_a_name_that_leads_to_no_file_is_a_missing_file(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    folder = write_shards(tmp_path / "shards")
    assert said(folder).codes == ()
    (folder / LAST).unlink()
    make(folder / LAST)
    found = said(folder)
    assert found.codes == ("CK101",)
    assert f'the file "{LAST}" is not there' in found.sentences[0]
