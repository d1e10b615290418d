"""Maps read from a distributed checkpoint put together what torch saved; torch's loader does the same."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemReader

from tests.formats.dcp.checkpoints import saved
from verifier.formats import Request, read

__all__ = ["saved"]


def flattened(state: Any, prefix: str = "") -> dict[str, torch.Tensor]:
    """The tensors of a nested state by the dotted names that torch gives them."""
    if isinstance(state, torch.Tensor):
        return {prefix: state}
    if not isinstance(state, dict):
        return {}
    found: dict[str, torch.Tensor] = {}
    for key, value in state.items():
        found |= flattened(value, f"{prefix}.{key}" if prefix else str(key))
    return found


@pytest.mark.parametrize("name", ["fsdp2", "plain"])
def test_the_boxes_hold_what_torch_stored(name: str, saved: Path) -> None:
    folder = saved / name
    expected = flattened(torch.load(saved / f"{name}-expected.pt", weights_only=False))
    metadata = FileSystemReader(folder).read_metadata()
    checked = 0
    for subject in read(folder, request=Request(payload=True)).boxes:
        boxes = subject.boxes
        rebuilt = torch.full(boxes.logical_shape, float("nan"))
        entries = [(i, e) for i, e in metadata.storage_data.items() if i.fqn == boxes.name]
        by_offset = {tuple(index.offset or ()): entry for index, entry in entries}
        for position in range(boxes.count):
            offsets, sizes = boxes.box(position)
            entry = by_offset[offsets]
            data = (folder / entry.relative_path).read_bytes()[entry.offset : entry.offset + entry.length]
            block = torch.load(io.BytesIO(data))
            assert tuple(block.shape) == sizes
            rebuilt[tuple(slice(o, o + n) for o, n in zip(offsets, sizes, strict=True))] = block.to(
                rebuilt.dtype
            )
        assert torch.equal(rebuilt, expected[boxes.name].to(rebuilt.dtype)), boxes.name
        checked += 1
    assert checked >= 3


def test_torch_itself_loads_the_same(saved: Path) -> None:
    expected = flattened(torch.load(saved / "plain-expected.pt", weights_only=False))
    state = {name: torch.zeros_like(tensor) for name, tensor in expected.items()}
    dcp.load(state, storage_reader=FileSystemReader(saved / "plain"), no_dist=True)
    assert all(torch.equal(state[name], tensor) for name, tensor in expected.items())
