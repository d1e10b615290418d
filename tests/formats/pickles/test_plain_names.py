"""What trainers keep beside tensors, as numpy and Python write it, is read without either."""

from __future__ import annotations

import pickle
import random
from collections import Counter, OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.formats.audited import said
from tests.formats.documents import HERE, LIMITS, refusal_of
from verifier.formats.pickles.plain_names import PLAIN_NAMES, plain_number
from verifier.formats.pickles.records import Call
from verifier.formats.pickles.tree import read_pickle

PROTOCOLS = range(2, 6)
NUMBERS = [
    *(np.float64(0.1), np.float32(-2.5), np.float16(3), np.int64(-7), np.uint8(200), np.int8(-1)),
    np.array([1.5], dtype=">f8")[0],
]
ENTROPY = 7
OTHERS: list[Any] = [
    *(np.bool_(True), np.datetime64("2026-01-01"), np.arange(6).reshape(2, 3), np.array([1, None], object)),
    *(np.random.RandomState(ENTROPY), np.random.RandomState(ENTROPY).get_state()),
    *(np.random.Generator(kind(ENTROPY)) for kind in (np.random.PCG64, np.random.Philox, np.random.SFC64)),
    random.Random(ENTROPY).getstate(),
]  # fmt: skip


def read(data: bytes) -> object:
    return read_pickle(data, PLAIN_NAMES, HERE, LIMITS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.dtype.str)
def test_numbers_of_numpy_are_told(number: Any, protocol: int) -> None:
    data = pickle.dumps(number, protocol)
    old = data.replace(b"numpy._core.", b"numpy.core.") if protocol == 2 else data
    for written in (data, old):
        assert plain_number(read(written)) == number


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", OTHERS, ids=lambda value: type(value).__name__)
def test_states_of_generators_and_arrays_are_read_as_records(value: Any, protocol: int) -> None:
    found = read(pickle.dumps(value, protocol))
    assert isinstance(found, Call | tuple)
    assert plain_number(found) is found


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value", [defaultdict(dict, {"a": {}}), defaultdict(None, {1: 2}), Counter("abba"), OrderedDict(a=1)]
)
def test_mappings_of_python_are_dicts(value: Any, protocol: int) -> None:
    found = read(pickle.dumps(value, protocol))
    assert type(found) is dict
    assert found == dict(value)


@pytest.mark.parametrize(
    "program",
    [
        b"cnumpy\nload\n.",
        b"cnumpy.testing._private.utils\nruncmd\n.",
        b"cbuiltins\neval\n.",
        b"ccollections\ndefaultdict\ncbuiltins\neval\n\x85R.",
        b"cbuiltins\ndict\n)R.",
        b"cnumpy\nndarray\n)R.",
    ],
)
def test_what_acts_stays_refused(program: bytes) -> None:
    refusal = refusal_of(lambda: read(program))
    assert refusal is not None
    assert refusal.code == "SM007"


def test_a_long_text_for_a_number_is_not_looked_at() -> None:
    data = pickle.dumps(np.float64(1), 2)
    wide = data.replace(b"X\x09\x00\x00\x00", b"X\x0b\x00\x00\x00ab")
    assert wide != data
    assert isinstance(plain_number(read(wide)), Call)


def test_a_trainer_keeps_more_than_tensors_beside_its_rank_files(tmp_path: Path) -> None:
    """As verl does: the states of generators and of the scheduler, in files that are named after ranks."""
    generators = {"cpu": torch.get_rng_state(), "numpy": np.random.get_state(), "random": random.getstate()}
    scheduler = {"last_lr": [np.float64(1e-3)], "milestones": Counter([3, 5])}
    for rank in range(2):
        torch.save({"w": torch.ones(2)}, tmp_path / f"model_world_size_2_rank_{rank}.pt")
        torch.save(
            {"lr_scheduler": scheduler, "rng": generators},
            tmp_path / f"extra_state_world_size_2_rank_{rank}.pt",
        )
    assert said(tmp_path).verdict == "proved"


def test_options_and_counters_of_an_optimizer_may_be_numbers_of_numpy(tmp_path: Path) -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.AdamW([parameter], lr=np.float64(1e-3))  # type: ignore[arg-type]
    parameter.sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    state["state"] = defaultdict(dict, state["state"])
    path = tmp_path / "optimizer.pt"
    torch.save(state, path)
    assert said(path, values=True).verdict == "proved"
    state["param_groups"][0]["lr"] = np.float64(-1)
    state["state"][0]["step"] = np.int64(-2)
    torch.save(state, path)
    assert said(path, values=True).sentences == (
        '"lr" of parameter group 0 is -1, it is never below 0',
        "parameter 0 is at step -2, steps are counted from 0",
    )
