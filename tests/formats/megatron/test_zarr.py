"""Megatron-core checkpoints in zarr: every chunk is there with its bytes, and every shard of an object."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.formats.documents import SAMPLES
from tests.formats.mutating import mutants
from tests.formats.orbax.checkpoints import Damage, copied, gone, in_file, judged, resized
from verifier.formats import Limits, Request, read
from verifier.formats.megatron.zarr import read_megatron_zarr
from verifier.model.origin import Origin

GOOD = SAMPLES / "megatron" / "v012_zarr_flat"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The good sample, with an object of 2 x 2 shards added."""
    folder = Path(shutil.copytree(GOOD, tmp_path / "copy"))
    (folder / "state").mkdir()
    for place in ("0.0", "0.1", "1.0", "1.1"):
        (folder / "state" / f"shard_{place}_2.2.pt").write_bytes(b"object")
    return folder


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("v012_zarr_flat", ("proved", [])),
        ("damaged/zarr_chunk_missing", ("refuted", ["CK111"])),
        ("damaged/zarr_chunk_short", ("refuted", ["CK113"])),
    ],
)
def test_samples_of_the_library_have_their_verdicts(path: str, answer: tuple[str, list[str]]) -> None:
    assert judged(SAMPLES / "megatron" / path) == answer


def test_what_holds_is_counted_and_locks_are_passed_over(copy: Path) -> None:
    document = read(copy, display="ckpt")
    assert document.kind == "megatron"
    assert document.checks == {"chunk keys": 8, "chunk sizes": 8, "sharded objects": 4}
    assert [boxes.boxes.name for boxes in document.boxes] == ["opt.r", "opt.w", "r", "w"]
    assert document.boxes[3].boxes.box(1) == ((4, 0), (4, 6))
    assert (document.remarks, document.refusals) == ((), ())
    assert any("nothing in the checkpoint lists them" in note for note in document.unchecked)


def _later(field: str) -> Any:
    return lambda metadata: metadata.update({field: 2})


DAMAGES: list[tuple[str, Damage, list[str]]] = [
    ("chunk lost", gone("w/1.0"), ["CK111"]),
    ("all chunks lost", gone("w/0.0", "w/1.0"), ["CK111"]),
    ("chunk left over", copied("w/1.0", "w/2.0"), ["CK112"]),
    ("chunk short", resized("w/1.0", -6), ["CK113"]),
    ("chunk long", resized("w/1.0", 6), ["CK113"]),
    ("chunk empty", resized("w/1.0", -96), ["CK113"]),
    ("metadata lost", gone("w/.zarray"), ["CK101"]),
    ("metadata cut", resized("w/.zarray", -20), ["SM001"]),
    ("metadata empty", resized("w/.zarray", -1000), ["SM001"]),
    ("version", in_file("w/.zarray", lambda z: z.update(zarr_format=1)), ["SM004"]),
    ("shape grown", in_file("w/.zarray", lambda z: z.update(shape=[12, 6])), ["CK111"]),
    ("shape shrunk", in_file("w/.zarray", lambda z: z.update(shape=[4, 6])), ["CK112"]),
    ("shape negative", in_file("w/.zarray", lambda z: z.update(shape=[-8, 6])), ["SM002"]),
    ("shape in text", in_file("w/.zarray", lambda z: z.update(shape=["8", 6])), ["SM005"]),
    ("shape huge", in_file("w/.zarray", lambda z: z.update(shape=[2**60, 6])), ["CK111"]),
    ("other axes", in_file("w/.zarray", lambda z: z.update(shape=[8, 6, 1])), ["SM002"]),
    ("wider type", in_file("w/.zarray", lambda z: z.update(dtype="<f8")), ["CK113"]),
    ("other chunks", in_file("w/.zarray", lambda z: z.update(chunks=[4, 3])), ["CK111", "CK113"]),
    ("no type", in_file("w/.zarray", lambda z: z.pop("dtype")), ["SM002"]),
    ("unknown type", in_file("w/.zarray", lambda z: z.update(dtype="<f4x")), ["SM002"]),
    ("unknown order", in_file("w/.zarray", lambda z: z.update(order="Cx")), ["SM002"]),
    ("common state lost", gone("common.pt"), ["CK101"]),
    ("common state cut", resized("common.pt", -1), ["SM001"]),
    ("common state of no archive", resized("common.pt", -(10**6)), ["SM001"]),
    ("backend of another version", in_file("metadata.json", _later("sharded_backend_version")), ["SM004"]),
    ("common state of another", in_file("metadata.json", _later("common_backend_version")), ["SM004"]),
    ("shard of an object lost", gone("state/shard_1.0_2.2.pt"), ["CK111"]),
    ("shard of an object left over", copied("common.pt", "state/shard_2.0_2.2.pt"), ["CK112"]),
    ("object of two grids", copied("common.pt", "state/shard_0_4.pt"), ["CK114"]),
    ("object of a huge grid", copied("common.pt", "other/shard_0_999999999999999.pt"), ["CK111"]),
]


@pytest.mark.parametrize(("_", "damage", "codes"), DAMAGES, ids=[name for name, _, _ in DAMAGES])
def test_damage_is_found(_: str, damage: Damage, codes: list[str], copy: Path) -> None:
    (copy / "other").mkdir()
    assert judged(copy) == ("proved", [])
    damage(copy)
    verdict, found = judged(copy)
    assert verdict in ("refuted", "unreadable")
    assert sorted(set(found)) == codes


def test_files_that_belong_to_nothing_are_remarked(copy: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (copy / name).write_text("?")
    (remark,) = read(copy).remarks
    assert (remark.code, remark.values["what"]) == ("CK202", 'the file "a.txt"')
    assert remark.count is not None
    assert remark.count.number == 2


def test_one_bad_folder_hides_no_other(copy: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (copy / "r").rename(outside)
    (copy / "r").symlink_to(outside, target_is_directory=True)
    assert [remark.code for remark in read(copy).remarks] == ["CK206"]
    (outside / ".zarray").write_text("{")
    edit_shape: Any = in_file("w/.zarray", lambda z: z.update(shape=None))
    edit_shape(copy)
    document = read(copy)
    assert [(refusal.name, refusal.code) for refusal in document.refusals] == [("r", "SM001"), ("w", "SM002")]
    assert [boxes.boxes.name for boxes in document.boxes] == ["opt.r", "opt.w"]


def test_stated_shapes_are_handed_on() -> None:
    document = read_megatron_zarr(GOOD, Origin("ckpt"), Request(shapes={"w": (8, 7)}, limits=Limits()))
    assert {b.boxes.name: b.expected_shape for b in document.boxes if b.expected_shape} == {"w": (8, 7)}


def test_mutants_are_judged_or_refused(copy: Path) -> None:
    data = (copy / "w" / ".zarray").read_bytes()
    answers = set()
    for mutant in mutants(data, seed=3, count=600):
        (copy / "w" / ".zarray").write_bytes(mutant)
        answers.add(judged(copy)[0])
    assert answers == {"proved", "refuted", "unreadable"}
    assert json.loads(data)
