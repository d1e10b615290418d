"""One thing wrong in an Orbax checkpoint: found by its code, and by no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.orbax.checkpoints import (
    Damage,
    block_of,
    copied,
    dump,
    edit,
    encoded,
    gone,
    ids,
    in_file,
    judged,
    leaf_of,
    resharded,
    resized,
    shard,
    sharding,
    write_orbax,
)

NOT_ZARR: list[tuple[str, Damage, list[str]]] = [
    ("tree lost", gone("_METADATA"), ["CK101"]),
    ("tree empty", lambda f: (f / "_METADATA").write_text(""), ["SM001"]),
    ("tree no json", resized("_METADATA", -9), ["SM001"]),
    ("leaf lost", in_file("_METADATA", lambda m: m["tree_metadata"].pop("('scale',)")), ["CK105"]),
    (
        "leaf twice",
        in_file("_METADATA", lambda m: m["tree_metadata"].update(x=m["tree_metadata"]["('scale',)"])),
        ["CK106"],
    ),
    (
        "leaf added",
        in_file("_METADATA", lambda m: m["tree_metadata"].update(x=leaf_of("more"))),
        ["CK101"],
    ),
    ("leaf malformed", in_file("_METADATA", lambda m: m["tree_metadata"].update(x=5)), ["SM002"]),
    (
        "switch malformed",
        in_file("_METADATA", lambda m: m.update(use_ocdbt="no")),
        ["SM002"],
    ),
    ("store lost", in_file("_METADATA", lambda m: m.update(use_ocdbt=True)), ["CK101"]),
    ("array lost", gone("layer.rep"), ["CK101"]),
    ("unknown axis", resharded("layer.w", lambda s: s.update(partition_spec=["data", "x"])), ["CK115"]),
    ("axis twice", resharded("layer.w", lambda s: s.update(partition_spec=["data", "data"])), ["CK115"]),
    (
        "axis twice in one dimension",
        resharded("layer.v", lambda s: s.update(partition_spec=[["data", "data"]])),
        ["CK115"],
    ),
    ("indivisible", resharded("layer.rep", lambda s: s.update(partition_spec=["data"])), ["CK115"]),
    (
        "more cuts than dimensions",
        resharded("layer.rep", lambda s: s.update(partition_spec=[None] * 2)),
        ["CK115"],
    ),
    ("device twice", resharded("layer.w", lambda s: s["device_mesh"]["mesh"][0][0].update(id=7)), ["CK115"]),
    ("device lost", resharded("layer.w", lambda s: s["device_mesh"]["mesh"][1].pop()), ["CK115"]),
    ("mesh of another size", resharded("layer.w", lambda s: s.update(shape=[2, 2])), ["CK115"]),
    ("mesh axis without devices", resharded("layer.w", lambda s: s.update(shape=[0, 4])), ["CK115"]),
    ("mesh axis without name", resharded("layer.w", lambda s: s.update(axis_names=["data"])), ["CK115"]),
    ("mesh axes of one name", resharded("layer.w", lambda s: s.update(axis_names=["data"] * 2)), ["CK115"]),
    (
        "device negative",
        resharded("layer.w", lambda s: s["device_mesh"]["mesh"][0][0].update(id=-1)),
        ["SM002"],
    ),
    ("spec of numbers", resharded("layer.w", lambda s: s.update(partition_spec=[1])), ["SM002"]),
    (
        "sharding of nothing",
        in_file("_sharding", lambda s: s.update({encoded("ghost"): json.dumps(sharding([]))})),
        ["CK103"],
    ),
    ("sharding no base 64", in_file("_sharding", lambda s: s.update({"?": "{}"})), ["SM002"]),
    ("sharding no json", in_file("_sharding", lambda s: s.update({encoded("scale"): "{"})), ["SM001"]),
    ("shardings no object", lambda f: dump(f / "_sharding", []), ["SM002"]),
    ("blocks do not divide", lambda f: _reblocked(f, "layer.w", (3, 3), (3, 3)), ["CK110"]),
    ("chunks do not divide blocks", lambda f: _reblocked(f, "layer.w", (4, 3), (3, 3)), ["CK115"]),
    (
        "tree and processes differ",
        in_file(
            "_METADATA", lambda m: m["tree_metadata"]["('scale',)"]["value_metadata"].update(write_shape=[1])
        ),
        ["CK115"],
    ),
    (
        "processes differ",
        lambda f: dump(f / "array_metadatas" / "process_1", {"array_metadatas": []}),
        ["CK114"],
    ),
    (
        "block of nothing",
        in_file("array_metadatas/process_0", lambda b: b["array_metadatas"].append(block_of("ghost"))),
        ["CK103"],
    ),
    (
        "block lost",
        in_file("array_metadatas/process_0", lambda b: b["array_metadatas"].pop()),
        ["CK105"],
    ),
    (
        "block twice",
        in_file("array_metadatas/process_0", lambda b: b["array_metadatas"].append(block_of("scale"))),
        ["SM003"],
    ),
    (
        "path outside",
        in_file("_METADATA", lambda m: m["tree_metadata"].update(x=leaf_of("../x"))),
        ["CK109"],
    ),
]


def _reblocked(folder: Path, name: str, write: tuple[int, ...], chunk: tuple[int, ...]) -> None:
    """Another write and chunk shape, wherever it is stated but with the array itself."""

    def blocks(value: Any) -> None:
        for item in value["array_metadatas"]:
            if item["array_metadata"]["param_name"] == name:
                item["array_metadata"].update(write_shape=write, chunk_shape=chunk)

    def tree(value: Any) -> None:
        key = str(tuple(name.split(".")))
        value["tree_metadata"][key]["value_metadata"]["write_shape"] = write

    edit(folder / "array_metadatas" / "process_0", blocks)
    edit(folder / "_METADATA", tree)


ZARR2: list[tuple[str, Damage, list[str]]] = [
    ("chunk lost", gone("layer.w/1.2"), ["CK111"]),
    ("chunk of an array without axes lost", gone("scale/0"), ["CK111"]),
    ("all chunks lost", gone(*[f"layer.v/{k}.0" for k in range(8)]), ["CK111"]),
    ("chunk left over", copied("layer.w/0.0", "layer.w/0.4"), ["CK112"]),
    ("chunk short", resized("layer.w/0.3", -1), ["CK113"]),
    ("chunk long", resized("layer.w/0.3", 4), ["CK113"]),
    ("edge chunk cut", resized("uneven/1.0", -4), ["CK113"]),
    ("metadata lost", gone("layer.w/.zarray"), ["CK101"]),
    ("metadata cut", resized("layer.w/.zarray", -5), ["SM001"]),
    ("metadata of another version", in_file("layer.w/.zarray", lambda z: z.update(zarr_format=3)), ["SM004"]),
    ("of zarr 3, it says", in_file("_METADATA", lambda m: m.update(use_zarr3=True)), ["CK103"]),
    ("shape grown", in_file("layer.w/.zarray", lambda z: z.update(shape=[12, 12])), ["CK111"]),
    ("shape shrunk", in_file("layer.w/.zarray", lambda z: z.update(shape=[4, 12])), ["CK112", "CK115"]),
    ("shape negative", in_file("layer.w/.zarray", lambda z: z.update(shape=[-8, 12])), ["SM002"]),
    ("shape of a float", in_file("layer.w/.zarray", lambda z: z.update(shape=[8.0, 12])), ["SM005"]),
    ("chunk of nothing", in_file("layer.w/.zarray", lambda z: z.update(chunks=[0, 3])), ["SM002"]),
    ("chunk of other axes", in_file("layer.w/.zarray", lambda z: z.update(chunks=[4])), ["SM002"]),
    (
        "other chunks",
        in_file("layer.w/.zarray", lambda z: z.update(chunks=[8, 3])),
        ["CK112", "CK110", "CK113"],
    ),
    ("wider type", in_file("layer.w/.zarray", lambda z: z.update(dtype="<f8")), ["CK113"]),
    ("other separator", in_file("layer.w/.zarray", lambda z: z.update(dimension_separator="/")), ["CK111"]),
    (
        "compressed, it says",
        in_file("layer.w/.zarray", lambda z: z.update(compressor={"id": "zstd"})),
        ["CK113"],
    ),
]

ZARR3: list[tuple[str, Damage, list[str]]] = [
    ("chunk lost", gone("layer.w/c/1/2"), ["CK111"]),
    ("chunk of an array without axes lost", gone("scale/c"), ["CK111"]),
    ("chunk left over", copied("layer.w/c/0/0", "layer.w/c/0/4"), ["CK112"]),
    ("shard cut", resized("layer.w/c/0/3", -1), ["CK113"]),
    ("shard long", resized("layer.w/c/0/3", 1), ["CK113"]),
    ("shard empty", resized("layer.w/c/0/3", -(10**6)), ["CK113"]),
    ("inner chunk lost", lambda f: _other_index(f, [(0, 16), (16, 16), (2**64 - 1,) * 2]), ["CK111"]),
    ("inner chunk past the end", lambda f: _other_index(f, [(0, 16), (16, 16), (33, 16)]), ["CK113"]),
    ("inner chunk short", lambda f: _other_index(f, [(0, 16), (16, 16), (32, 12)]), ["CK113"]),
    ("inner chunks overlap", lambda f: _other_index(f, [(0, 16), (8, 16), (32, 16)]), ["CK104"]),
    ("metadata lost", gone("layer.w/zarr.json"), ["CK101"]),
    (
        "metadata of another version",
        in_file("layer.w/zarr.json", lambda z: z.update(zarr_format=2)),
        ["SM004"],
    ),
    ("group", in_file("layer.w/zarr.json", lambda z: z.update(node_type="group")), ["SM002"]),
    ("unknown grid", in_file("layer.w/zarr.json", lambda z: z["chunk_grid"].update(name="x")), ["SM002"]),
    (
        "unknown keys",
        in_file("layer.w/zarr.json", lambda z: z["chunk_key_encoding"].update(name="x")),
        ["SM002"],
    ),
    (
        "other keys",
        in_file("layer.w/zarr.json", lambda z: z["chunk_key_encoding"].update(name="v2")),
        ["CK111"],
    ),
    ("of zarr 2, it says", in_file("_METADATA", lambda m: m.update(use_zarr3=False)), ["CK103"]),
    ("no codecs", in_file("layer.w/zarr.json", lambda z: z.pop("codecs")), ["SM002"]),
    ("shape grown", in_file("layer.w/zarr.json", lambda z: z.update(shape=[12, 12])), ["CK111"]),
    ("wider type", in_file("layer.w/zarr.json", lambda z: z.update(data_type="float64")), ["CK113"]),
    (
        "inner chunks do not divide",
        in_file("layer.w/zarr.json", lambda z: z["codecs"][0]["configuration"].update(chunk_shape=[3, 1])),
        ["SM002"],
    ),
]


def _other_index(folder: Path, ranges: list[Any]) -> None:
    (folder / "layer.w/c/0/1").write_bytes(shard([16, 16, 16], ranges=ranges))


@pytest.mark.parametrize(("_", "damage", "codes"), NOT_ZARR, ids=ids(NOT_ZARR))
def test_damage_to_the_files_beside_the_arrays_is_found(
    _: str, damage: Damage, codes: list[str], tmp_path: Path
) -> None:
    folder = write_orbax(tmp_path / "item", version=2)
    damage(folder)
    verdict, found = judged(folder)
    assert verdict in ("refuted", "unreadable")
    assert sorted(set(found)) == sorted(codes)


@pytest.mark.parametrize(("_", "damage", "codes"), ZARR2, ids=ids(ZARR2))
def test_damage_to_arrays_of_version_2_is_found(
    _: str, damage: Damage, codes: list[str], tmp_path: Path
) -> None:
    folder = write_orbax(tmp_path / "item", version=2)
    damage(folder)
    verdict, found = judged(folder)
    assert verdict in ("refuted", "unreadable")
    assert sorted(set(found)) == sorted(codes)


@pytest.mark.parametrize(("_", "damage", "codes"), ZARR3, ids=ids(ZARR3))
def test_damage_to_arrays_of_version_3_is_found(
    _: str, damage: Damage, codes: list[str], tmp_path: Path
) -> None:
    folder = write_orbax(tmp_path / "item", version=3)
    damage(folder)
    verdict, found = judged(folder)
    assert verdict in ("refuted", "unreadable")
    assert sorted(set(found)) == sorted(codes)
