"""Replicas of DTensors that ranks stored: compared bit for bit where that is asked, in files by torch."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

from tests.formats.audited import said
from tests.oracle.dtensor_files import elements, write
from verifier.formats.reading.limits import Limits

Tensors = dict[str, Any]
SHAPES = {"rep": (3, 5), "both": (5, 6), "cut": (4, 4)}


def tensors(dtype: torch.dtype, edit: Callable[[int, Tensors], None]) -> Tensors:
    """A replicated tensor, one that is replicated over half of the mesh, one that is not; and a plain one."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))

    def cut(name: str, *placements: Any) -> torch.Tensor:
        whole = elements(SHAPES[name]).to(dtype)
        return distribute_tensor(whole, mesh, placements, src_data_rank=None)

    made = {
        "rep": cut("rep", Replicate(), Replicate()),
        "both": cut("both", Replicate(), Shard(0)),
        "cut": cut("cut", Shard(0), Shard(1)),
        "plain": torch.ones(6),
    }
    edit(torch.distributed.get_rank(), made)
    return made


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    def save(
        edit: Callable[[int, Tensors], None] = lambda rank, made: None, dtype: torch.dtype = torch.float32
    ) -> Path:
        folder = tmp_path / "ckpt"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write(folder, 4, lambda: tensors(dtype, edit))
        return folder

    return save


def other_at(name: str, *index: int, rank: int) -> Callable[[int, Tensors], None]:
    def edit(here: int, made: Tensors) -> None:
        if here == rank:
            made[name]._local_tensor[index] = 77

    return edit


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.float8_e4m3fn])
def test_equal_replicas_are_compared(saved: Callable[..., Path], dtype: torch.dtype) -> None:
    ran = said(saved(dtype=dtype), values=True)
    # All ranks but the first for one, one pair for each half of the other.
    assert (ran.verdict, ran.checks["replica runs"]) == ("proved", 5)
    assert ran.unchecked == ("the values of plain tensors, and of DTensors without replicas",)


@pytest.mark.parametrize(
    ("name", "index", "rank"), [("rep", (2, 3), 3), ("rep", (0, 0), 0), ("both", (1, 2), 3)]
)
def test_one_element_that_differs_is_found_and_only_where_it_is_asked(
    saved: Callable[..., Path], name: str, index: tuple[int, int], rank: int
) -> None:
    folder = saved(other_at(name, *index, rank=rank))
    assert said(folder).verdict == "proved"
    ran = said(folder, values=True)
    assert (ran.verdict, ran.codes) == ("refuted", ("SM404",))
    row = index[0] + (3 if name == "both" else 0)
    assert f"[{row}, {index[1]}]" in ran.sentences[0]


def test_what_has_no_replica_may_have_any_value(saved: Callable[..., Path]) -> None:
    assert said(saved(other_at("cut", 0, 0, rank=2)), values=True).verdict == "proved"


def test_what_cannot_be_compared_is_said(saved: Callable[..., Path]) -> None:
    def transposed(rank: int, made: Tensors) -> None:
        local = made["rep"]._local_tensor
        spec = made["rep"]._spec
        made["rep"] = DTensor(local.t().contiguous().t(), spec, requires_grad=False)

    ran = said(saved(transposed), values=True)
    assert 'whether replicas are equal: a local tensor is not contiguous (1): "rep"' in ran.unchecked
    limits = Limits(replica_runs=3)
    ran = said(saved(), values=True, limits=limits)
    assert any("over the limit of 3" in line for line in ran.unchecked)


def test_a_file_whose_storage_is_cut_is_not_read_beyond(saved: Callable[..., Path]) -> None:
    folder = saved()
    data = (folder / "rank1.pt").read_bytes()
    (folder / "rank1.pt").write_bytes(data[: len(data) // 2])
    assert said(folder, values=True).verdict == "unreadable"


def test_expected_shapes_are_demanded_of_every_tensor(saved: Callable[..., Path]) -> None:
    folder = saved()
    right = {**SHAPES, "plain": (6,)}
    assert said(folder, shapes=right).verdict == "proved"
    for name in right:
        ran = said(folder, shapes={**right, name: (7,)})
        assert (ran.verdict, ran.codes) == ("refuted", ("SM507",))
    assert said(folder, shapes={**right, "more": (1,)}).codes == ("CK111",)
