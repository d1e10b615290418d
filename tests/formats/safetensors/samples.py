"""Safetensors files, indices and shards, written without the library."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BYTES = {"F64": 8, "F32": 4, "BF16": 2, "U8": 1}
Tensors = Mapping[str, tuple[str, Sequence[int]]]
"""Type and shape by name."""


def entries(tensors: Tensors) -> dict[str, Any]:
    """The header of these tensors, one after another."""
    header: dict[str, Any] = {}
    at = 0
    for name, (dtype, shape) in tensors.items():
        end = at + BYTES[dtype] * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, end]}
        at = end
    return header


def framed(header: object, data: bytes) -> bytes:
    """A file of this header, text or value, and data."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def a_file(tensors: Tensors, metadata: Mapping[str, str] | None = None) -> bytes:
    """A sound file; its bytes count up."""
    header = entries(tensors)
    size = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if metadata is not None:
        header = {"__metadata__": dict(metadata), **header}
    return framed(header, bytes(number % 251 for number in range(size)))


MODEL: dict[str, Tensors] = {
    "model-00001-of-00002.safetensors": {"embed": ("F32", (6, 4)), "norm": ("BF16", (4,))},
    "model-00002-of-00002.safetensors": {"head": ("F32", (6, 4)), "scale": ("F64", ())},
}
INDEX = "model.safetensors.index.json"


def index_of(model: Mapping[str, Tensors]) -> dict[str, Any]:
    """The index of such files."""
    sizes = [
        BYTES[dtype] * math.prod(shape) for tensors in model.values() for dtype, shape in tensors.values()
    ]
    return {
        "metadata": {"total_size": sum(sizes)},
        "weight_map": {name: file for file, tensors in model.items() for name in tensors},
    }


def write_model(folder: Path, model: Mapping[str, Tensors] | None = None) -> Path:
    """An indexed model of two files."""
    model = MODEL if model is None else model
    folder.mkdir(parents=True, exist_ok=True)
    for file, tensors in model.items():
        (folder / file).write_bytes(a_file(tensors))
    (folder / INDEX).write_text(json.dumps(index_of(model)))
    return folder


def shard_bytes(
    parts: Mapping[str, tuple[str, Sequence[int], Sequence[int]]], **more: Mapping[str, Any]
) -> bytes:
    """A shard of torch's storage: (type, offsets, sizes) by name; ``more`` joins the entry of a name."""
    info = {name: {"saved_offsets": list(at), **more.get(name, {})} for name, (_, at, _) in parts.items()}
    metadata = {"DCP_SHARDING_INFO": json.dumps(info), "DCP_VERSION": "1.0", "format": "pt"}
    return a_file({name: (dtype, sizes) for name, (dtype, _, sizes) in parts.items()}, metadata)


def shard_file_name(shard: int, model: int = 1, models: int = 1) -> str:
    return f"shard-{shard:05}-model-{model:05}-of-{models:05}.safetensors"


SHARDS: dict[str, dict[str, tuple[str, Sequence[int], Sequence[int]]]] = {
    shard_file_name(1): {"w": ("F32", (0, 0), (2, 6)), "c": ("F32", (0, 0), (4, 3))},
    shard_file_name(2): {"w": ("F32", (2, 0), (2, 6)), "c": ("F32", (0, 3), (4, 3)), "n": ("U8", (0,), (6,))},
    shard_file_name(3): {"w": ("F32", (4, 0), (1, 6)), "c": ("F32", (0, 6), (4, 1))},
}
"""w is (5, 6) by rows, c (4, 7) by columns, n (6,) on one rank."""
FULL = {"w": (5, 6), "c": (4, 7), "n": (6,)}


def write_shards(folder: Path) -> Path:
    """A sharded checkpoint of three files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, parts in SHARDS.items():
        (folder / name).write_bytes(shard_bytes(parts))
    return folder
