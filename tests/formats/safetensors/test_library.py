"""Against the safetensors library itself: what it refuses is never proved, what it opens is no fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from tests.formats.audited import said
from tests.formats.safetensors.library import complaint
from tests.formats.safetensors.samples import framed
from verifier.formats import read
from verifier.formats.safetensors.header import BITS

DTYPES = (
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16),
    *(torch.int8, torch.uint8, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64),
)


def test_files_of_the_library_are_proved_with_their_shapes(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    tensors = {str(dtype): torch.zeros(2, 3).to(dtype) for dtype in DTYPES}
    tensors |= {"scalar": torch.tensor(1.0), "empty": torch.zeros(0, 3), "a name with spaces": torch.zeros(1)}
    save_file(tensors, file, metadata={"format": "pt"})
    found = said(file)
    assert (found.verdict, found.codes, found.warnings) == ("proved", (), ())
    shapes = {each.boxes.name: each.boxes.logical_shape for each in read(file).boxes if each.is_parameter}
    assert shapes == {name: tuple(tensor.shape) for name, tensor in load_file(file).items()}


def test_names_and_fields_that_the_library_takes_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    names = ["tab\tname", "line\nend", "nul\0", "", "\u202eback"]
    entries = {
        name: {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1], "note": [at]}
        for at, name in enumerate(names)
    }
    data = framed(entries, bytes(len(names)))
    assert complaint(data) is None
    file.write_bytes(data)
    assert said(file).verdict == "proved"
    assert {each.boxes.name for each in read(file).boxes if each.is_parameter} == set(names)


def test_half_a_surrogate_pair_is_no_name(tmp_path: Path) -> None:
    data = framed(b'{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"0")
    assert complaint(data) is not None
    (tmp_path / "x.safetensors").write_bytes(data)
    assert said(tmp_path / "x.safetensors").codes == ("SM002",)


def needed(dtype: str, shape: list[int]) -> int:
    """Bytes of a tensor, rounded down."""
    bits = BITS[dtype]
    for extent in shape:
        bits *= extent
    return bits // 8


@st.composite
def headers(draw: st.DrawFn) -> tuple[dict[str, Any], int]:
    """Headers that are right or nearly so, and how many bytes of data follow."""
    entries: dict[str, Any] = {}
    at = 0
    for name in "abc"[: draw(st.integers(0, 3))]:
        dtype = draw(st.sampled_from(sorted(BITS)))
        shape = draw(st.lists(st.sampled_from((0, 1, 2, 4)), max_size=3))
        end = at + needed(dtype, shape)
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    damaged: bool = draw(st.booleans())
    if entries and damaged:
        entry = entries[draw(st.sampled_from(sorted(entries)))]
        nudge = draw(st.integers(-2, 2))
        match draw(st.integers(0, 3)):
            case 0:
                entry["data_offsets"][draw(st.integers(0, 1))] += nudge
            case 1:
                entry["data_offsets"] = [number + nudge for number in entry["data_offsets"]]
            case 2:
                entry["shape"] = [extent + nudge for extent in entry["shape"]]
            case 3:
                entry["dtype"] = draw(st.sampled_from(("F32", "U8", "F4", "?")))
    return entries, max(0, at + draw(st.sampled_from((0, 0, 0, -1, 1))))


@given(headers())
@settings(max_examples=150, deadline=None)
def test_the_library_opens_a_file_just_when_it_is_proved(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[dict[str, Any], int]
) -> None:
    header, size = case
    data = framed(header, bytes(size))
    file = tmp_path_factory.getbasetemp() / "same.safetensors"
    file.write_bytes(data)
    assert (said(file).verdict == "proved") == (complaint(data) is None)


def test_a_name_that_stands_twice_is_our_refusal_alone(tmp_path: Path) -> None:
    """The library takes the last of the two; other readers take the first."""
    entry = b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    data = framed(b"{" + entry + b"," + entry + b"}", b"0")
    assert complaint(data) is None
    (tmp_path / "x.safetensors").write_bytes(data)
    assert said(tmp_path / "x.safetensors").codes == ("SM003",)
