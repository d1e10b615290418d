"""The harness: processes that die are told apart, memory has an end, and a snapshot notices every touch."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.command import shardproof
from tests.oracle.probes.right_ones import Schedule
from verifier.cli.contract_probe import PROBES as NAMED
from verifier.contracts.known import known_contract
from verifier.oracle.errors import OracleUnavailableError
from verifier.oracle.probes.catalogue import PROBES
from verifier.oracle.probes.closeness import beyond
from verifier.oracle.probes.contents import content
from verifier.oracle.probes.corruptions import CORRUPTIONS, Corruption
from verifier.oracle.probes.guarded import guarded
from verifier.oracle.probes.isolated import CaseError, Died, Said, isolated
from verifier.oracle.probes.live import live
from verifier.oracle.probes.observed import Circumstances
from verifier.oracle.probes.probed import NotProbedError, Probed, probed_of
from verifier.oracle.probes.snapshots import snapshot, values
from verifier.oracle.probes.torch_optimizers import optimizer_named, torch_optimizers


def test_a_case_that_returns_dies_hangs_or_raises_is_told_apart() -> None:
    assert isolated(lambda: {"a": [1, None]}) == Said({"a": [1, None]})
    assert isolated(lambda: os.kill(os.getpid(), signal.SIGSEGV)) == Died("SIGSEGV")
    assert isolated(lambda: time.sleep(600), seconds=0.2) == Died("took over 0.2 s")
    assert isolated(lambda: os._exit(3)) == Died("exit 3")
    with pytest.raises(CaseError, match="ZeroDivisionError"):
        isolated(lambda: 1 // 0)


def test_a_case_that_wants_all_the_memory_gets_none() -> None:
    with pytest.raises(CaseError, match=r"MemoryError|can't allocate memory"):
        isolated(lambda: int(torch.empty(1 << 33, dtype=torch.uint8).numel()), mebibytes=256)


def test_what_a_case_leaves_running_ends_with_it() -> None:
    def leave() -> int:
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        return child

    ended = isolated(leave)
    assert isinstance(ended, Said)
    assert isinstance(ended.value, int)
    end = time.monotonic() + 120
    while running(ended.value):
        assert time.monotonic() < end, "it is still running"
        time.sleep(0.02)


def running(pid: int) -> bool:
    """Whether a process is there and no zombie that its new parent has not seen to yet."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_without_fork_nothing_is_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(OracleUnavailableError, match="cannot"):
        isolated(lambda: 1)


def test_reading_past_a_guarded_tensor_ends_the_process_for_certain() -> None:
    def past(count: int) -> float:
        tensor = guarded(torch.arange(10, dtype=torch.float32))
        assert torch.equal(tensor, torch.arange(10, dtype=torch.float32))
        import ctypes

        return ctypes.c_float.from_address(tensor.data_ptr() + 4 * count).value

    assert isolated(lambda: past(9)) == Said(9.0)
    assert isolated(lambda: past(10)) == Died("SIGSEGV")


def set_option(optimizer: Any) -> None:
    optimizer.param_groups[0]["lr"] = 7.0


def add_zero(optimizer: Any) -> None:
    next(iter(optimizer.state.values()))["exp_avg"].add_(0)


def clone(optimizer: Any) -> None:
    entry = next(iter(optimizer.state.values()))
    entry["exp_avg"] = entry["exp_avg"].clone()


def rename(optimizer: Any) -> None:
    entry = next(iter(optimizer.state.values()))
    entry["other"] = entry.pop("exp_avg")


def copy_entry(optimizer: Any) -> None:
    key = next(iter(optimizer.state))
    optimizer.state[key] = dict(optimizer.state[key])


def forget(optimizer: Any) -> None:
    optimizer.state.pop(next(iter(optimizer.state)))


def copy_list(optimizer: Any) -> None:
    optimizer.param_groups[0]["params"] = list(optimizer.param_groups[0]["params"])


def fill_cache(optimizer: Any) -> None:
    optimizer.cache["cuda:0"] = 1


def flip_zero(optimizer: Any) -> None:
    with torch.no_grad():
        optimizer.param_groups[0]["params"][0].view(-1)[0] = -0.0


