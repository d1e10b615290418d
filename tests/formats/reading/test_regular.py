"""A named pipe in the place of a file that is read is an error at once, in every reader."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import CORPUS
from verifier.formats.reading.regular import regular


def test_a_regular_file_is_opened_and_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"bytes")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        with open(tmp_path / name, "rb", opener=regular) as file:
            assert file.read() == b"bytes"


def test_nothing_else_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(OSError, match="not a regular file"):
            regular(str(place), os.O_RDONLY)
    with pytest.raises(FileNotFoundError):
        regular(str(tmp_path / "none"), os.O_RDONLY)


@pytest.mark.parametrize(
    ("sample", "pattern"),
    [
        ("safetensors/llama_tiny", "model.safetensors.index.json"),
        ("dcp/shard0_w4", ".metadata"),
        ("dcp/shard0_w4", "__0_0.distcp"),
        ("dcp/rank_local_metadata_w2", "__1.metadata"),
        ("deepspeed/zero1", "*/*optim_states.pt"),
        ("deepspeed/zero1", "*/*model_states.pt"),
        ("orbax/zarr2", "_METADATA"),
        ("orbax/zarr2", "_sharding"),
    ],
)
def test_every_reader_goes_on(tmp_path: Path, sample: str, pattern: str) -> None:
    folder = tmp_path / "checkpoint"
    shutil.copytree(CORPUS / "files" / sample, folder)
    found = sorted(folder.glob(pattern))[0]
    found.unlink()
    os.mkfifo(found)
    command = [
        sys.executable,
        "-c",
        "from verifier.cli.main import main; main()",
        "audit",
        folder,
        "--payload",
    ]
    ran = subprocess.run(command, capture_output=True, timeout=300, check=False)  # it would wait for ever
    assert ran.returncode in (1, 2, 4), ran.stdout
