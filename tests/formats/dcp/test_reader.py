"""torch's distributed checkpoints: real ones proved, damaged ones refuted by cause, hostile ones inert."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)

from tests.cli.command import CORPUS
from tests.formats.audited import said
from tests.formats.dcp import synthetic
from tests.formats.dcp.checkpoints import copied, metadata_of, saved
from tests.formats.mutating import mutants
from verifier.formats import FormatError, Limits, Request, read
from verifier.formats.dcp import large

__all__ = ["saved"]

SAMPLES = CORPUS / "files" / "dcp"
SMALL = Limits()
LARGE = replace(SMALL, metadata_inert_bytes=0)
"""Every metadata file is large: the child reads it."""


@pytest.mark.parametrize("name", ["fsdp2", "fsdp2-tp", "plain", "ranks"])
def test_what_torch_saves_is_proved(name: str, saved: Path) -> None:
    found = said(saved / name, payload=True)
    assert found.verdict == "proved"
    assert found.codes == ()
    assert found.checks["byte ranges"] > 2
    assert any("exchanged" in note for note in found.unchecked)


# One place each. Names: of the plain checkpoint that the worker saves.
Damage = Callable[[Any, Path], None]


def _chunks(metadata: Any) -> list[Any]:
    chunks: list[Any] = metadata.state_dict_metadata["cut"].chunks
    return chunks


def _moved(position: int, **change: Any) -> Damage:
    def damage(metadata: Any, folder: Path) -> None:
        chunk = _chunks(metadata)[position]
        _chunks(metadata)[position] = ChunkStorageMetadata(
            torch.Size(change.get("offsets", chunk.offsets)), torch.Size(change.get("sizes", chunk.sizes))
        )

    return damage


def _entry(change: Callable[[Any], Any]) -> Damage:
    def damage(metadata: Any, folder: Path) -> None:
        index = next(index for index in metadata.storage_data if index.fqn == "cut")
        metadata.storage_data[index] = change(metadata.storage_data[index])

    return damage


def _size(size: tuple[int, ...]) -> Damage:
    def damage(metadata: Any, folder: Path) -> None:
        metadata.state_dict_metadata["cut"].size = torch.Size(size)

    return damage


def _remove_chunk(metadata: Any, folder: Path) -> None:
    del _chunks(metadata)[1]


def _double_chunk(metadata: Any, folder: Path) -> None:
    _chunks(metadata).append(_chunks(metadata)[0])


def _remove_entry(metadata: Any, folder: Path) -> None:
    del metadata.storage_data[next(index for index in metadata.storage_data if index.fqn == "cut")]


def _orphan(metadata: Any, folder: Path) -> None:
    index = next(index for index in metadata.storage_data if index.fqn == "cut")
    metadata.storage_data[MetadataIndex("ghost", torch.Size([0]))] = metadata.storage_data[index]


def _unstored(metadata: Any, folder: Path) -> None:
    metadata.state_dict_metadata["ghost"] = TensorStorageMetadata(
        TensorProperties(torch.float32),
        torch.Size([2]),
        [ChunkStorageMetadata(torch.Size([0]), torch.Size([2]))],
    )


def _lie(metadata: Any, folder: Path) -> None:
    metadata.state_dict_metadata["cut"].properties.dtype = torch.int32


def _remove_file(metadata: Any, folder: Path) -> None:
    (folder / "__1_0.distcp").unlink()


def _cut_file(metadata: Any, folder: Path) -> None:
    path = folder / "__1_0.distcp"
    os.truncate(path, path.stat().st_size - 40)


def _empty_file(metadata: Any, folder: Path) -> None:
    os.truncate(folder / "__1_0.distcp", 0)


def _same_bytes(metadata: Any, folder: Path) -> None:
    first, second, *_ = [index for index in metadata.storage_data if index.fqn == "cut"]
    metadata.storage_data[second] = metadata.storage_data[first]


DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    "chunk shifted": (_moved(1, offsets=(3, 0)), {"SM301", "CK111", "CK112"}),
    "chunk shifted into a column": (_moved(1, offsets=(2, 1)), {"CK108", "CK111", "CK112"}),
    "chunk wrapped": (_moved(1, offsets=(0, 10)), {"CK108", "CK111", "CK112"}),
    "negative offset": (_moved(1, offsets=(-1, 0)), {"CK108", "CK111", "CK112"}),
    "chunk grown": (_moved(0, sizes=(3, 5)), {"SM403"}),
    "chunk shrunk": (_moved(0, sizes=(1, 5)), {"SM301"}),
    "chunk transposed": (_moved(0, sizes=(5, 2)), {"SM301"}),
    "chunk removed": (_remove_chunk, {"SM301", "CK112"}),
    "chunk twice": (_double_chunk, {"SM403"}),
    "tensor larger": (_size((9, 5)), {"SM301"}),
    "tensor smaller": (_size((5, 5)), {"CK108"}),
    "tensor transposed": (_size((5, 7)), {"CK108"}),
    "storage entry gone": (_remove_entry, {"CK111"}),
    "storage entry of nobody": (_orphan, {"CK112", "CK104"}),
    "tensor without storage": (_unstored, {"CK111"}),
    "another type": (_lie, {"CK110"}),
    "file gone": (_remove_file, {"CK101"}),
    "file cut": (_cut_file, {"CK102"}),
    "file empty": (_empty_file, {"CK102"}),
    "two chunks in one place": (_same_bytes, {"CK104"}),
    "range past the end": (_entry(lambda e: replace(e, length=e.length + 10**6)), {"CK102", "CK104"}),
    "range moved": (_entry(lambda e: replace(e, offset=e.offset + 7)), {"SM001", "CK104"}),
    "path leaves the folder": (
        _entry(lambda e: replace(e, relative_path="../" + e.relative_path)),
        {"CK109"},
    ),
    "absolute path": (_entry(lambda e: replace(e, relative_path="/etc/hostname")), {"CK109"}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damaged_place_is_found(name: str, saved: Path, tmp_path: Path) -> None:
    damage, codes = DAMAGES[name]
    folder = copied(saved / "plain", tmp_path / "damaged")
    with metadata_of(folder) as metadata:
        damage(metadata, folder)
    found = said(folder, payload=True)
    assert found.verdict in ("refuted", "unreadable"), found
    assert set(found.codes) == codes, found


def test_there_are_enough_damages() -> None:
    assert len(DAMAGES) >= 15


def documents(path: Path, limits: Limits) -> Any:
    """What a reader made of a path, or its refusal."""
    try:
        document = read(path, display="x", request=Request(limits=limits, payload=True))
    except FormatError as error:
        return error.code
    return (
        [(s.name, s.shard_map, s.faults) for s in document.subjects],
        [
            (b.boxes.name, b.boxes.logical_shape, b.boxes.offsets, b.boxes.sizes, b.faults)
            for b in document.boxes
        ],
        [(r.code, r.message) for r in document.refusals],
        document.faults,
        dict(document.checks),
    )


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*/.metadata")), ids=lambda path: path.parent.name)
def test_the_child_reads_what_the_inert_machine_reads(path: Path) -> None:
    assert documents(path.parent, LARGE) == documents(path.parent, SMALL)


def test_a_larger_file_too(tmp_path: Path) -> None:
    synthetic.write(tmp_path, tensors=20, ranks=30)
    assert documents(tmp_path, LARGE) == documents(tmp_path, SMALL)
    assert said(tmp_path).verdict == "proved"


@pytest.mark.parametrize("limits", [SMALL, LARGE], ids=["inert", "child"])
@pytest.mark.parametrize(
    "path", sorted((CORPUS / "files" / "hostile").glob("*.pickle")), ids=lambda path: path.stem
)
def test_nothing_hostile_is_run(
    path: Path, limits: Limits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    shutil.copy(path, folder / ".metadata")
    with pytest.raises(FormatError) as raised:
        read(folder, request=Request(limits=limits, input_format="dcp"))
    assert raised.value.code in {"SM001", "SM002", "SM003", "SM006", "SM007"}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["checkpoint"]


class _Payload:
    """Runs a command where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.marker}",)


