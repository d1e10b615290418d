from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.formats.audited import replay_entry, said
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, mutants, outcome
from tests.formats.safetensors.samples import INDEX, MODEL, a_file, entries, framed, write_model
from verifier.audit.check import Settings
from verifier.audit.manifest import read_manifest
from verifier.formats import Request, read

FORMATS = {entry["path"]: entry["format"] for entry in json.loads((SAMPLES / "manifest.json").read_text())}
ENTRIES = [
    entry
    for entry in read_manifest(SAMPLES / "manifest.json")
    if FORMATS[entry.path.relative_to(SAMPLES).as_posix()] in ("safetensors", "safetensors-index")
]
FIRST, SECOND = MODEL
Damage = Callable[[Path], object]
TWO = {"a": ("F32", (2, 3)), "b": ("BF16", (5,))}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path.relative_to(SAMPLES).as_posix())
def test_every_sample_has_its_verdict_and_cause(entry) -> None:  # type: ignore[no-untyped-def]
    replayed = replay_entry(entry, Settings(repair=False))
    assert replayed.agrees, replayed.got


def test_the_samples_are_there() -> None:
    assert len(ENTRIES) == 19


def test_a_sound_model_is_proved_and_says_what_was_not_looked_at(tmp_path: Path) -> None:
    found = said(write_model(tmp_path / "model"))
    assert (found.verdict, found.codes, found.warnings) == ("proved", (), ())
    assert found.checks == {"index entries": 4, "total sizes": 1, "tensor sizes": 4}
    assert {name.rpartition("/")[2] for name in found.proved} >= {"embed", "head", FIRST, SECOND}
    assert any(line.startswith("values: ") for line in found.unchecked)


