"""What optimizers do with corrupted state dicts: rows that were published, and a loader that is right."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from tests.cli.command import shardproof
from verifier.oracle.probes.corruptions import CORRUPTIONS
from verifier.oracle.probes.isolated import isolated
from verifier.oracle.probes.loading import outcomes
from verifier.oracle.probes.snapshots import snapshot
from verifier.oracle.probes.subjects import Kind, kind_named, kinds, live

BY_NAME = {corruption.name: corruption for corruption in CORRUPTIONS}

PUBLISHED = {  # measured on torch 2.13 by others: corruption to outcomes of these optimizers
    "missing 'state' key": ("RC", "RC", "RC"),
    "group dropped": ("RC", "RC", "RC"),
    "groups swapped (equal sizes)": ("SX", "SX", "SX!"),
    "param ids swapped within group (same shape)": ("SA", "SA", "SA"),
    "state entry for unknown param id 99": ("N", "N", "N"),
    "state key missing: step/counter": (".", "RD", "RD"),
    "unknown extra state key": ("SA=", "SA=", "SA="),
    "tensor transposed (wrong shape)": ("SX", "SX", "SX!"),
    "dtype complex64": ("N", "N", "N"),
    "meta tensor": ("RC", "RC", "RC"),
    "NaN in tensor": ("SAN", "SAN", "SAN"),
    "step = NaN tensor": (".", "SAN", "SAN"),
    "step = None": (".", "RD", "RD"),
    "step = python int 2": (".", "N", "N"),
    "group: lr = '0.1' string": ("SX", "SX", "SX"),
    "group: betas = (2.,2.)": (".", "SX", "SX!"),
    "group entry is None": ("RC", "RC", "RC"),
}
OPTIMIZERS = ("SGD", "Adam", "AdamW")


@pytest.mark.parametrize(("name", "column"), [(name, k) for k, name in enumerate(OPTIMIZERS)])
def test_published_rows_are_reproduced(name: str, column: int) -> None:
    chosen = [BY_NAME[corruption] for corruption in PUBLISHED]
    found = outcomes(kind_named(name), chosen)
    assert found == {corruption: row[column] for corruption, row in PUBLISHED.items()}


class Careful(torch.optim.SGD):
    """Checks everything on a copy before it takes anything over."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        mine = self.state_dict()
        if state_dict.keys() != mine.keys() or not isinstance(state_dict["param_groups"], list):
            raise ValueError("other members")
        for theirs, own in zip(state_dict["param_groups"], mine["param_groups"], strict=True):
            if theirs != own:
                raise ValueError("other options")
        if state_dict["state"].keys() != mine["state"].keys():
            raise ValueError("other parameters")
        for key, entry in state_dict["state"].items():
            own = mine["state"][key]
            if not isinstance(entry, dict) or entry.keys() != own.keys():
                raise ValueError("other fields")
            for name, value in entry.items():
                alike = (
                    isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_meta
                )
                if not alike or (value.shape, value.dtype) != (own[name].shape, own[name].dtype):
                    raise ValueError("another tensor")
                if not torch.isfinite(value).all():
                    raise ValueError("not finite")
        super().load_state_dict(copy.deepcopy(state_dict))


def test_a_careful_optimizer_is_accused_of_little() -> None:
    """It refuses cleanly whatever can be seen; exchanged states of one shape cannot."""
    kind = Kind("Careful", lambda groups: Careful(groups, lr=0.1, momentum=0.9))
    found = outcomes(kind)
    accused = {name: word for name, word in found.items() if word not in ("RC", "N", ".", "SA=")}
    assert set(accused) <= {"param ids swapped within group (same shape)"}
    assert list(found.values()).count("RC") > 30


def test_snapshots_notice_every_touch() -> None:
    found = live(kind_named("Adam"), 1)
    before = snapshot(found.optimizer)
    assert snapshot(found.optimizer) == before
    state = found.optimizer.state[found.parameters[0]]
    state["exp_avg"].add_(0)  # the bytes stay, the version does not
    assert snapshot(found.optimizer) != before
    before = snapshot(found.optimizer)
    state["exp_avg"] = state["exp_avg"].clone()
    assert snapshot(found.optimizer) != before


def test_every_kind_of_torch_steps() -> None:
    for kind in kinds():
        found = live(kind, 3)
        assert all(torch.isfinite(parameter).all() for parameter in found.parameters), kind.name
    assert len(kinds()) >= 28


def test_a_case_that_dies_or_hangs_is_told_apart() -> None:
    import os
    import signal
    import time

    assert isolated(lambda: "fine").said == "fine"
    assert isolated(lambda: os.kill(os.getpid(), signal.SIGSEGV) or "").died == "SIGSEGV"
    assert isolated(lambda: time.sleep(9) or "", seconds=0.2).died == "took over 0.2 s"
    assert isolated(lambda: 1 / 0 or "").died == "exit 1"  # type: ignore[arg-type]


def test_the_command_names_the_faults() -> None:
    ran = shardproof("contract", "probe", "torch.optim.Rprop", "--format", "concise")
    assert ran.code == 1
    assert "OC601" in ran.out
    unknown = shardproof("contract", "probe", "torch.optim.Adamant")
    assert unknown.code == 2
    assert "no optimizer is called 'Adamant'" in unknown.err
