"""What a distributed checkpoint stores, held against its metadata: entries, files, ranges, stored headers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import MetadataIndex

from tests.formats.audited import said
from tests.formats.dcp.checkpoints import copied, keys_by_identity, metadata_of, saved
from tests.formats.documents import SAMPLES
from verifier.formats import read

__all__ = ["saved"]

CUT = "cut"
"""A (7, 5) tensor in row chunks at 0, 2, 4 and 6."""


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return copied(saved / "plain", tmp_path / "checkpoint")


def entry(metadata: Any, row: int) -> _StorageInfo:
    found: _StorageInfo = metadata.storage_data[MetadataIndex(CUT, (row, 0))]
    return found


def test_two_entries_for_one_chunk_are_seen(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        again = entry(metadata, 2)
        with keys_by_identity():
            metadata.storage_data[MetadataIndex(CUT, (2, 0), 9)] = again
    found = said(folder)
    assert found.codes == ("CK106", "CK104")
    assert '"cut" at [2, 0] has several entries in storage_data, one is enough' in found.sentences[0]


def test_an_object_without_an_entry_is_seen_as_well_as_a_tensor(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        metadata.storage_data[MetadataIndex("notes")] = metadata.storage_data.pop(MetadataIndex("note"))
    assert said(folder).codes == ("CK111", "CK112")


def test_a_range_shorter_than_its_elements_is_seen_without_opening_it(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        entry(metadata, 2).length = 39
    found = said(folder)
    assert found.codes == ("CK113",)
    assert (
        'the chunk "cut" at [2, 0] of type float32 has 39 bytes, its elements alone are 40'
        in found.sentences[0]
    )


def test_an_overlap_names_both_chunks_and_the_bytes(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        first, second = entry(metadata, 0), entry(metadata, 2)
        second.relative_path, second.offset = first.relative_path, first.offset + 1
    found = said(folder)
    assert found.codes == ("CK104",)
    assert '"cut" at [2, 0]' in found.sentences[0]
    assert '"cut" at [0, 0]' in found.sentences[0]


def test_empty_chunks_need_no_bytes_but_their_box_is_checked(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        empty = [chunk for chunk in metadata.state_dict_metadata["short"].chunks if 0 in chunk.sizes]
        for index in [index for index in metadata.storage_data if index.fqn == "short"]:
            if index.offset[0] == 2:
                del metadata.storage_data[index]
    assert empty
    assert said(folder, payload=True).verdict == "proved"
    with metadata_of(folder) as metadata:
        empty = [chunk for chunk in metadata.state_dict_metadata["short"].chunks if 0 in chunk.sizes]
        empty[0].offsets = torch.Size((3, 0))
    assert said(folder).codes == ("CK108",)


def test_a_link_out_of_the_folder_is_followed_and_named(folder: Path) -> None:
    outside = folder.with_name("elsewhere")
    shutil.move(folder / "__1_0.distcp", outside)
    (folder / "__1_0.distcp").symlink_to(outside)
    found = said(folder, payload=True)
    assert (found.verdict, found.warnings) == ("proved", ("CK206",))


def test_a_folder_in_the_place_of_a_data_file_is_no_file(folder: Path) -> None:
    (folder / "__1_0.distcp").unlink()
    (folder / "__1_0.distcp").mkdir()
    assert said(folder, payload=True).codes == ("CK101",)


def test_data_files_may_lie_deeper_in_the_folder(folder: Path) -> None:
    (folder / "deep").mkdir()
    shutil.move(folder / "__1_0.distcp", folder / "deep" / "data.distcp")
    with metadata_of(folder) as metadata:
        for info in metadata.storage_data.values():
            if info.relative_path == "__1_0.distcp":
                info.relative_path = "deep/data.distcp"
    assert said(folder, payload=True).verdict == "proved"


def test_without_data_files_the_metadata_is_judged_with_a_warning(folder: Path) -> None:
    for path in folder.glob("*.distcp"):
        path.unlink()
    found = said(folder, payload=True)
    assert (found.verdict, found.codes, found.warnings) == ("proved", (), ("CK203",))
    assert "byte ranges: none of the data files is there" in found.unchecked


def test_a_data_file_that_nobody_names_is_a_warning(folder: Path) -> None:
    (folder / "__9_0.distcp").write_bytes(b"left over")
    found = said(folder)
    assert (found.verdict, found.warnings) == ("proved", ("CK202",))


def test_the_empty_file_of_a_rank_without_anything_to_store_is_not_in_the_way(folder: Path) -> None:
    (folder / "__9_0.distcp").touch()
    found = said(folder)
    assert (found.verdict, found.warnings) == ("proved", ())


def test_the_metadata_file_by_itself_can_be_audited(folder: Path) -> None:
    found = said(folder / ".metadata")
    assert found.verdict == "proved"
    assert "data files: the metadata was named, not its folder" in found.unchecked


def test_without_metadata_nothing_can_be_loaded(folder: Path) -> None:
    (folder / ".metadata").unlink()
    found = said(folder)
    assert (found.verdict, found.codes) == ("refuted", ("CK101",))
    assert '.metadata is not beside "__0_0.distcp"' in found.sentences[0]


def test_what_extensions_wrote_is_said_and_not_looked_into(folder: Path, saved: Path) -> None:
    with metadata_of(folder) as metadata:
        entry(metadata, 2).transform_descriptors = ["zstd"]
        entry(metadata, 2).length = 7
    found = said(folder, payload=True)
    assert found.verdict == "proved"
    assert (
        found.checks["payload headers"] == said(saved / "plain", payload=True).checks["payload headers"] - 1
    )
    assert 'what extensions made of stored bytes: "zstd"' in found.unchecked


def test_a_chunk_stored_with_other_rows_is_seen_in_its_header_only(folder: Path) -> None:
    """FSDP2 over tensor parallel ranks writes this by itself where 7 rows are cut by 3 x 2 ranks."""
    with metadata_of(folder) as metadata:
        info = entry(metadata, 2)
        torch.save(torch.zeros(3, 5), folder / "new.distcp")
        info.relative_path, info.offset = "new.distcp", 0
        info.length = (folder / "new.distcp").stat().st_size
    assert said(folder).verdict == "proved"
    found = said(folder, payload=True)
    assert found.codes == ("CK110",)
    expected = 'what is stored of "cut" at [2, 0] has the shape [3, 5], the metadata says [2, 5]'
    assert expected in found.sentences[0]


def test_stored_strides_are_the_business_of_the_archive(folder: Path) -> None:
    """Torch keeps the strides of a transposed tensor and loads it right."""
    with metadata_of(folder) as metadata:
        info = entry(metadata, 2)
        torch.save(torch.zeros(5, 2).t(), folder / "new.distcp")
        info.relative_path, info.offset = "new.distcp", 0
        info.length = (folder / "new.distcp").stat().st_size
    assert said(folder, payload=True).verdict == "proved"


def test_something_stored_that_is_no_tensor_is_seen(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        info = entry(metadata, 2)
        torch.save([1] * 100, folder / "new.distcp")
        info.relative_path, info.offset = "new.distcp", 0
        info.length = (folder / "new.distcp").stat().st_size
    assert said(folder, payload=True).codes == ("CK110",)


def test_a_chunk_that_cannot_be_read_hides_nothing(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        info = entry(metadata, 2)
    with (folder / info.relative_path).open("r+b") as file:
        file.seek(info.offset)
        file.write(b"\0" * info.length)
    found = said(folder, payload=True)
    assert (found.verdict, found.codes) == ("unreadable", ("SM001",))
    assert CUT in found.proved


class Runs:
    """Runs a command where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.marker}",)


