"""Numbers in files of torch.save: what torch reads, and nothing where they are not all there."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.documents import LIMITS, archive
from verifier.formats import FormatError
from verifier.formats.pickles.torch_values import bytes_of, first_negative, integers_in, scalar_in
from verifier.formats.pickles.torch_zip import TensorHeader, read_storages, read_torch_zip, tensor_header
from verifier.formats.reading.limits import Limits
from verifier.model.origin import Origin

HERE = Origin("x.pt")
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
NUMBERS = st.lists(st.floats(-4, 4, width=16) | st.sampled_from([-0.0, math.nan, -math.inf]), max_size=6)


def saved(folder: Path, tensor: torch.Tensor) -> tuple[Path, TensorHeader]:
    path = folder / "x.pt"
    torch.save(tensor, path)
    header = tensor_header(read_torch_zip(path, HERE, LIMITS))
    assert header is not None
    return path, header


def storages(path: Path, header: TensorHeader, limits: Limits = LIMITS) -> dict[str, bytes]:
    return read_storages(path, HERE, [header.storage], limits)


@pytest.mark.parametrize("dtype", FLOATS)
@given(numbers=NUMBERS)
def test_the_first_negative_element_is_the_one_torch_finds(
    dtype: torch.dtype, numbers: list[float], tmp_path_factory: pytest.TempPathFactory
) -> None:
    tensor = torch.tensor(numbers).to(dtype)
    path, header = saved(tmp_path_factory.mktemp("values"), tensor)
    below = (tensor < 0).nonzero().flatten().tolist()
    found = first_negative(header, storages(path, header))
    assert found == ((below[0], tensor[below[0]].item()) if below else None)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int32])
def test_a_counter_is_what_torch_reads(dtype: torch.dtype, tmp_path: Path) -> None:
    path, header = saved(tmp_path, torch.tensor(12).to(dtype))
    assert scalar_in(header, storages(path, header)) == 12


def test_integers_are_read_in_row_major_order(tmp_path: Path) -> None:
    path, header = saved(tmp_path, torch.tensor([[0, -1], [2, 3]], dtype=torch.int32))
    assert integers_in(header, storages(path, header)) == (0, -1, 2, 3)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(4, 2).t(),
        torch.zeros(8)[::2],
        torch.zeros(2).expand(3, 2),
        torch.zeros(2, dtype=torch.int8),
    ],
    ids=["transposed", "every other", "expanded", "a dtype that no counter has"],
)
def test_what_is_not_in_one_run_is_not_read(tensor: torch.Tensor, tmp_path: Path) -> None:
    path, header = saved(tmp_path, tensor)
    assert bytes_of(header, storages(path, header)) is None


@pytest.mark.parametrize(
    ("offset", "shape"), [(2, (3,)), (-1, (2,)), (10**30, (1,)), (0, (5,)), (0, (2**62, 2))]
)
def test_a_header_that_leaves_its_storage_reads_nothing(offset: int, shape: tuple[int, ...]) -> None:
    strides = (2, 1)[-len(shape) :]
    header = TensorHeader("float32", shape, strides, offset, "0")
    assert bytes_of(header, {"0": bytes(16)}) is None
    assert first_negative(header, {}) is None
    assert scalar_in(header, {}) is None


def test_a_storage_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path, _ = saved(tmp_path, torch.zeros(2))
    with pytest.raises(FormatError) as refused:
        read_storages(path, HERE, ["77"], LIMITS)
    assert refused.value.code == "SM001"


def test_more_bytes_than_the_limit_are_refused(tmp_path: Path) -> None:
    path, header = saved(tmp_path, torch.zeros(100))
    with pytest.raises(FormatError) as refused:
        storages(path, header, Limits(value_bytes=399))
    assert (refused.value.code, "400 bytes" in refused.value.message) == ("SM006", True)


def test_another_byte_order_is_not_guessed_at(tmp_path: Path) -> None:
    path, header = saved(tmp_path, torch.zeros(2))
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as opened:
        members = [(name, opened.read(name)) for name in opened.namelist()]
    path.write_bytes(
        archive([(name, b"big" if name.endswith("byteorder") else data) for name, data in members])
    )
    with pytest.raises(FormatError, match="not little-endian"):
        storages(path, header)
