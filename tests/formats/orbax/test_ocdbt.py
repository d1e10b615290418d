"""Orbax checkpoints in an OCDBT store: its keys are listed where tensorstore is installed."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path

import pytest

from tests.formats.documents import SAMPLES
from tests.formats.orbax.checkpoints import (
    Damage,
    gone,
    ids,
    in_file,
    judged,
    resharded,
    resized,
)
from verifier.formats import Limits, Request, read
from verifier.formats.orbax.ocdbt import can_list


def test_a_store_that_cannot_be_listed_is_judged_by_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.formats.orbax.reader.can_list", lambda: False)
    sample = SAMPLES / "orbax" / "standard"
    document = read(sample)
    assert (document.subjects, document.boxes, document.refusals) == ((), (), ())
    assert document.checks["device meshes"] == 7
    assert any("needs tensorstore" in note for note in document.unchecked)
    shapes = {"layer.w": (8, 12)}
    (subject,) = read(sample, request=Request(shapes=shapes)).subjects
    assert subject.shard_map.logical_shape == (8, 12)
    assert judged(sample, shapes={"layer.w": (9, 12)}) == ("refuted", ["CK115"])


def stored(name: str, value: bytes | None) -> Damage:
    """Another value under a key of the store, or none."""

    def damage(folder: Path) -> None:
        library = importlib.import_module("tensorstore")
        base = {"driver": "file", "path": f"{folder}/"}
        library.KvStore.open({"driver": "ocdbt", "base": base}).result().write(name, value).result()

    return damage


def array_of(shape: object, chunks: object, **fields: object) -> bytes:
    value = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<f4", "fill_value": None}
    value |= {"order": "C", "compressor": None, "filters": None}
    return json.dumps(value | fields).encode()


def _every_node_gone(folder: Path) -> None:
    for path in (folder / "d").iterdir():
        path.unlink()


OCDBT: list[tuple[str, Damage, list[str]]] = [
    ("manifest lost", gone("manifest.ocdbt"), ["CK101"]),
    ("manifest cut", resized("manifest.ocdbt", -3), ["SM001"]),
    ("manifest empty", resized("manifest.ocdbt", -(10**6)), ["SM001"]),
    ("tree of keys lost", _every_node_gone, ["SM001"]),
    ("chunk lost", stored("layer.w/1.2", None), ["CK111"]),
    ("chunk of an array without axes lost", stored("step/0", None), ["CK111"]),
    ("chunk left over", stored("layer.w/5.9", b"x"), ["CK112"]),
    ("metadata lost", stored("layer.w/.zarray", None), ["CK101"]),
    ("metadata no json", stored("layer.w/.zarray", b"{"), ["SM001"]),
    ("metadata empty", stored("layer.w/.zarray", b""), ["SM001"]),
    ("shape grown", stored("layer.w/.zarray", array_of([12, 12], [4, 3])), ["CK111"]),
    ("shape of a float", stored("layer.w/.zarray", array_of([8.0, 12], [4, 3])), ["SM005"]),
    ("shape huge", stored("layer.w/.zarray", array_of([2**40, 2**20], [4, 3])), ["CK111"]),
    ("chunks huge", stored("layer.w/.zarray", array_of([8, 12], [2**60, 2**60])), ["CK110", "CK112"]),
    ("version", stored("layer.w/.zarray", array_of([8, 12], [4, 3], zarr_format=3)), ["SM004"]),
    ("array without a leaf", stored("ghost/.zarray", array_of([], [])), ["CK105", "CK111"]),
    ("leaf lost", in_file("_METADATA", lambda m: m["tree_metadata"].pop("('layer', 'w')")), ["CK105"]),
    ("unknown axis", resharded("layer.w", lambda s: s.update(partition_spec=["data", "x"])), ["CK115"]),
    ("indivisible", resharded("layer.rep", lambda s: s.update(partition_spec=["data"])), ["CK115"]),
]


@pytest.mark.skipif(not can_list(), reason="listing the keys of OCDBT needs tensorstore")
@pytest.mark.parametrize(("_", "damage", "codes"), OCDBT, ids=ids(OCDBT))
def test_damage_to_a_store_is_found(_: str, damage: Damage, codes: list[str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SAMPLES / "orbax" / "standard", tmp_path / "copy"))
    damage(folder)
    verdict, found = judged(folder)
    assert verdict in ("refuted", "unreadable")
    assert sorted(set(found)) == sorted(codes)


@pytest.mark.skipif(not can_list(), reason="listing the keys of OCDBT needs tensorstore")
@pytest.mark.parametrize("name", ["ocdbt", "ocdbt_zarr3", "standard"])
def test_real_stores_are_listed(name: str) -> None:
    document = read(SAMPLES / "orbax" / name)
    assert len(document.boxes) == 9
    assert document.checks["chunk keys"] == sum(boxes.boxes.count for boxes in document.boxes)
    assert len(document.subjects) == 7
    assert document.faults == ()
    assert document.refusals == ()


@pytest.mark.skipif(not can_list(), reason="listing the keys of OCDBT needs tensorstore")
@pytest.mark.parametrize("limits", [Limits(store_memory=2**25), Limits(entries=50), Limits(json_bytes=1000)])
def test_what_listing_a_store_costs_is_limited(limits: Limits) -> None:
    document = read(SAMPLES / "orbax" / "standard", limits=limits)
    # Without memory for the library itself it cannot even be loaded.
    codes = {refusal.code for refusal in document.refusals if refusal.name == "manifest.ocdbt"}
    assert codes == {"SM001"} if limits.store_memory == 2**25 else codes == {"SM006"}
    assert document.boxes == ()