def test_a_stored_chunk_that_wants_to_act_is_refused_and_not_run(folder: Path, tmp_path: Path) -> None:
    with metadata_of(folder) as metadata:
        info = entry(metadata, 2)
        torch.save(Runs(tmp_path / "ran"), folder / "new.distcp")
        info.relative_path, info.offset = "new.distcp", 0
        info.length = (folder / "new.distcp").stat().st_size
    assert said(folder, payload=True).codes == ("SM007",)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda chunk: setattr(chunk, "sizes", torch.Size((-2, 5))), "SM104"),
        (lambda chunk: setattr(chunk, "sizes", (True, 5)), "SM005"),
        (lambda chunk: setattr(chunk, "sizes", (2**63, 5)), "SM109"),
        (lambda chunk: setattr(chunk, "sizes", (2, 5, 1)), "SM103"),
        (lambda chunk: delattr(chunk, "sizes"), "SM002"),
    ],
)
def test_a_tensor_that_cannot_be_read_leaves_the_others_proved(change: Any, code: str, folder: Path) -> None:
    with metadata_of(folder) as metadata:
        change(metadata.state_dict_metadata[CUT].chunks[1])
    found = said(folder)
    assert found.codes == (code,)
    assert {"short", "plain", "step"} < {*found.proved}


def test_an_entry_that_cannot_be_read_leaves_the_others_proved(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        entry(metadata, 2).offset = "here"
    found = said(folder, payload=True)
    assert (found.verdict, found.codes) == ("unreadable", ("SM002",))
    assert {CUT, "short", "plain", "step"} <= {*found.proved}


def test_expected_shapes_are_held_against_the_checkpoint(folder: Path) -> None:
    shapes = {"cut": (8, 5), "absent": (3,), "plain": (5,)}
    assert said(folder, shapes=shapes).codes == ("SM507", "CK111")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_metadata_that_may_not_be_read_is_one_clear_error(folder: Path) -> None:
    (folder / ".metadata").chmod(0)
    assert said(folder).codes == ("SM001",)


def test_the_path_of_the_training_machine_inside_the_metadata_is_never_shown() -> None:
    assert "/tmp" not in repr(read(SAMPLES / "dcp_good", display="checkpoint"))
