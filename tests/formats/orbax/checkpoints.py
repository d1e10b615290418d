"""Small Orbax checkpoints made from scratch: two meshes' worth of metadata and chunks of zeros."""

from __future__ import annotations

import base64
import itertools
import json
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.formats.audited import said

ITEM = 4
"""Bytes of an element."""

Damage = Callable[[Path], object]


class Array:
    """One array of a checkpoint: a shape, and the mesh axes that cut each dimension; None without devices."""

    def __init__(self, shape: tuple[int, ...], spec: list[Any] | None, chunks: tuple[int, ...]) -> None:
        self.shape = shape
        self.spec = spec
        self.chunks = chunks


ARRAYS = {
    "layer.w": Array((8, 12), ["data", "model"], (4, 3)),
    "layer.v": Array((16, 6), [["data", "model"], None], (2, 6)),
    "layer.rep": Array((5,), [], (5,)),
    "uneven": Array((7, 4), None, (4, 1)),
    "scale": Array((), [], ()),
}
MESH = {"data": 2, "model": 4}


def write_orbax(folder: Path, *, version: int = 2, writes_fill: bool | None = True) -> Path:
    """A good checkpoint; ``writes_fill`` None leaves the field out, as older releases did."""
    folder.mkdir()
    tree: dict[str, Any] = {
        "tree_metadata": {str(tuple(n.split("."))): _leaf(n, a) for n, a in ARRAYS.items()}
    }
    tree |= {"use_ocdbt": False, "use_zarr3": version == 3}
    if writes_fill is not None:
        tree["store_array_data_equal_to_fill_value"] = writes_fill
    dump(folder / "_METADATA", tree)
    on_devices = {name: array for name, array in ARRAYS.items() if array.spec is not None}
    dump(
        folder / "_sharding", {encoded(n): json.dumps(sharding(a.spec or [])) for n, a in on_devices.items()}
    )
    (folder / "array_metadatas").mkdir()
    blocks = [
        _blocks(name, array, inner(array) if version == 3 else array.chunks)
        for name, array in on_devices.items()
    ]
    dump(folder / "array_metadatas" / "process_0", {"array_metadatas": blocks})
    for name, array in ARRAYS.items():
        (write_zarr2 if version == 2 else write_zarr3)(folder / name, array)
    return folder


def sharding(spec: list[Any], mesh: dict[str, int] = MESH) -> dict[str, Any]:
    ids: Any = [{"id": device} for device in range(math.prod(mesh.values()))]
    for size in list(mesh.values())[:0:-1]:
        ids = [ids[at : at + size] for at in range(0, len(ids), size)]
    return {
        "sharding_type": "NamedSharding",
        "shape": list(mesh.values()),
        "axis_names": list(mesh),
        "partition_spec": spec,
        "device_mesh": {"mesh": ids},
    }


def write_zarr2(folder: Path, array: Array, **fields: Any) -> None:
    """Plain chunks, no fill value."""
    folder.mkdir()
    metadata = {
        "zarr_format": 2, "shape": array.shape, "chunks": array.chunks, "dtype": "<f4", "order": "C",
        "compressor": None, "filters": None, "fill_value": None, "dimension_separator": ".",
    }  # fmt: skip
    dump(folder / ".zarray", metadata | fields)
    for index in grid(array):
        (folder / (".".join(map(str, index)) or "0")).write_bytes(bytes(ITEM * math.prod(array.chunks)))


def write_zarr3(folder: Path, array: Array) -> None:
    """Each chunk a shard of inner chunks of one element along the last axis, as plain bytes."""
    folder.mkdir()
    plain = {"name": "bytes", "configuration": {"endian": "little"}}
    codec = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": inner(array), "codecs": [plain], "index_codecs": [plain, {"name": "crc32c"}],
            "index_location": "end",
        },
    }  # fmt: skip
    metadata = {
        "zarr_format": 3, "node_type": "array", "shape": array.shape, "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": array.chunks}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [codec], "fill_value": 0.0,
    }  # fmt: skip
    dump(folder / "zarr.json", metadata)
    for index in grid(array):
        path = folder.joinpath("c", *map(str, index))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shard([ITEM * math.prod(inner(array))] * (array.chunks[-1] if array.chunks else 1)))


