"""R62, R65 and N30: groups and slots of a job."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.damaging import with_value
from verifier.contracts.cases import check_document

BOUND: dict[str, Any] = {
    "bindings": {
        "groups": [
            {
                "group": {"name": "dp", "members": ["a", "b"]},
                "member": "b",
                "device": "cuda:1",
                "handle": True,
            },
            {"group": {"name": "self", "members": ["a"]}, "member": "a", "device": "cpu", "handle": False},
        ],
        "slots": [
            {"group": 0, "slot": 0, "name": "layer.weight"},
            {"group": 0, "slot": 1, "name": "layer.bias"},
        ],
    }
}
USED: dict[str, Any] = {
    "backend": "cpu:gloo,cuda:nccl",
    "collectives": ["all_reduce", "all_gather"],
    "timeout_seconds": 600,
    "control_device": "cpu",
    "cuda_devices": 2,
    "coordinator": 0,
    "global_ranks": [0, 1],
}
GROUP = ("bindings", "groups", 0)
SLOT = ("bindings", "slots", 1)


def test_bindings_that_fit() -> None:
    checked = check_document(BOUND, "x")
    assert (checked.kind, checked.verdict, checked.broken) == ("bindings", "valid", ())


@pytest.mark.parametrize(
    ("at", "value", "rule"),
    [
        ((*GROUP, "member"), "c", "R62"),
        ((*GROUP, "member"), 1, "R62"),
        ((*GROUP, "device"), "cuda:x", "R62"),
        ((*GROUP, "device"), "meta", "R62"),
        ((*GROUP, "device"), "cuda:01", "R62"),
        ((*GROUP, "device"), "cuda:128", "R62"),
        ((*GROUP, "device"), "cpu:00", "R62"),
        ((*GROUP, "handle"), False, "R62"),
        ((*GROUP, "handle"), 1, "R62"),
        ((*GROUP, "group"), None, "R62"),
        ((*GROUP, "group", "members"), {"a": 0}, "N32"),
        ((*GROUP, "group", "members"), [], "R5"),
        (("bindings", "groups", 1, "handle"), True, "R62"),
        (("bindings", "groups"), {}, "R62"),
        ((*SLOT, "slot"), True, "R65"),
        ((*SLOT, "slot"), -1, "R65"),
        ((*SLOT, "slot"), 0, "R65"),
        ((*SLOT, "group"), 1.0, "R65"),
        ((*SLOT, "name"), "layer.Bias", "R65"),
        ((*SLOT, "name"), 3, "R65"),
        ((*SLOT, "name"), "layer.weight", "R65"),
    ],
)
def test_one_change_breaks_its_rule(at: Any, value: Any, rule: str) -> None:
    assert check_document(with_value(BOUND, at, value), "x").rules == (rule,)


@pytest.mark.parametrize("device", ["cpu", "cpu:0", "cpu:3", "cuda", "cuda:0", "cuda:127", "xpu:9"])
def test_devices_as_torch_reads_them(device: str) -> None:
    assert check_document(with_value(BOUND, (*GROUP, "device"), device), "x").broken == ()
    torch = pytest.importorskip("torch")
    assert str(torch.device(device)) == device


@pytest.mark.parametrize("device", ["cuda:01", "cuda:128", "cpu:00", "cuda:x", "cuda:"])
def test_devices_that_torch_reads_otherwise_or_not(device: str) -> None:
    torch = pytest.importorskip("torch")
    try:
        assert str(torch.device(device)) != device
    except RuntimeError:
        assert check_document(with_value(BOUND, (*GROUP, "device"), device), "x").rules == ("R62",)


@pytest.mark.parametrize("members", [["b", "a"], ["a", "b", "c"]])
def test_N30_a_group_is_bound_to_one_list_of_members(members: list[str]) -> None:
    group = BOUND["bindings"]["groups"][0]
    other = {**group, "group": {"name": "dp", "members": members}}
    twice = with_value(BOUND, ("bindings", "groups"), [group, other])
    checked = check_document(twice, "x")
    assert (checked.verdict, checked.remarks) == ("valid", ("N30",))
    assert checked.broken[0].pointer == "/bindings/groups/1/group"
    assert check_document(with_value(BOUND, ("bindings", "groups"), [group, group]), "x").broken == ()


def test_a_use_that_fits() -> None:
    assert check_document(with_value(BOUND, (*GROUP, "use"), USED), "x").broken == ()
    indexed = with_value(BOUND, (*GROUP, "use"), {**USED, "control_device": "cpu:0"})
    assert check_document(indexed, "x").broken == ()


@pytest.mark.parametrize(
    ("at", "value", "rule", "pointer"),
    [
        (("use", "backend"), "cpu:gloo,cuda:gloo", "D1", "use/collectives/0"),
        (("device",), "cuda:2", "D2", "device"),
        (("use", "backend"), "mpi", "D3", "device"),
        (("use", "backend"), "undefined", "D4", "use/backend"),
        (("device",), "xpu:0", "D4", "device"),
        (("use", "backend"), "cpu:gloo,cuda:fake", "D5", "use/backend"),
        (("use", "timeout_seconds"), None, "D7", "use/timeout_seconds"),
        (("use", "control_device"), "cuda:1", "D8", "use/control_device"),
        (("use", "global_ranks"), [2, 3], "D9", "use/coordinator"),
        (("use", "global_ranks"), [0], "R62", "use/global_ranks"),
        (("use", "timeout_seconds"), 0, "R62", "use/timeout_seconds"),
        (("use", "cuda_devices"), True, "R62", "use/cuda_devices"),
        (("use", "control_device"), "cpu:01", "R62", "use/control_device"),
        (("use", "collectives"), "barrier", "R62", "use/collectives"),
    ],
)
def test_a_use_that_breaks_a_device_rule_at_its_place(at: Any, value: Any, rule: str, pointer: str) -> None:
    used = with_value(BOUND, (*GROUP, "use"), {**USED, "collectives": ["barrier"]})
    if value is None:
        del used["bindings"]["groups"][0]["use"]["timeout_seconds"]
    else:
        used = with_value(used, (*GROUP, *at), value)
    (broken,) = check_document(used, "x").broken
    assert (broken.rule, broken.pointer) == (rule, f"/bindings/groups/0/{pointer}")
