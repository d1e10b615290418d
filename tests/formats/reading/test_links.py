"""What leads out of a folder: written paths never, links where they end elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifier.formats.reading.folder_files import file_inside, leads_out
from verifier.formats.reading.links import links_out


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "a\\x", "a\0x"])
def test_no_written_path_leaves_the_folder(name: str, tmp_path: Path) -> None:
    assert file_inside(tmp_path, name) is None
    assert file_inside(tmp_path, "a/x") == tmp_path / "a/x"


def test_the_first_link_out_is_named_with_how_many_there_are(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    (home / "deep").mkdir(parents=True)
    outside.write_bytes(b"")
    for name in ("deep/b", "deep/a", "c", "unclaimed"):
        (home / name).symlink_to(outside)
    (home / "nothing").symlink_to("gone")
    (home / "loop").symlink_to("loop")
    (home / "inside").symlink_to("deep")
    (fault,) = links_out(home, ["deep", "c", "nothing", "loop", "inside"], "home")
    assert fault.count is not None
    assert (fault.code, fault.values["what"], fault.count.number) == ("CK206", 'the link "c"', 3)
    assert links_out(home, ["nothing", "loop", "inside"], "home") == ()


def test_blobs_of_a_cache_are_inside_for_its_snapshots_alone(tmp_path: Path) -> None:
    blob = tmp_path / "model" / "blobs" / "0123"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"")
    for below in ("snapshots/r/unet", "other/r/unet"):
        folder = tmp_path / "model" / below
        folder.mkdir(parents=True)
        (folder / "x").symlink_to(blob)
    snapshots, other = tmp_path / "model" / "snapshots", tmp_path / "model" / "other"
    assert not leads_out(snapshots, snapshots / "r/unet/x")
    assert not leads_out(snapshots / "r", snapshots / "r/unet/x")
    assert leads_out(other, other / "r/unet/x")