@pytest.mark.parametrize("limits", [SMALL, LARGE], ids=["inert", "child"])
def test_a_command_in_the_metadata_is_refused_and_not_run(limits: Limits, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / ".metadata").write_bytes(pickle.dumps(_Payload(tmp_path / "ran"), protocol=4))
    with pytest.raises(FormatError) as raised:
        read(folder, request=Request(limits=limits))
    assert raised.value.code == "SM007"
    assert not (tmp_path / "ran").exists()


def test_a_child_that_needs_too_much_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synthetic.write(tmp_path, tensors=200, ranks=100)
    monkeypatch.setattr(large, "memory_for", lambda size, limits: 1 << 20)
    with pytest.raises(FormatError) as raised:
        read(tmp_path, request=Request(limits=LARGE))
    assert raised.value.code in {"SM001", "SM006"}


@pytest.mark.parametrize("limits", [SMALL, LARGE], ids=["inert", "child"])
def test_mutants_are_refused_or_judged(limits: Limits, tmp_path: Path) -> None:
    data = (SAMPLES / "uneven_w4" / ".metadata").read_bytes()
    folder = copied(SAMPLES / "uneven_w4", tmp_path / "mutant")
    for mutant in mutants(data, seed=3, count=200 if limits is SMALL else 12):
        (folder / ".metadata").write_bytes(mutant)
        found = documents(folder, limits)
        refused = isinstance(found, str)
        assert refused == isinstance(documents(folder, SMALL), str)
        assert not refused or found in {"SM001", "SM002", "SM003", "SM005", "SM006", "SM007"}
