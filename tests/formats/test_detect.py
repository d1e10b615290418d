from __future__ import annotations

import json
import os
import pickle
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.documents import SAMPLES, archive, as_bytes, rows_map
from verifier.formats import FormatError, Limits, read

MARKER = Path("/tmp/shard_map_payload_ran")  # what the payloads of the samples touch
HOSTILE = [
    entry["path"]
    for entry in json.loads((SAMPLES / "manifest.json").read_text())
    if entry["format"] == "hostile"
]


def code_of(path: Path, limits: Limits | None = None) -> str:
    with pytest.raises(FormatError) as caught:
        read(path, display="x") if limits is None else read(path, display="x", limits=limits)
    assert caught.value.message.isprintable()
    assert caught.value.help
    assert caught.value.origin.file == "x"
    return caught.value.code


def test_the_hostile_samples_are_all_there() -> None:
    on_disk = sorted(f"hostile/{path.name}" for path in (SAMPLES / "hostile").iterdir())
    assert sorted(HOSTILE) == on_disk
    assert len(on_disk) > 20


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_files_are_refused_and_nothing_runs(path: str, tmp_path: Path) -> None:
    MARKER.unlink(missing_ok=True)
    data = (SAMPLES / path).read_bytes()
    direct = code_of(SAMPLES / path)
    inside = tmp_path / "x.pt"
    inside.write_bytes(archive([("x/data.pkl", data)]))
    assert {direct, code_of(inside)} <= {"SM001", "SM003", "SM006", "SM007"}
    assert not MARKER.exists()


def test_payloads_that_call_are_named_as_hostile() -> None:
    for name in (
        "os_system_reduce",
        "eval_reduce",
        "proto0_os_system",
        "inst_opcode",
        "newobj_ex",
        "getattr_chain",
    ):
        assert code_of(SAMPLES / "hostile" / f"{name}.pickle") == "SM007"


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_a_map_is_found_by_content_whatever_the_name(tmp_path: Path, protocol: int) -> None:
    document = rows_map()
    for name, data in [
        ("a.bin", as_bytes(document)),
        ("b.json", pickle.dumps(document, protocol)),
        ("c", archive([("x/data.pkl", pickle.dumps(document, protocol))])),
    ]:
        (tmp_path / name).write_bytes(data)
        read_back = read(tmp_path / name)
        assert [subject.name for subject in read_back.subjects] == [Path(name).stem]
        assert sorted(read_back.subjects[0].shard_map.ranks) == [0, 1]


def test_a_huge_file_is_refused_by_its_size_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.write(b'{"logical_shape": [')
        file.truncate(200 << 20)
    with (tmp_path / "huge.pickle").open("wb") as file:
        file.write(b"\x80\x04")
        file.truncate(200 << 20)
    for huge in (path, tmp_path / "huge.pickle"):
        tracemalloc.start()
        try:
            assert code_of(huge) == "SM006"
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 4 << 20


def test_files_that_are_no_map(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert code_of(path) == "SM001"
    for data in (
        b"",
        b"\x7fELF\x02\x01",
        b"hello",
        b"\x93NUMPY",
        b"  \n ",
        b"\x80\x02",
        b"PK\x03\x04",
        b"{" + b"\0" * 9,
    ):
        path.write_bytes(data)
        assert code_of(path) == "SM001"
    path.write_bytes(as_bytes(rows_map())[:-5])
    assert code_of(path) == "SM001"


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_binary_garbage_is_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage"
    path.write_bytes(data)
    assert code_of(path) in {"SM001", "SM003", "SM005", "SM006", "SM007"}


def test_limits_are_the_callers(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(as_bytes(rows_map()))
    assert code_of(path, Limits(json_bytes=10)) == "SM006"
    assert code_of(path, Limits(depth=3)) == "SM006"


def test_directories_without_a_checkpoint(tmp_path: Path) -> None:
    assert code_of(tmp_path) == "SM001"
    (tmp_path / "latest").write_text("step1")
    assert code_of(tmp_path) == "SM001"


@pytest.mark.parametrize("tag", ["../outside", "/", "..", ".", "", "a/b", "\x1b[2J", "x\0y"])
def test_latest_cannot_lead_out_of_the_directory(tmp_path: Path, tag: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mp_rank_00_model_states.pt").write_bytes(b"PK\x03\x04")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "latest").write_text(tag)
    assert code_of(inside) == "SM001"


def test_the_folder_that_latest_names_is_read_else_the_only_one(tmp_path: Path) -> None:
    for step in ("step1", "step2"):
        folder = tmp_path / step
        folder.mkdir()
        (folder / "mp_rank_00_model_states.pt").write_bytes(
            (SAMPLES / "deepspeed/damaged/src_shift/mp_rank_00_model_states.pt").read_bytes()
        )
    assert code_of(tmp_path) == "SM001"
    (tmp_path / "latest").write_text("step2\n")
    assert read(tmp_path, display="ckpt/").subjects[0].origin.file == "ckpt/step2/mp_rank_00_model_states.pt"


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert code_of(pipe) == "SM001"


def test_the_marker_is_where_the_payloads_put_it() -> None:
    assert str(MARKER).encode() in (SAMPLES / "hostile/os_system_reduce.pickle").read_bytes()
    assert MARKER.parent == Path("/tmp") or MARKER.parent == Path(tempfile.gettempdir())
