"""Megatron-core checkpoints in torch_dist form: recorded ones proved, one damaged place found."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.metadata import ChunkStorageMetadata

from tests.cli.command import CORPUS
from tests.formats.audited import said
from tests.formats.dcp.checkpoints import metadata_of

SAMPLES = CORPUS / "files" / "megatron"


@pytest.mark.parametrize("name", ["tp2_pp2", "v012_torch_dist_flat"])
def test_a_recorded_checkpoint_is_proved(name: str) -> None:
    found = said(SAMPLES / name)
    assert found.verdict == "proved", found
    assert any("exchanged" in note for note in found.unchecked)


def readable(folder: Path) -> bool:
    """Whether torch's classes alone unpickle the metadata; megatron-core's own plans need it installed."""
    try:
        with (folder / ".metadata").open("rb") as file:
            pickle.load(file)
    except (ImportError, AttributeError):
        return False
    return True


Damage = Callable[[Any, Path], None]


def _first(metadata: Any) -> Any:
    return next(t for t in metadata.state_dict_metadata.values() if len(getattr(t, "chunks", ())) > 1)


def _shift(metadata: Any, folder: Path) -> None:
    chunk = _first(metadata).chunks[1]
    moved = (chunk.offsets[0] + 1, *chunk.offsets[1:])
    _first(metadata).chunks[1] = ChunkStorageMetadata(torch.Size(moved), chunk.sizes)


def _remove_chunk(metadata: Any, folder: Path) -> None:
    del _first(metadata).chunks[1]


def _grow(metadata: Any, folder: Path) -> None:
    tensor = _first(metadata)
    tensor.size = torch.Size((tensor.size[0] + 1, *tensor.size[1:]))


def _remove_object(metadata: Any, folder: Path) -> None:
    name = next(name for name in metadata.state_dict_metadata if "/shard_" in name)
    del metadata.state_dict_metadata[name]
    for index in [index for index in metadata.storage_data if index.fqn == name]:
        del metadata.storage_data[index]


def _remove_file(metadata: Any, folder: Path) -> None:
    next(folder.glob("*.distcp")).unlink()


def _cut_common_state(metadata: Any, folder: Path) -> None:
    (folder / "common.pt").write_bytes((folder / "common.pt").read_bytes()[:-1])


def _another_backend(metadata: Any, folder: Path) -> None:
    (folder / "metadata.json").write_text(json.dumps({"sharded_backend": "carrier pigeon"}))


DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    "chunk shifted": (_shift, {"SM301", "SM403", "CK108", "CK111"}),
    "chunk removed": (_remove_chunk, {"SM301", "CK112"}),
    "tensor larger": (_grow, {"SM301"}),
    "object removed": (_remove_object, {"CK111"}),
    "file gone": (_remove_file, {"CK101"}),
    "common state cut": (_cut_common_state, {"SM001"}),
    "another backend": (_another_backend, {"SM001", "SM002", "SM004"}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damaged_place_is_found(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(SAMPLES / "tp2_pp2", tmp_path / "damaged")
    if not readable(folder):
        pytest.skip("megatron-core is not installed")
    damage, codes = DAMAGES[name]
    with metadata_of(folder) as metadata:
        damage(metadata, folder)
    found = said(folder)
    assert found.verdict in ("refuted", "unreadable"), found
    assert set(found.codes) & codes, found
