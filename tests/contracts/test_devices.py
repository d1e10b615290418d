"""D1 to D9: which process groups do what on which device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verifier.contracts.devices import BACKENDS, COLLECTIVES, GroupUse, able, broken_device_rules

GOOD = GroupUse(
    backend="nccl",
    device="cuda:0",
    collectives=("all_reduce", "all_gather"),
    members=4,
    timeout_seconds=60.0,
    cuda_devices=8,
)
GLOO = replace(GOOD, backend="gloo", device="cpu", cuda_devices=0)
BOTH = replace(GOOD, backend="cpu:gloo,cuda:nccl", control_device="cpu")


def rules(use: GroupUse) -> list[str]:
    return [found.rule for found in broken_device_rules(use)]


@pytest.mark.parametrize("use", [GOOD, GLOO, BOTH, replace(BOTH, device="cpu")])
def test_what_works_breaks_no_rule(use: GroupUse) -> None:
    assert rules(use) == []


@pytest.mark.parametrize(
    ("use", "rule"),
    [
        (replace(GLOO, device="cuda:0", collectives=("barrier",), control_device="cpu"), "D1"),
        (replace(GLOO, backend="mpi", collectives=("reduce_scatter",)), "D1"),
        (replace(GLOO, backend="cpu:ucc", collectives=("all_reduce",)), "D1"),
        (replace(GOOD, device="cuda"), "D2"),
        (replace(GOOD, device="cuda:8"), "D2"),
        (replace(GOOD, backend="mpi", control_device="cpu"), "D3"),
        (replace(GOOD, backend="undefined"), "D4"),
        (replace(GOOD, device="cpu", collectives=("all_reduce",)), "D1"),
        (replace(GOOD, device="xpu:0"), "D4"),
        (replace(GLOO, backend="cpu:fake"), "D5"),
        (replace(GLOO, has_handle=False), "D6"),
        (replace(GLOO, members=1), "D6"),
        (replace(GLOO, timeout_seconds=None), "D7"),
        (replace(BOTH, control_device="cuda:0"), "D8"),
        (replace(GLOO, coordinator=0, global_ranks=(4, 5, 6, 7)), "D9"),
    ],
)
def test_each_rule_is_broken_by_one_use(use: GroupUse, rule: str) -> None:
    assert rules(use) == [rule]


def test_what_depends_on_the_build_is_no_yes() -> None:
    assert able("mpi", "cuda", "all_reduce") == "unknown"
    aware = replace(GOOD, backend="mpi", mpi_is_cuda_aware=True, control_device="cpu")
    assert rules(aware) == []


def test_the_table_knows_every_collective_of_the_known_back_ends() -> None:
    for collective in COLLECTIVES:
        assert able("gloo", "cpu", collective) == "yes"
        assert able("nccl", "cuda", collective) == "yes"
        assert able("nccl", "cpu", collective) == "no"
    assert set(BACKENDS) >= {"gloo", "nccl", "mpi", "xccl"}
