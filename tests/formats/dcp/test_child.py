"""The process that reads large metadata: whatever becomes of it is a refusal with a name."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tests.formats.audited import said
from tests.formats.dcp import synthetic
from tests.formats.documents import SAMPLES
from verifier.formats import FormatError, Limits, Request, read
from verifier.formats.dcp import large

IN_CHILD = replace(Limits(), metadata_inert_bytes=0)
HOSTILE = sorted(path for path in (SAMPLES / "hostile").iterdir() if path.is_file())
GOOD = SAMPLES / "dcp" / "uneven_w4"
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
ENDINGS: dict[str, tuple[str, str, str]] = {
    "is killed": (KILLED, "SM001", "the process that reads it was ended by signal 9"),
    "fails": ("import sys; sys.exit(1)", "SM001", "the process that reads it ended with 1"),
    "hangs": ("import time; time.sleep(600)", "SM006", "reading it takes over 1 s"),
    "says nothing": ("pass", "SM001", "not the answer of a reader: 8 bytes announced, 0 left"),
    "says too little": (
        r"import sys; sys.stdout.buffer.write(b'\xff' + bytes(7))",
        "SM001",
        "not the answer of a reader: 255 bytes announced, 0 left",
    ),
    "says something else": (
        r"import sys; sys.stdout.buffer.write(b'\x02' + bytes(7) + b'{}')",
        "SM001",
        "not the answer of a reader: 'paths'",
    ),
    "refuses without a reason": (
        "import sys; print('[]'); sys.stdout.flush(); sys.exit(3)",
        "SM001",
        "the process that reads it refused it without a reason",
    ),
}


def refusal(path: Path, limits: Limits = IN_CHILD) -> FormatError:
    with pytest.raises(FormatError) as raised:
        read(path, request=Request(limits=limits, input_format="dcp"))
    return raised.value


@pytest.mark.parametrize("name", ENDINGS)
def test_a_child_that_comes_to_no_good_end_is_a_refusal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, code, message = ENDINGS[name]
    monkeypatch.setattr(large, "_PROGRAM", program)
    error = refusal(GOOD, replace(IN_CHILD, metadata_seconds=1 if name == "hangs" else 300))
    assert (error.code, error.message) == (code, message)
    assert error.origin.file.endswith(".metadata")


def test_a_child_that_refuses_in_silence_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "_PROGRAM", "import sys; sys.exit(3)")
    assert refusal(GOOD).code == "SM001"


def test_a_child_that_needs_more_than_the_size_of_its_file_allows_is_refused(tmp_path: Path) -> None:
    """A frame of 300 MiB that is not there, of 20 bytes: the process may take 256 MiB."""
    data = b"\x80\x04" + b"\x8e" + (300 << 20).to_bytes(8, "little") + b"short."
    (tmp_path / ".metadata").write_bytes(data)
    assert refusal(tmp_path).code in {"SM001", "SM006"}
    (tmp_path / ".metadata").write_bytes((SAMPLES / "hostile/memo_bomb_long_binput.pickle").read_bytes())
    error = refusal(tmp_path)
    assert error.code == "SM006"
    assert error.message.startswith("reading it takes over 256 MiB")


def test_memory_that_the_columns_need_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synthetic.write(tmp_path, tensors=200, ranks=200)
    monkeypatch.setattr(large, "memory_for", lambda size, limits: 48 << 20)
    error = refusal(tmp_path)
    assert (error.code, error.message[:27]) == ("SM006", "reading it takes over 48 Mi")


def test_metadata_over_the_limit_starts_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "_PROGRAM", KILLED)
    error = refusal(GOOD, replace(IN_CHILD, metadata_bytes=100))
    assert error.code == "SM006"
    assert "over the limit of 100" in error.message


def test_a_synthetic_checkpoint_is_the_same_both_ways(tmp_path: Path) -> None:
    synthetic.write(tmp_path, tensors=40, ranks=25)
    documents = [read(tmp_path, request=Request(limits=limits)) for limits in (Limits(), IN_CHILD)]
    assert documents[0] == documents[1]
    assert said(tmp_path, limits=IN_CHILD).verdict == "proved"


def harmless(path: Path) -> bytes:
    """A hostile file whose marker lies in the working directory instead of /tmp, under a name as long."""
    return path.read_bytes().replace(b"/tmp/shard_map", b".////shard_map")


def test_the_hostile_files_do_act_where_they_are_unpickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pickle.loads(harmless(SAMPLES / "hostile" / "os_system_reduce.pickle"))
    assert [path.name for path in tmp_path.iterdir()] == ["shard_map_payload_ran"]


@pytest.mark.parametrize("limits", [Limits(), IN_CHILD], ids=["inert", "child"])
@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.name)
def test_nothing_hostile_is_read(
    path: Path, limits: Limits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the child has this folder too
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / ".metadata").write_bytes(harmless(path))
    assert refusal(folder, limits).code in {"SM001", "SM002", "SM003", "SM006", "SM007"}
    assert [*tmp_path.iterdir()] == [folder]
