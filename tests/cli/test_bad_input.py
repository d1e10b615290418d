"""Whatever people point it at: one clear message, exit 2, nothing executed, memory bounded."""

from __future__ import annotations

import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof

MAPS = CORPUS / "maps"
HOSTILE = sorted((CORPUS / "files/hostile").iterdir())


def one_message(out: str) -> None:
    assert out.count("error[SM0") == 1
    assert "= help:" in out
    assert "Traceback" not in out


def test_a_truncated_file(tmp_path: Path) -> None:
    text = (MAPS / "scalar__right.json").read_text()
    for length in (0, 1, len(text) // 2, len(text) - 3):
        path = tmp_path / "cut.json"
        path.write_text(text[:length])
        ran = shardproof("audit", path)
        assert ran.code == 2
        one_message(ran.out)


def test_a_truncated_checkpoint(tmp_path: Path) -> None:
    whole = next((CORPUS / "files/deepspeed/autotp").rglob("mp_rank_00_model_states.pt")).read_bytes()
    for length in (4, 100, len(whole) // 2, len(whole) - 1):
        path = tmp_path / "mp_rank_00_model_states.pt"
        path.write_bytes(whole[:length])
        ran = shardproof("audit", path)
        assert ran.code == 2
        one_message(ran.out)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.name)
def test_hostile_files_are_refused(path: Path) -> None:
    ran = shardproof("audit", path)
    assert ran.code == 2
    one_message(ran.out)


def test_a_directory_without_maps_and_files_that_are_no_maps(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("hello")
    (tmp_path / "list.json").write_text("[1, 2, 3]")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 20)
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("readme.txt", "no map")
    for name in ("empty", "text", "list.json", "binary", "archive.zip", "missing"):
        ran = shardproof("audit", tmp_path / name)
        assert ran.code == 2, name
        assert "error[SM00" in ran.out, name
        assert "= help:" in ran.out, name


def test_a_huge_json_is_refused_without_being_read(tmp_path: Path) -> None:
    """200 MB, in a process that may not have 400 MB of memory."""
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.write(b'{"logical_shape": [')
        file.truncate(200 * 2**20)
    limit = 400 * 2**20

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    finished = subprocess.run(
        [sys.executable, "-c", "from verifier.cli.main import main; main()", "audit", huge],
        capture_output=True,
        text=True,
        preexec_fn=limited,
        check=False,
    )
    assert finished.returncode == 2, finished.stderr
    assert "SM006" in finished.stdout
