"""What ``shardproof audit`` is asked beside the maps themselves is done for every format, or said undone."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, Ran, shardproof
from tests.cli.unprivileged import unprivileged
from tests.formats.documents import archive, as_bytes, edited, rows_map
from verifier.formats import read

FILES = CORPUS / "files"
WRONG = edited(edited(rows_map(), ("ranks", "0", "pieces", 0, "source"), [4, [2, 1]]),
               ("ranks", "1", "pieces", 0, "source"), [0, [2, 1]])  # fmt: skip


def says(ran: Ran, text: str) -> bool:
    """Whether a text was printed, however it was broken into lines."""
    return "".join(text.split()) in "".join(ran.out.split())


def shapes(path: Path, stated: dict[str, list[int]]) -> Path:
    path.write_text(json.dumps(stated))
    return path


Writing = Callable[[Path], Path]


def _json(folder: Path) -> Path:
    (folder / "m.json").write_bytes(as_bytes(rows_map()))
    return folder / "m.json"


def _params(folder: Path) -> Path:
    (folder / "all.json").write_bytes(as_bytes({"version": 1, "params": {"^m$": rows_map()}}))
    return folder / "all.json"


def _pickle(folder: Path) -> Path:
    (folder / "m.pickle").write_bytes(pickle.dumps(rows_map()))
    return folder / "m.pickle"


def _torch_save(folder: Path) -> Path:
    (folder / "m.pt").write_bytes(archive([("m/data.pkl", pickle.dumps(rows_map(), 2))]))
    return folder / "m.pt"


@pytest.mark.parametrize("written", [_json, _params, _pickle, _torch_save])
def test_expected_shapes_are_demanded_of_plain_maps(written: Writing, tmp_path: Path) -> None:
    path = written(tmp_path)
    for stated, code, found in [
        ({"m": [4, 2]}, 0, "not checked: whether it is the intended layout (no --reference)"),
        ({"m": [9]}, 1, "error[SM507]"),
        ({"m": [4, 2], "other": [1]}, 1, "error[CK111]"),
    ]:
        ran = shardproof("audit", path, "--expect-shapes", shapes(tmp_path / "s.json", stated))
        assert (ran.code, says(ran, found)) == (code, True), ran.out


@pytest.mark.parametrize("copy", ["deepspeed/autotp", "drift_nan_equal_bits", "ds_zero2_good"])
def test_expected_shapes_are_demanded_of_maps_in_checkpoints(copy: str, tmp_path: Path) -> None:
    maps = [subject.shard_map for subject in read(FILES / copy).subjects]
    right = {one.name: list(one.logical_shape) for one in maps}
    name = next(iter(right))
    assert shardproof("audit", FILES / copy, "--expect-shapes", shapes(tmp_path / "s.json", right)).code == 0
    for wrong, found in [
        ({**right, name: [7, 7]}, "error[SM507]"),
        ({**right, "other": [1]}, '"other"'),
    ]:
        ran = shardproof("audit", FILES / copy, "--expect-shapes", shapes(tmp_path / "s.json", wrong))
        assert says(ran, found), ran.out


def test_maps_of_several_files_have_the_expected_parameters_together(tmp_path: Path) -> None:
    folder = tmp_path / "maps"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.json").write_bytes(as_bytes(rows_map()))
    both = shapes(tmp_path / "both.json", {"a": [4, 2], "b": [4, 2]})
    more = shapes(tmp_path / "more.json", {"a": [4, 2], "b": [4, 2], "c": [1]})
    for paths in ([folder], sorted(folder.iterdir())):
        assert shardproof("audit", *paths, "--expect-shapes", both).code == 0
        ran = shardproof("audit", *paths, "--expect-shapes", more)
        assert (ran.code, ran.out.count("error[CK111]")) == (1, 1)


def test_a_reference_of_several_maps_is_met_by_several_files_together(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.json").write_bytes(as_bytes(rows_map()))
    params = {f"^{name}$": rows_map() for name in "abc"}
    reference = tmp_path / "reference"
    reference.write_bytes(as_bytes({"version": 1, "params": params}))
    ran = shardproof("audit", tmp_path / "a.json", tmp_path / "b.json", "--reference", reference)
    assert (ran.code, ran.out.count("error[SM502]")) == (1, 1)
    assert says(ran, 'none of 2 documents has a parameter "c"')
    del params["^c$"]
    reference.write_bytes(as_bytes({"version": 1, "params": params}))
    assert shardproof("audit", tmp_path / "a.json", tmp_path / "b.json", "--reference", reference).code == 0


def test_single_maps_are_compared_whatever_their_names(tmp_path: Path) -> None:
    one, same, other = (tmp_path / f"{name}.json" for name in ("one", "same", "other"))
    one.write_bytes(as_bytes(rows_map()))
    same.write_bytes(as_bytes(rows_map()))
    other.write_bytes(as_bytes(WRONG))
    assert shardproof("audit", same, "--reference", one).code == 0
    ran = shardproof("audit", other, "--reference", one)
    assert (ran.code, "error[SM501]" in ran.out, "SM502" in ran.out) == (1, True, False)


@pytest.mark.parametrize(
    "copy", ["dcp/shard0_w4", "safetensors/llama_tiny", "deepspeed/autotp", "orbax/zarr2"]
)
def test_values_that_a_format_does_not_have_are_said_to_be_unread(copy: str) -> None:
    ran = shardproof("audit", FILES / copy, "--values")
    assert says(ran, "--values: says nothing for this format"), ran.out
    assert not says(shardproof("audit", FILES / copy), "--values: says")


@pytest.mark.parametrize(
    ("data", "is_named"),
    [
        (archive([("m/data.pkl", pickle.dumps(rows_map(), 2))]), "a zip archive"),
        (as_bytes(rows_map()), "JSON text"),
        ((40).to_bytes(8, "little") + b"{}" + b" " * 38, "a safetensors file"),
    ],
)
def test_a_file_that_is_not_of_the_stated_format_is_told_what_it_is(
    data: bytes, is_named: str, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(data)
    ran = shardproof("audit", tmp_path / "x", "--input-format", "dcp")
    assert ran.code == 2
    assert says(ran, f"this is {is_named}")
    assert says(ran, "torch distributed checkpoint was asked for")
    assert "hostile" not in ran.out


def test_an_unreadable_data_file_is_one_finding(tmp_path: Path) -> None:
    folder = tmp_path / "dcp"
    shutil.copytree(FILES / "dcp" / "fsdp2_adamw_w4", folder)
    (folder / "__1_0.distcp").chmod(0)
    ran = unprivileged("audit", folder, "--payload", "--format", "json")
    findings = [found for subject in json.loads(ran.out)["subjects"] for found in subject["findings"]]
    assert ran.code == 2
    assert [(found["code"], found["place"]["file"]) for found in findings] == [
        ("SM001", f"{folder}/__1_0.distcp")
    ]
    assert "Permission denied" in findings[0]["message"]


def test_what_lists_no_map_is_unchecked_and_what_is_no_map_is_unreadable(tmp_path: Path) -> None:
    """As the help says, and as exit codes are defined."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "none.json").write_bytes(as_bytes({"version": 1, "params": {}}))
    (tmp_path / "other.json").write_bytes(as_bytes({"a": 1}))
    codes = [shardproof("audit", tmp_path / name).code for name in ("empty", "none.json", "other.json")]
    assert codes == [2, 4, 2]


@pytest.mark.parametrize("copy", ["safetensors/llama_tiny", "dcp/shard0_w4"])
def test_a_copy_of_a_checkpoint_elsewhere_is_the_same(copy: str, tmp_path: Path) -> None:
    """The bytes of a file are no parameter that the other one could have."""
    shutil.copytree(FILES / copy, tmp_path / "copy")
    assert shardproof("audit", tmp_path / "copy", "--reference", FILES / copy).code == 0
    assert shardproof("diff", tmp_path / "copy", FILES / copy).code == 0
