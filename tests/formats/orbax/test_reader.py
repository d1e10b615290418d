"""Orbax checkpoints: the good ones are proved, and nothing is claimed beyond what the files say."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.formats.audited import said
from tests.formats.documents import SAMPLES
from tests.formats.mutating import mutants
from tests.formats.orbax.checkpoints import (
    Array,
    copied,
    dump,
    edit,
    encoded,
    gone,
    judged,
    leaf_of,
    resharded,
    resized,
    sharding,
    write_orbax,
    write_zarr2,
)
from verifier.formats import FormatError, Limits, Request, read

MANIFEST = json.loads((SAMPLES / "manifest.json").read_text())
ENTRIES = [entry for entry in MANIFEST if entry["format"] == "orbax"]

SAMPLE_CODES = {
    "orbax_missing_chunk": "CK111",
    "orbax_truncated_chunk": "CK102",
    "orbax/damaged/chunk_file_missing": "CK111",
    "orbax/damaged/zarray_shape_grown": "CK111",
    "orbax/damaged/chunk_extra": "CK112",
    "orbax/damaged/sharding_unknown_axis": "CK115",
    "orbax/damaged/sharding_not_divisible": "CK115",
    "orbax/damaged/leaf_missing": "CK105",
    "orbax/damaged/array_dir_missing": "CK101",
    "orbax/damaged/chunk_file_missing_older_metadata": "CK111",
}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["path"])
def test_samples_of_the_library_have_their_verdicts(entry: dict[str, Any]) -> None:
    codes = [SAMPLE_CODES[entry["path"]]] if entry["path"] in SAMPLE_CODES else []
    assert judged(SAMPLES / entry["path"]) == (entry["verdict"], codes)
    assert (entry["verdict"] == "proved") == (not codes)


@pytest.fixture(scope="module")
def good2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_orbax(tmp_path_factory.mktemp("orbax") / "zarr2", version=2)


@pytest.fixture(scope="module")
def good3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_orbax(tmp_path_factory.mktemp("orbax") / "zarr3", version=3)


@pytest.fixture
def copy2(good2: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good2, tmp_path / "copy"))


@pytest.fixture
def copy3(good3: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good3, tmp_path / "copy"))


@pytest.mark.parametrize("version", [2, 3])
def test_good_checkpoints_are_proved_and_what_holds_is_counted(
    version: int, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(f"good{version}")
    assert judged(folder) == ("proved", [])
    document = read(folder, display="ckpt")
    assert document.kind == "orbax"
    assert document.checks == {
        "block lists of processes": 1,
        "block shapes": 4,
        "chunk keys": 26,
        "chunk shapes": 4,
        "chunk sizes": 26,
        "device meshes": 4,
    }
    assert {boxes.boxes.name: boxes.boxes.count for boxes in document.boxes} == {
        "layer.w": 8, "layer.v": 8, "layer.rep": 1, "uneven": 8, "scale": 1,
    }  # fmt: skip
    uneven = next(boxes.boxes for boxes in document.boxes if boxes.boxes.name == "uneven")
    assert uneven.box(7) == ((4, 3), (3, 1))
    (note,) = document.unchecked
    assert "exchanged" in note


def test_devices_with_the_same_elements_name_each_other(good2: Path) -> None:
    maps = {subject.name: subject.shard_map for subject in read(good2).subjects}
    assert maps["layer.rep on devices"].ranks[3].pieces[0].locations == tuple(range(8))
    assert maps["layer.w on devices"].ranks[6].pieces[0].locations == (6,)
    # Device 5 is at data 1, model 1; data varies slowest.
    assert maps["layer.v on devices"].ranks[5].pieces[0].source.offset == 5 * 2 * 6


def test_sentences_name_both_sides(copy2: Path) -> None:
    gone("layer.w/1.2", "layer.w/1.1")(copy2)
    resized("layer.v/3.0", -4)(copy2)
    copied("uneven/0.0", "uneven/2.0")(copy2)
    resharded("layer.rep", lambda s: s.update(partition_spec=["data"]))(copy2)
    assert said(copy2).sentences == (
        'layer.w/.zarray: chunk 1.1 of "layer.w" is not stored,'
        " an array [8, 12] cut into [4, 3] has 2 x 4 chunks (the first of 2 places)",
        'layer.v/3.0: chunk 3.0 of "layer.v" has 44 bytes, its elements need 48',
        '_sharding: the sharding of "layer.rep" cuts dimension 0 into 2 parts,'
        " 5 elements are not divisible by it",
        'uneven: chunk 2.0 of "uneven" is stored, an array [7, 4] cut into [4, 1] has 2 x 4 chunks',
    )


@pytest.mark.parametrize(
    ("writes_fill", "fill", "answer"),
    [
        (True, None, ("refuted", ["CK111"])),
        (True, 0.0, ("refuted", ["CK111"])),
        # Without a fill value writers leave no chunk out, whatever the tree says.
        (None, None, ("refuted", ["CK111"])),
        (False, None, ("refuted", ["CK111"])),
        (None, 0.0, ("undecided", ["CK111"])),
        (False, 0.0, ("undecided", ["CK111"])),
    ],
)
def test_what_a_missing_chunk_means(
    writes_fill: bool | None, fill: float | None, answer: tuple[str, list[str]], tmp_path: Path
) -> None:
    folder = write_orbax(tmp_path / "item", writes_fill=writes_fill)
    edit(folder / "layer.w" / ".zarray", lambda z: z.update(fill_value=fill))
    assert judged(folder) == ("proved", [])
    gone("layer.w/1.1", "layer.w/1.3")(folder)
    assert judged(folder) == answer
    (boxes,) = [boxes for boxes in read(folder).boxes if boxes.faults]
    (fault,) = boxes.faults
    assert fault.undecided == (answer[0] == "undecided")
    assert fault.pieces == ((5, 0),)
    assert fault.count is not None
    assert fault.count.number == 2
    assert "1.1" in str(fault.values["what"])


def test_a_grid_of_which_nothing_is_stored_costs_nothing(copy2: Path) -> None:
    edit(copy2 / "layer.w" / ".zarray", lambda z: z.update(shape=[2**40, 2**20], chunks=[4, 3]))
    assert judged(copy2) == ("refuted", ["CK111"])
    (fault,) = read(copy2).faults
    assert fault.count is not None
    assert fault.count.number == 2**38 * -(-(2**20) // 3) - 8
    edit(copy2 / "layer.w" / ".zarray", lambda z: z.update(fill_value=0))
    edit(copy2 / "_METADATA", lambda m: m.pop("store_array_data_equal_to_fill_value"))
    assert judged(copy2) == ("unreadable", ["SM006"])


def test_the_chunks_of_all_arrays_together_are_limited(good2: Path) -> None:
    with pytest.raises(FormatError, match="more files than the limit of 5"):
        read(good2, limits=Limits(entries=5))
    document = read(good2, limits=Limits(entries=24))
    assert {refusal.code for refusal in document.refusals} == {"SM006"}
    assert {boxes.boxes.name for boxes in document.boxes}


def test_one_unreadable_file_hides_nothing_else(copy2: Path) -> None:
    for name in ("_sharding", "layer.w/.zarray"):
        (copy2 / name).unlink()
        (copy2 / name).mkdir()
    gone("layer.v/3.0")(copy2)
    document = read(copy2, display="ckpt")
    assert [(r.name, r.code, r.origin.file) for r in document.refusals] == [
        ("_sharding", "SM001", "ckpt/_sharding")
    ]
    assert [fault.values["what"] for fault in document.faults] == ['the array "layer.w"']
    assert [b.boxes.name for b in document.boxes if b.faults] == ["layer.v"]
    assert any("on which devices" in note for note in document.unchecked)


def test_pipes_are_not_opened_and_links_that_lead_out_are_named(copy2: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (copy2 / "layer.w").rename(outside)
    (copy2 / "layer.w").symlink_to(outside, target_is_directory=True)
    assert (judged(copy2), said(copy2).warnings) == (("proved", []), ("CK206",))
    (copy2 / "scale" / "0").unlink()
    os.mkfifo(copy2 / "scale" / "0")
    assert judged(copy2)[1] == ["CK111"]


def test_a_folder_without_anything_has_no_tree(tmp_path: Path) -> None:
    document = read(tmp_path, request=Request(input_format="orbax"))
    assert [fault.code for fault in document.faults] == ["CK101"]
    with pytest.raises(FormatError, match="no map is in this directory"):
        read(tmp_path)


def test_files_that_are_no_chunks_are_remarked(copy2: Path) -> None:
    (copy2 / "layer.w" / "0.0.tmp").write_text("left")
    (remark,) = read(copy2, display="ckpt").remarks
    assert (remark.code, remark.values["file"]) == ("CK202", "ckpt/layer.w")
    assert judged(copy2) == ("proved", [])


def test_other_kinds_of_leaves_and_shardings_are_told_apart(copy2: Path) -> None:
    def tree(value: Any) -> None:
        for name, kind in (("text", "string"), ("none", "None"), ("odd", "my.Type")):
            value["tree_metadata"][name] = leaf_of(name)
            value["tree_metadata"][name]["value_metadata"]["value_type"] = kind

    edit(copy2 / "_METADATA", tree)
    one = {"sharding_type": "SingleDeviceSharding", "device_str": "cpu:0"}
    edit(copy2 / "_sharding", lambda s: s.update({encoded("scale"): json.dumps(one)}))
    document = read(copy2)
    assert [fault.values["what"] for fault in document.faults] == ["the file _strings.json"]
    assert "scale on devices" not in {subject.name for subject in document.subjects}
    (copy2 / "_strings.json").write_text("{}")
    assert judged(copy2) == ("proved", [])
    assert 'leaves of a type that is not known (1): "odd"' in read(copy2).unchecked
    edit(copy2 / "_sharding", lambda s: s.pop(encoded("scale")))
    assert any("does not name (1)" in note for note in read(copy2).unchecked)


def test_older_checkpoints_without_side_files_are_read(copy2: Path) -> None:
    gone("_sharding", "array_metadatas")(copy2)
    assert judged(copy2) == ("proved", [])
    assert read(copy2).subjects == ()
    edit(copy2 / "_METADATA", lambda m: m.pop("use_ocdbt"))
    assert judged(copy2) == ("proved", [])


def test_stated_shapes_are_compared(good2: Path) -> None:
    assert judged(good2, shapes={"layer.w": (8, 12)}) == ("proved", [])
    assert judged(good2, shapes={"layer.w": (8, 13)}) == ("refuted", ["SM507"])


def test_mutants_are_judged_or_refused(tmp_path: Path) -> None:
    folder = tmp_path / "item"
    folder.mkdir()
    small = Array((2, 2), ["data", "model"], (1, 2))
    for name, value in _small().items():
        dump(folder / name, value)
    write_zarr2(folder / "w", small)
    answers: dict[str, int] = {}
    for name in ("_METADATA", "_sharding", "w/.zarray"):
        data = (folder / name).read_bytes()
        for mutant in mutants(data, seed=7, count=100):
            (folder / name).write_bytes(mutant)
            verdict, _ = judged(folder)
            answers[verdict] = answers.get(verdict, 0) + 1
        (folder / name).write_bytes(data)
    assert judged(folder) == ("proved", [])
    assert set(answers) == {"proved", "refuted", "unreadable"}


def _small() -> dict[str, object]:
    leaf = leaf_of("w")
    leaf["value_metadata"]["write_shape"] = [1, 2]
    mesh = sharding(["data", "model"], {"data": 2, "model": 1})
    return {
        "_METADATA": {"tree_metadata": {"('w',)": leaf}, "use_ocdbt": False},
        "_sharding": {encoded("w"): json.dumps(mesh)},
    }