def edit_index(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    index = json.loads((folder / INDEX).read_text())
    change(index)
    (folder / INDEX).write_text(json.dumps(index))


def edit_header(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    change(header)
    path.write_bytes(framed(header, data[8 + length :]))


def cut(path: Path, number: int) -> None:
    path.write_bytes(path.read_bytes()[:-number])


def store_twice(folder: Path) -> None:
    (folder / SECOND).write_bytes(a_file({**MODEL[SECOND], "norm": ("BF16", (4,))}))
    edit_index(folder, lambda index: index["metadata"].update(total_size=index["metadata"]["total_size"] + 8))


def move_tensor(folder: Path) -> None:
    """``norm`` is in the second file now; the index still says the first."""
    (folder / FIRST).write_bytes(a_file({"embed": ("F32", (6, 4))}))
    (folder / SECOND).write_bytes(a_file({**MODEL[SECOND], "norm": ("BF16", (4,))}))


def entry_of(name: str, **fields: object) -> Damage:
    """Other fields of a tensor in the first file."""
    return lambda model: edit_header(model / FIRST, lambda header: header[name].update(fields))


def listed(**files: object) -> Damage:
    """Other entries of the index."""
    return lambda model: edit_index(model, lambda index: index["weight_map"].update(files))


def written(name: str, data: bytes) -> Damage:
    """Another content of a file."""
    return lambda model: (model / name).write_bytes(data)


def total_size(change: Callable[[int], object]) -> Damage:
    def edited(index: dict[str, Any]) -> None:
        index["metadata"]["total_size"] = change(index["metadata"]["total_size"])

    return lambda model: edit_index(model, edited)


HOLE = {
    "embed": {"dtype": "F32", "shape": [6, 4], "data_offsets": [0, 96]},
    "norm": {"dtype": "BF16", "shape": [4], "data_offsets": [100, 108]},
}
EMPTY_INSIDE = {
    **entries(MODEL[FIRST]),
    "e": {"dtype": "U8", "shape": [0], "data_offsets": [1, 1]},
}
LFS = b"version https://git-lfs.github.com/spec/v1\n"

DAMAGES: dict[str, tuple[Damage, str]] = {
    "a file is gone": (lambda model: (model / SECOND).unlink(), "CK101"),
    "the last bytes of a file are gone": (lambda model: cut(model / FIRST, 3), "CK102"),
    "a file ends inside its header": (lambda model: cut(model / FIRST, 150), "SM001"),
    "bytes are left at the end": (lambda model: (model / FIRST).open("ab").write(b"12345678"), "CK107"),
    "two tensors share bytes": (entry_of("norm", data_offsets=[90, 98]), "SM403"),
    "bytes between tensors belong to none": (written(FIRST, framed(HOLE, bytes(108))), "SM301"),
    "a shape needs more bytes": (entry_of("norm", shape=[5]), "CK113"),
    "a type needs more bytes": (entry_of("norm", dtype="F32"), "CK113"),
    "a type nobody knows": (entry_of("norm", dtype="Q4"), "SM002"),
    "a dimension is negative": (entry_of("embed", shape=[-6, -4]), "SM104"),
    "a name stands twice in a header": (written(FIRST, framed(b'{"e": {}, "e": {}}', b"")), "SM003"),
    "the index names a tensor of no file": (listed(ghost=FIRST), "CK103"),
    "a tensor moved to another file": (move_tensor, "CK103"),
    "the index lacks a tensor": (
        lambda model: edit_index(model, lambda index: index["weight_map"].pop("norm")),
        "CK105",
    ),
    "a tensor is in two files": (store_twice, "CK106"),
    "a stray file has a listed tensor": (
        written("model.safetensors", a_file({"norm": ("BF16", (4,))})),
        "CK106",
    ),
    "total_size is off by one": (total_size(lambda stated: stated + 1), "CK113"),
    "total_size is a word": (total_size(lambda _: "many"), "SM005"),
    "the index leaves the folder": (listed(norm="../../other.safetensors"), "CK109"),
    "the index names an absolute path": (listed(norm="/etc/passwd"), "CK109"),
    "an index entry is no file name": (listed(norm=7), "SM002"),
    "an index key stands twice": (written(INDEX, b'{"weight_map": {"a": "x", "a": "y"}}'), "SM003"),
    "the index has no map": (written(INDEX, b"{}"), "SM002"),
    "an empty tensor inside another one": (written(FIRST, framed(EMPTY_INSIDE, bytes(104))), "CK104"),
    "a Git LFS pointer": (written(FIRST, LFS), "SM001"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_model_damaged_in_one_place_is_found(damage: str, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    change, code = DAMAGES[damage]
    change(model)
    found = said(model)
    assert found.verdict in ("refuted", "unreadable")
    assert code in found.codes, found.sentences
    assert all(str(tmp_path) not in sentence for sentence in found.sentences)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (
            "a file is gone",
            f'{INDEX}: the file "{SECOND}" is not there, the index puts 2 tensors into it',
        ),
        (
            "a tensor moved to another file",
            f'{INDEX}: the tensor "norm" is in "{SECOND}", the index puts it into "{FIRST}"',
        ),
        (
            "the last bytes of a file are gone",
            f'{FIRST}: the bytes of "norm" end at byte 104 behind the header, the file at byte 101',
        ),
        (
            "a shape needs more bytes",
            f'{FIRST}: "norm" of type BF16 and shape [5] has 8 bytes, and needs 10 bytes',
        ),
    ],
)
def test_what_people_read(damage: str, sentence: str, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    DAMAGES[damage][0](model)
    assert sentence in said(model).sentences


def test_many_faults_of_one_cause_are_one_finding(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    edit_index(model, lambda index: index["weight_map"].update({f"ghost{k}": FIRST for k in range(500)}))
    found = said(model)
    assert found.codes == ("CK103",)
    assert "(the first of 500 places)" in found.sentences[0]


def test_an_index_may_write_a_path_or_a_size_in_another_way(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    edit_index(model, lambda index: index["weight_map"].update(head=f"./{index['weight_map']['head']}"))
    edit_index(model, lambda index: index["metadata"].update(total_size=str(index["metadata"]["total_size"])))
    found = said(model)
    assert (found.verdict, found.codes, found.checks["total sizes"]) == ("proved", (), 1)
    edit_index(model, lambda index: index["metadata"].update(total_size="1"))
    assert said(model).codes == ("CK113",)
    edit_index(model, lambda index: index["metadata"].update(total_size="many"))
    assert said(model).codes == ("SM005",)


def lose_second(model: Path) -> None:
    """The entries of the second file go, and its share of the size."""

    def change(index: dict[str, Any]) -> None:
        lost = [name for name, file in index["weight_map"].items() if file == SECOND]
        for name in lost:
            del index["weight_map"][name]
        del index["metadata"]

    edit_index(model, change)


def test_file_and_entries_lost_together_show_in_the_names_of_the_others(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    lose_second(model)
    for path in (model, model / INDEX):
        found = said(path)
        assert found.codes == ("CK105",)
        assert SECOND in found.sentences[0]
    (model / SECOND).unlink()
    for path in (model, model / INDEX):
        found = said(path)
        assert found.codes == ("CK101",)
        assert f'the file "{SECOND}" is not there' in found.sentences[0]


def test_an_emptied_index_does_not_hide_its_files(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / "adapter.safetensors").write_bytes(a_file({"a": ("F32", (1,))}))
    edit_index(model, lambda index: index.update(weight_map={}, metadata={"total_size": 0}))
    found = said(model)
    assert (found.codes, found.warnings) == (("CK105",), ("CK202",))
    assert "(the first of 4 places)" in found.sentences[0]


def test_an_index_is_a_path_of_its_own(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / "adapter.safetensors").write_bytes(b"not read")
    assert said(model / INDEX).verdict == "proved"
    assert said(model).verdict == "unreadable"
    (model / FIRST).unlink()
    assert said(model / INDEX).codes == ("CK101",)


def test_numbered_files_without_an_index_count_each_other(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / INDEX).unlink()
    whole = said(model)
    assert whole.verdict == "proved"
    assert any("there is no index" in line for line in whole.unchecked)
    (model / FIRST).unlink()
    assert said(model).codes == ("CK101",)
    (model / FIRST).write_bytes((model / SECOND).read_bytes())
    assert said(model).codes == ("CK106",)


def test_files_of_other_models_are_remarks(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / "consolidated.safetensors").write_bytes(a_file({"tok_embeddings": ("F32", (6, 4))}))
    (model / "model.fp16.safetensors").write_bytes(a_file({"norm": ("BF16", (4,))}))
    (model / "pytorch_model.bin").write_bytes(b"")
    (model / "original").mkdir()
    (model / "original" / "x.safetensors").write_bytes(a_file(TWO))
    found = said(model)
    assert (found.verdict, found.warnings) == ("proved", ("CK202", "CK202", "CK202"))


@pytest.mark.parametrize("below", ["", "unet", "deep/er"])
def test_the_cache_of_hugging_face_is_a_folder_of_links(below: str, tmp_path: Path) -> None:
    blobs = write_model(tmp_path / "models--x" / "blobs")
    model = tmp_path / "models--x" / "snapshots" / "0123" / below
    model.mkdir(parents=True)
    for file in blobs.iterdir():
        (model / file.name).symlink_to(os.path.relpath(file, model))
    found = said(model)
    assert (found.verdict, found.warnings) == ("proved", ())


def test_a_link_out_of_the_folder_is_followed_and_named(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    shutil.move(model / FIRST, tmp_path / "elsewhere.safetensors")
    (model / FIRST).symlink_to("../elsewhere.safetensors")
    found = said(model)
    assert (found.verdict, found.warnings) == ("proved", ("CK206",))
    assert f'the link "{FIRST}" leads out of the folder' in found.sentences[0]
    cut(tmp_path / "elsewhere.safetensors", 1)
    assert said(model).codes == ("CK102",)


def test_a_name_that_leads_to_no_file_is_a_missing_file(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / "loop.safetensors").symlink_to("loop.safetensors")
    assert said(model).codes == ("CK101",)
    (model / "loop.safetensors").unlink()
    (model / INDEX).unlink()
    (model / SECOND).unlink()
    os.mkfifo(model / SECOND)
    found = said(model)
    assert found.codes == ("CK101",)
    assert f'the file "{SECOND}" is not there' in found.sentences[0]


def test_one_unreadable_file_hides_no_other(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / FIRST).write_bytes(b"broken")
    cut(model / SECOND, 1)
    found = said(model)
    assert set(found.codes) == {"SM001", "CK102"}
    assert "head" in found.proved


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_refused_alone(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / FIRST).chmod(0)
    assert said(model).codes == ("SM001",)


def test_shapes_from_elsewhere_are_compared(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    shapes = {"embed": (6, 4), "norm": (4,), "head": (4, 6), "scale": (), "absent": (1,)}
    assert sorted(said(model, shapes=shapes).codes) == ["CK111", "SM507"]


def test_a_shard_of_torch_alone_proves_nothing_of_its_tensors(tmp_path: Path) -> None:
    file = tmp_path / "shard-00001-model-00001-of-00001.safetensors"
    file.write_bytes(a_file(TWO, {"DCP_SHARDING_INFO": "{}"}))
    found = said(file)
    assert found.verdict == "proved"
    assert [name.rpartition("/")[2] for name in found.proved] == [file.name]
    assert any("name the folder" in line for line in found.unchecked)


def test_no_mutant_crashes_the_reader(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    sound = a_file({**TWO, "e": ("U8", (0, 3)), "s": ("F64", ())}, {"format": "pt"})
    file.write_bytes(sound)
    original = identity(read(file, request=Request(input_format="safetensors")))
    seen = set()
    for mutant in mutants(sound, seed=7, count=300):
        file.write_bytes(mutant)
        seen.add(outcome(file, "safetensors", original))
    assert seen >= {"refused", "refuted"}
