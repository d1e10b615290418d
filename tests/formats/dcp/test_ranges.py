"""The ranges of bytes in data files: files under two names, bytes that nobody claims, safetensors inside."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.filesystem import SerializationFormat

from tests.formats.audited import said
from tests.formats.dcp.checkpoints import metadata_of
from verifier.formats import Limits

STATE = {"w": torch.ones(4), "b": torch.zeros(4), "note": "text"}
DATA = "__0_0.distcp"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    dcp.save(STATE, checkpoint_id=tmp_path / "checkpoint", no_dist=True)
    return tmp_path / "checkpoint"


def entry(metadata: Any, name: str) -> Any:
    return next(info for index, info in metadata.storage_data.items() if index.fqn == name)


def lose(metadata: Any, name: str) -> None:
    del metadata.state_dict_metadata[name], metadata.planner_data[name]
    metadata.storage_data = {
        index: info for index, info in metadata.storage_data.items() if index.fqn != name
    }


@pytest.mark.parametrize("inert_bytes", [Limits().metadata_inert_bytes, 0], ids=["inert", "child"])
@pytest.mark.parametrize("prefix", ["./", ".//./"])
def test_one_file_may_not_have_two_spellings(folder: Path, prefix: str, inert_bytes: int) -> None:
    limits = Limits(metadata_inert_bytes=inert_bytes)
    with metadata_of(folder) as metadata:
        for info in metadata.storage_data.values():
            info.relative_path = prefix + DATA
    found = said(folder, limits=limits)
    assert (found.verdict, found.warnings) == ("proved", ())
    with metadata_of(folder) as metadata:
        entry(metadata, "w").offset = entry(metadata, "b").offset
        entry(metadata, "w").relative_path = DATA
    assert said(folder, limits=limits).codes == ("CK104",)


def test_a_path_that_climbs_leads_out_however_it_is_spelled(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        entry(metadata, "w").relative_path = f"x/.././../checkpoint/{DATA}"
    assert said(folder).codes == ("CK109",)


def test_a_link_in_the_folder_is_the_file_it_leads_to(folder: Path) -> None:
    (folder / "__1_0.distcp").symlink_to(DATA)
    with metadata_of(folder) as metadata:
        entry(metadata, "w").relative_path = "__1_0.distcp"
    assert said(folder).verdict == "proved"
    with metadata_of(folder) as metadata:
        entry(metadata, "w").offset = entry(metadata, "b").offset
    assert said(folder).codes == ("CK104",)


def test_equal_files_that_are_kept_once_are_no_overlap(tmp_path: Path) -> None:
    """A cache of blobs and a file system with hard links hold equal data files of two ranks in one place."""
    folder = tmp_path / "models--a--b" / "snapshots" / "0123"
    blobs = tmp_path / "models--a--b" / "blobs"
    blobs.mkdir(parents=True)
    writer = dcp.FileSystemWriter(folder, single_file_per_rank=False)
    dcp.save({"a": torch.ones(4), "b": torch.ones(4)}, storage_writer=writer, no_dist=True)
    first, second = sorted(folder.glob("*.distcp"))
    assert first.read_bytes() == second.read_bytes()
    second.unlink()
    os.link(first, second)
    assert said(folder, payload=True).verdict == "proved"
    shutil.move(first, blobs / "45ab")
    second.unlink()
    for path in (first, second):
        path.symlink_to("../../blobs/45ab")
    assert said(folder, payload=True).verdict == "proved"


def trailing(folder: Path) -> None:
    with (folder / DATA).open("ab") as file:
        file.write(b"x" * 1000)


def lost(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        lose(metadata, "b")


def shorter(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        entry(metadata, "b").length -= 700


def shifted(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        info = entry(metadata, "b")
        info.offset, info.length = info.offset + 64, info.length - 64


def all_of_it(folder: Path) -> None:
    (folder / "other.distcp").write_bytes(b"")
    with metadata_of(folder) as metadata:
        for info in metadata.storage_data.values():
            info.relative_path, info.offset = "other.distcp", 0
        for tensor in ("w", "b"):
            metadata.state_dict_metadata[tensor].size = torch.Size((0,))
            metadata.state_dict_metadata[tensor].chunks[0].sizes = torch.Size((0,))
            entry(metadata, tensor).length = 0
        lose(metadata, "note")
        entry(metadata, "w").relative_path = DATA


@pytest.mark.parametrize("damage", [trailing, lost, shorter, shifted, all_of_it])
def test_bytes_that_no_entry_claims_are_a_warning(folder: Path, damage: Callable[[Path], None]) -> None:
    assert said(folder).warnings == ()
    damage(folder)
    found = said(folder)
    assert (found.codes, found.warnings) == ((), ("CK204",))
    assert f'of "{DATA}" belong to no chunk and to no object' in found.sentences[0]


def test_the_place_of_unclaimed_bytes_is_said(folder: Path) -> None:
    size = (folder / DATA).stat().st_size
    trailing(folder)
    assert f'the bytes {size} to {size + 1000} of "{DATA}"' in said(folder).sentences[0]


def test_bytes_beside_what_extensions_wrote_are_not_judged(folder: Path) -> None:
    trailing(folder)
    with metadata_of(folder) as metadata:
        entry(metadata, "b").transform_descriptors = ["zstd"]
    found = said(folder)
    assert (found.verdict, found.warnings) == ("proved", ())
    assert 'what extensions made of stored bytes: "zstd"' in found.unchecked


def test_where_an_entry_is_refused_its_bytes_are_not_unclaimed(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        entry(metadata, "b").length = -1
    assert said(folder).warnings == ()


@pytest.mark.parametrize(
    "options", [{"single_file_per_rank": False}, {"thread_count": 2}, {"sync_files": False}], ids=str
)
def test_every_byte_that_torch_writes_is_claimed(tmp_path: Path, options: dict[str, Any]) -> None:
    state = {**STATE, "none": torch.empty(0, 3), "nested": {"list": [1, torch.ones(2, 3).t()]}}
    for _ in range(2):  # the second time over the first
        writer = dcp.FileSystemWriter(tmp_path / "checkpoint", overwrite=True, **options)
        dcp.save(state, storage_writer=writer, no_dist=True)
    found = said(tmp_path / "checkpoint", payload=True)
    assert (found.verdict, found.warnings) == ("proved", ())


def test_an_object_has_bytes(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        entry(metadata, "note").length = 0
    found = said(folder)
    assert found.codes == ("CK113",)
    assert 'the object "note" has 0 bytes, a pickle has some' in found.sentences[0]


@pytest.mark.parametrize("payload", [False, True])
@pytest.mark.parametrize("state", [{"w": torch.ones(4)}, STATE], ids=["one", "several"])
def test_safetensors_in_the_place_of_archives_are_named(
    tmp_path: Path, state: dict[str, Any], payload: bool
) -> None:
    folder = tmp_path / "checkpoint"
    form = SerializationFormat.SAFETENSORS
    dcp.save(state, storage_writer=dcp.FileSystemWriter(folder, serialization_format=form), no_dist=True)
    with pytest.raises(BaseException, match="load"):
        dcp.load({"w": torch.ones(4)}, checkpoint_id=folder, no_dist=True)
    found = said(folder, payload=payload)
    assert (found.codes, found.warnings) == (("CK110",), ())
    assert f'the data file "{DATA}" is a safetensors file' in found.sentences[0]