@pytest.mark.parametrize(
    "touch",
    [set_option, add_zero, clone, rename, copy_entry, forget, copy_list, fill_cache, flip_zero],
    ids=lambda touch: touch.__name__,
)
def test_a_snapshot_notices_every_touch(touch: Callable[[Any], None]) -> None:
    optimizer = live(optimizer_named("Adam"), 1).optimizer
    optimizer.cache = {}
    with torch.no_grad():
        optimizer.param_groups[0]["params"][0].view(-1)[0] = 0.0
    before = snapshot(optimizer)
    assert snapshot(optimizer) == before
    touch(optimizer)
    assert snapshot(optimizer) != before


def test_values_are_those_of_the_seed() -> None:
    for probed in torch_optimizers():
        one, again = live(probed, 3).optimizer, live(probed, 3).optimizer
        assert values(one) == values(again), probed.name


@settings(max_examples=60, deadline=None)
@given(
    st.floats(width=32, min_value=-(2.0**100), max_value=2.0**100),
    st.integers(min_value=0, max_value=3),
)
def test_units_in_the_last_place_are_counted(value: float, units: int) -> None:
    one = torch.tensor([value])
    other = one.clone()
    for _ in range(units):  # towards zero the unit never grows
        other = torch.nextafter(other, torch.zeros(1))
    assert beyond(one, other, one, ulps=units) == 0
    same_unit = bool(torch.frexp(one)[1] == torch.frexp(other)[1]) and abs(value) > 1e-30
    if units and same_unit:
        assert beyond(one, other, one, ulps=units - 1) == 1


def test_what_can_be_probed() -> None:
    class Own(torch.optim.SGD):
        pass

    assert probed_of(Own, "own").name == "own"
    made = Probed(name="mine", build=Own, dims=(2,))
    assert probed_of(lambda: made, "x") is made
    with pytest.raises(NotProbedError, match="has to return a Probed, not a int"):
        probed_of(lambda: 3, "x")
    with pytest.raises(NotProbedError, match="it has no param_groups"):
        Probed(name="x", build=lambda groups: object()).made([])


def test_what_is_made_of_nothing_and_raises_cannot_be_probed() -> None:
    with pytest.raises(NotProbedError, match="x raises a ZeroDivisionError: integer division"):
        probed_of(lambda: 1 // 0, "x")


@pytest.mark.parametrize("probe", PROBES)
def test_a_probe_that_cannot_make_the_optimizer_is_open_and_does_not_raise(probe: str) -> None:
    def asks_for_more(groups: Any, rate: float) -> Any:
        raise AssertionError

    contract = known_contract("torch.optim.SGD")
    found = PROBES[probe](probed_of(asks_for_more, "x"), Circumstances(contract=contract))
    assert not found.faults
    assert not found.held
    assert all("missing 1 required positional argument: 'rate'" in reason for reason in found.open)
    assert found.open or found.notes


def test_a_probe_that_fails_by_itself_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.oracle.probes.views.observe", lambda *given: 1 // 0)
    found = PROBES["views"](optimizer_named("SGD"), Circumstances())
    assert found.open == ("ZeroDivisionError: integer division or modulo by zero",)


def test_a_corruption_that_cannot_be_made_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(state: object) -> bool:
        raise KeyError("nothing of that name")

    monkeypatch.setattr(
        "verifier.oracle.probes.loading.CORRUPTIONS", (Corruption("broken", broken), *CORRUPTIONS[:3])
    )
    monkeypatch.setattr("verifier.oracle.probes.loading.RANDOM", 0)
    found = PROBES["corruptions"](optimizer_named("SGD"), Circumstances())
    assert found.open == ("broken: KeyError: 'nothing of that name'",)
    assert found.held == 3


def test_of_parameters_that_hardly_move_nothing_is_said() -> None:
    class Seldom(torch.optim.SGD):
        def step(self, closure: object = None) -> None:  # type: ignore[override]
            for group in self.param_groups:
                group["seen"] = group.get("seen", 0) + 1
                if group["seen"] % 40 == 0:
                    super().step()

    found = PROBES["replacement"](probed_of(Seldom, "Seldom"), Circumstances())
    assert found.faults == ()
    (reason,) = found.open
    assert reason.endswith("its parameters move less than 2 times in 32 steps")


def test_the_command_goes_on_with_the_other_optimizers() -> None:
    only = ("--only", "determinism", "--only", "aliasing", "--format", "concise")
    ran = shardproof("contract", "probe", "torch.optim:Optimizer", "torch.optim.SGD", *only)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.count("OC620") == 1
    assert "error[OC610]" in ran.out


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (math.nan, math.nan, True),
        (0.0, -0.0, False),
        (1, 1.0, False),
        (1, True, False),
        ([torch.zeros(2)], [torch.zeros(2)], True),
        ([torch.zeros(2)], [torch.ones(2)], False),
        ({"a": [1, {"b": torch.zeros(1)}]}, {"a": [1, {"b": torch.zeros(1)}]}, True),
        ({"a": [1, {"b": torch.zeros(1)}]}, {"a": [1, {"b": torch.ones(1)}]}, False),
        ([1], (1,), False),
        (deque([1], maxlen=2), deque([1]), False),
        ({3, 1}, {1, 3}, True),
        (Schedule(), Schedule(), True),
        (len, len, True),
        (len, max, False),
        (threading.Lock(), threading.Lock(), True),
    ],
)
def test_contents_are_compared_without_addresses(one: object, other: object, same: bool) -> None:
    assert (content(one) == content(other)) is same


