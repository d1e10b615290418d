"""DTensor maps are torch's own: in shape and first offset by its formula, and by value on every rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch.distributed.tensor import Shard
from torch.distributed.tensor.placement_types import _StridedShard

import verifier.layouts as ours
from fuzz.walk import walk
from tests.layouts.dtensor_cases import Case, case_at
from tests.layouts.dtensor_full import main
from tests.layouts.dtensor_run import (
    CONVERTED,
    NO_BOX,
    ORDER_IGNORED,
    compare,
    fsdp_over_tp_by_placements,
)
from verifier.model.expectation import Expectation

SAMPLE = 320
QUOTAS = {
    "1 mesh dimension": 40,
    "2 mesh dimensions": 40,
    "3 mesh dimensions": 40,
    "strided": 80,
    "replicated": 80,
    "a dimension cut more than once": 80,
    "shard order not from the left": 20,
    "uneven": 100,
    "an empty shard": 100,
    "a shard that is no box": 40,
    "a parameter without elements": 5,
}


@pytest.fixture(scope="module")
def sample() -> list[Case]:
    return [case_at(1, index) for index in range(SAMPLE)]


def test_equals_torch(sample: list[Case]) -> None:
    run = compare(sample)
    assert run.differences == []
    assert run.lists == SAMPLE
    assert run.by_value == run.by_formula > 3 * SAMPLE
    assert {kind: run.kinds[kind] for kind, least in QUOTAS.items() if run.kinds[kind] < least} == {}
    # What torch says of these local tensors, and is not so: if it mends them, the report should say so.
    assert run.remarks[NO_BOX] > 50
    assert run.remarks[ORDER_IGNORED] > 20
    assert run.remarks[CONVERTED] > 0


def test_is_right(sample: list[Case]) -> None:
    for case in sample[::4]:
        assert walk(case.map(), Expectation()).ok, case


def test_placements_of_fsdp_over_tp_are_another_layout_only_where_rows_do_not_divide() -> None:
    found = fsdp_over_tp_by_placements(16)
    assert {(7, 3, 2), (13, 3, 2)} <= set(found)
    assert all(rows % (fsdp * tp) for rows, fsdp, tp in found)


def test_torch_has_two_offsets_of_nothing() -> None:
    strided = _StridedShard(0, split_factor=2)
    assert strided.local_shard_size_and_offset(1, 4, 3) == (0, -1)
    assert Shard.local_shard_size_and_offset(1, 4, 3) == (0, 1)


def test_negative_dimensions_count_from_the_last() -> None:
    assert ours.dtensor((4, 6), (2, 2), [ours.Shard(-1), ours.StridedShard(-2, 2)]) == ours.dtensor(
        (4, 6), (2, 2), [ours.Shard(1), ours.StridedShard(0, 2)]
    )


def test_a_scalar_is_replicated() -> None:
    assert ours.dtensor((), (2, 3), [ours.Replicate()] * 2) == ours.replicated((), 6)
    assert ours.dtensor((4,), (2, 3), [ours.Replicate()] * 2, ()) == ours.replicated((4,), 6)


def test_the_report_is_reproducible_and_says_what_was_compared(tmp_path: Path) -> None:
    pages = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        report = tmp_path / name / "dtensor.md"
        assert main(["--cases", "12", "--report", str(report)]) == 0
        pages.append(report.read_text(encoding="ascii"))
    assert pages[0] == pages[1]
    assert "| placement lists | 12 |" in pages[0]
    assert "| **differences** | **0** |" in pages[0]
    assert "--cases 12 --seed 1 --report reports/dtensor.md" in pages[0]
