"""The recorder: what each rank asked for, and where the ranks part."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from verifier.oracle.collectives.live_groups import broken_live_rules
from verifier.oracle.collectives.recorder import Log, Record, first_divergence, read_log, recorded


@pytest.fixture
def world(tmp_path: Path) -> object:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield dist.group.WORLD
    dist.destroy_process_group()


def test_calls_are_recorded_before_they_are_made(world: object, tmp_path: Path) -> None:
    log = Log(tmp_path / "rank0")
    with recorded({world: "data"}, log, label="step"):
        dist.all_reduce(torch.ones(3, dtype=torch.float64), op=dist.ReduceOp.MAX, group=world)
        dist.barrier()
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            dist.broadcast(torch.ones(2), src=7)
    assert [(r.group, r.sequence, r.kind) for r in log.records] == [
        ("data", 0, "all_reduce"),
        ("world", 0, "barrier"),
        ("world", 1, "broadcast"),
    ]
    first = log.records[0]
    assert (first.dtype, first.shape, first.label) == ("torch.float64", (3,), "step")
    assert "MAX" in first.op
    assert read_log(tmp_path / "rank0") == log.records


def test_nothing_is_recorded_outside(world: object) -> None:
    log = Log()
    with recorded({}, log):
        pass
    dist.barrier()
    assert log.records == []


def record(sequence: int, kind: str = "all_reduce", group: str = "g", op: str = "sum") -> Record:
    return Record(group, sequence, kind, op, "torch.float32", (4,), "")


def test_the_first_divergence_is_found() -> None:
    here, there = [record(0), record(1)], [record(0), record(1, op="max")]
    found = first_divergence([here, here, there])
    assert found is not None
    assert (found.sequence, found.ranks) == (1, (0, 2))
    assert "rank 0 calls all_reduce" in found.told
    assert "max" in found.told


def test_a_rank_that_calls_less_is_found_and_others_may_have_other_groups() -> None:
    found = first_divergence([[record(0), record(1)], [record(0)]])
    assert found is not None
    assert found.told.endswith("rank 1 makes no more calls")
    assert first_divergence([[record(0)], [record(0), record(0, group="other")]]) is None
    assert first_divergence([]) is None


def test_live_groups_are_held_against_the_device_rules(world: object) -> None:
    broken = [found.rule for found in broken_live_rules(world, "cpu", ["all_reduce"], timeout_seconds=5.0)]
    assert broken == ["D6"]  # one member needs no handle