def test_contents_that_hold_themselves_have_an_end() -> None:
    one: list[object] = []
    one.append(one)
    assert content(one) == content(one)


def test_a_snapshot_takes_slots_into_account() -> None:
    class Slots:
        __slots__ = ("cache", "param_groups", "state")

    found = Slots()
    found.param_groups, found.state, found.cache = [{"params": []}], {}, {}
    before = snapshot(found)
    assert snapshot(found) == before
    found.cache["a"] = 1
    assert snapshot(found) != before


def test_the_command_knows_every_probe_without_torch() -> None:
    assert tuple(PROBES) == NAMED


def test_the_command_says_what_it_cannot_probe() -> None:
    unknown = shardproof("contract", "probe", "torch.optim.Adamant")
    assert (unknown.code, unknown.out) == (2, "")
    assert "no optimizer is called 'Adamant'" in unknown.err
    missing = shardproof("contract", "probe", "tests.oracle.probes.planted:Wright")
    assert missing.code == 2
    assert "has no 'Wright'" in missing.err
    nowhere = shardproof("contract", "probe", "torch.optim.SGD", "--device", "moon")
    assert nowhere.code == 2
    assert "'moon' is not a device that torch knows" in nowhere.err
    two = shardproof("contract", "probe", "torch.optim", "--contract", __file__)
    assert two.code == 2
    assert "probe it by itself" in two.err


NO_OPTIMIZERS = """
import torch

def notopt(params): return 3
def nothing(params): pass
def refuses(params): raise ValueError("lr is needed")
def dies(params): import os; os._exit(3)
class Vectors(torch.optim.SGD):
    def __init__(self, groups):
        super().__init__(groups)
        if any(p.dim() != 1 for group in self.param_groups for p in group["params"]):
            raise ValueError("vectors only")
"""


@pytest.mark.parametrize(("name", "made"), [("notopt", "int"), ("nothing", "NoneType")])
def test_what_makes_no_optimizer_is_one_error(name: str, made: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(NO_OPTIMIZERS)
    ran = shardproof("contract", "probe", f"{tmp_path}/own.py:{name}")
    assert (ran.code, ran.out) == (2, "")
    said = " ".join(ran.err.split())
    assert f"{name} makes no optimizer but {made}: it has no param_groups, state, step" in said


def test_what_can_never_be_made_is_open_once(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(NO_OPTIMIZERS)
    ran = shardproof("contract", "probe", f"{tmp_path}/own.py:refuses", "--format", "concise")
    assert (ran.code, ran.err) == (3, "")
    assert ran.out.count("OC620") == 1
    assert "making it, ValueError: lr is needed" in ran.out


@pytest.mark.parametrize("name", ["dies", "Vectors"])
def test_what_is_made_of_some_parameters_is_probed(name: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(NO_OPTIMIZERS)
    only = ("--only", "aliasing", "--format", "concise")
    ran = shardproof("contract", "probe", f"{tmp_path}/own.py:{name}", *only)
    assert "making it" not in ran.out
    assert ran.code in (1, 3)
