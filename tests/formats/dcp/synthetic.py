"""Large ``.metadata`` files, pickled from torch's own classes, and a command that writes one.

``python -m tests.formats.dcp.synthetic FOLDER --chunks 1000000`` writes FOLDER/.metadata and, sparse, the
data files it names.
"""

from __future__ import annotations

import argparse
import gc
import pickle
from pathlib import Path

import torch
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)

ROWS, COLUMNS = 8, 1024
"""Of one chunk."""
PAYLOAD = 1577
"""Bytes that torch.save needs beside the elements, about."""


def metadata(*, tensors: int, ranks: int) -> Metadata:
    """What FSDP2 writes for ``tensors`` float32 parameters cut by rows over ``ranks`` ranks."""
    described: dict[str, object] = {}
    stored: dict[MetadataIndex, _StorageInfo] = {}
    length = ROWS * COLUMNS * 4 + PAYLOAD
    for number in range(tensors):
        name = f"model.layers.{number}.mlp.gate_proj.weight"
        described[name] = TensorStorageMetadata(
            TensorProperties(dtype=torch.float32),
            torch.Size([ROWS * ranks, COLUMNS]),
            [
                ChunkStorageMetadata(torch.Size([ROWS * rank, 0]), torch.Size([ROWS, COLUMNS]))
                for rank in range(ranks)
            ],
        )
    for rank in range(ranks):
        for number, name in enumerate(described):
            index = MetadataIndex(name, torch.Size([ROWS * rank, 0]), rank)
            stored[index] = _StorageInfo(f"__{rank}_0.distcp", number * length, length)
    return Metadata(
        described,
        {name: (name,) for name in described},
        stored,
        StorageMeta("/checkpoints/step-1000", "a save", None, []),
        "1.0.0",
    )


def write(folder: Path, *, tensors: int, ranks: int) -> Path:
    """Write the metadata and its data files, which have the right sizes and no content."""
    folder.mkdir(parents=True, exist_ok=True)
    gc.disable()
    path = folder / ".metadata"
    with path.open("wb") as file:
        pickle.dump(metadata(tensors=tensors, ranks=ranks), file, protocol=4)
    gc.enable()
    for rank in range(ranks):
        with (folder / f"__{rank}_0.distcp").open("wb") as file:
            file.truncate(tensors * (ROWS * COLUMNS * 4 + PAYLOAD))
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--ranks", type=int, default=500)
    asked = parser.parse_args()
    written = write(asked.folder, tensors=asked.chunks // asked.ranks, ranks=asked.ranks)
    print(f"{written}: {written.stat().st_size} bytes")
