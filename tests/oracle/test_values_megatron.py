"""Optimizer state that Megatron-core 0.12.3 flattened and cut, put together by the boxes read from it."""

from __future__ import annotations

import io
from math import prod
from pathlib import Path

import pytest
import torch

from tests.formats.documents import SAMPLES
from verifier.formats import Limits, read
from verifier.formats.dcp.metadata import read_metadata
from verifier.model.origin import Origin

FOLDER = SAMPLES / "megatron" / "v012_torch_dist_flat"


def flat_chunks(folder: Path, name: str) -> torch.Tensor:
    """The elements of all chunks of a tensor, one chunk behind the other, in the order of the metadata."""
    contents = read_metadata(folder / ".metadata", Origin(".metadata"), Limits())
    (tensor,) = [tensor for tensor in contents.tensors if tensor.name == name]
    chunks = []
    for entry in tensor.entries:
        storage = contents.storage
        data = (folder / storage.paths[storage.path[entry]]).read_bytes()
        start = storage.start[entry]
        chunks.append(torch.load(io.BytesIO(data[start : start + storage.length[entry]])).flatten())
    return torch.cat(chunks)


@pytest.mark.parametrize("name", ["opt.w", "opt.r", "w", "r"])
def test_the_boxes_rebuild_the_parameter_that_was_flattened(name: str) -> None:
    (boxes,) = [subject.boxes for subject in read(FOLDER).boxes if subject.boxes.name == name]
    values = flat_chunks(FOLDER, name)
    rebuilt = torch.full(boxes.logical_shape, float("nan"))
    at = 0
    for position in range(boxes.count):
        offsets, sizes = boxes.box(position)
        block = values[at : at + prod(sizes)].reshape(sizes)
        rebuilt[tuple(slice(o, o + n) for o, n in zip(offsets, sizes, strict=True))] = block
        at += prod(sizes)
    assert at == len(values)
    # Whoever recorded the checkpoint numbered the elements of each parameter.
    assert torch.equal(
        rebuilt, torch.arange(rebuilt.numel(), dtype=torch.float32).reshape(boxes.logical_shape)
    )