def inner(array: Array) -> tuple[int, ...]:
    return (*array.chunks[:-1], 1) if array.chunks else ()


def shard(sizes: list[int], *, ranges: list[tuple[int, int]] | None = None) -> bytes:
    """Inner chunks of zeros of these sizes with their index; ``ranges`` puts another index there."""
    starts = list(itertools.accumulate(sizes, initial=0))
    entries = ranges if ranges is not None else list(zip(starts, sizes, strict=False))
    index = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    return bytes(sum(sizes)) + index + struct.pack("<I", crc32c(index))


def crc32c(data: bytes) -> int:
    """Bit by bit, as the definition has it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def grid(array: Array) -> itertools.product[tuple[int, ...]]:
    return itertools.product(
        *[range(-(-n // step)) for n, step in zip(array.shape, array.chunks, strict=True)]
    )


def _leaf(name: str, array: Array) -> dict[str, Any]:
    value: dict[str, Any] = {"value_type": "np.ndarray", "skip_deserialize": False}
    if array.spec is not None:
        value |= {"value_type": "jax.Array", "write_shape": write_shape(array)}
    return {"key_metadata": [{"key": key, "key_type": 2} for key in name.split(".")], "value_metadata": value}


def _blocks(name: str, array: Array, chunks: tuple[int, ...]) -> dict[str, Any]:
    shapes = {"write_shape": write_shape(array), "chunk_shape": chunks}
    return {"array_metadata": {"param_name": name, **shapes, "ext_metadata": None}}


def write_shape(array: Array) -> tuple[int, ...]:
    """What one device of the mesh writes."""
    entries = [([name] if isinstance(name, str) else name or []) for name in array.spec or []]
    cuts = [math.prod(MESH[axis] for axis in axes) for axes in entries]
    return tuple(n // cut for n, cut in itertools.zip_longest(array.shape, cuts, fillvalue=1))


def encoded(name: str) -> str:
    return base64.b64encode(name.encode()).decode()


def dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value))


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON file in place."""
    value = json.loads(path.read_text())
    change(value)
    dump(path, value)


def resharded(name: str, change: Callable[[Any], object]) -> Damage:
    """Change the sharding of one array."""

    def damage(folder: Path) -> None:
        def entry(value: Any) -> None:
            inside = json.loads(value[encoded(name)])
            change(inside)
            value[encoded(name)] = json.dumps(inside)

        edit(folder / "_sharding", entry)

    return damage


def in_file(name: str, change: Callable[[Any], object]) -> Damage:
    """Change one JSON file."""
    return lambda folder: edit(folder / name, change)


def gone(*names: str) -> Damage:
    """Remove files, or folders with what is in them."""

    def damage(folder: Path) -> None:
        for name in names:
            remove(folder / name)

    return damage


def remove(path: Path) -> None:
    if path.is_dir():
        for inside in path.iterdir():
            remove(inside)
        path.rmdir()
    else:
        path.unlink()


def resized(name: str, change: int) -> Damage:
    """Cut bytes from the end of a file, or add some."""

    def damage(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[:change] if change < 0 else data + bytes(change))

    return damage


def copied(name: str, to: str) -> Damage:
    return lambda folder: (folder / to).write_bytes((folder / name).read_bytes())


def judged(path: Path, **asked: object) -> tuple[str, list[str]]:
    """(the worst verdict, the codes of all errors) of an audit."""
    found = said(path, **asked)
    return found.verdict, list(found.codes)


def leaf_of(name: str) -> dict[str, Any]:
    values = {"value_type": "jax.Array", "skip_deserialize": False}
    return {"key_metadata": [{"key": name, "key_type": 2}], "value_metadata": values}


def block_of(name: str) -> dict[str, Any]:
    return {"array_metadata": {"param_name": name, "write_shape": [], "chunk_shape": []}}


def ids(cases: list[tuple[str, Damage, list[str]]]) -> list[str]:
    return [name for name, _, _ in cases]
