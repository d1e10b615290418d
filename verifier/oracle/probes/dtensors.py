"""A DTensor is trained as the tensor it stands for: two ranks, gloo on loopback. M11."""

from __future__ import annotations

import importlib
import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import FileStore

from verifier.oracle.probes.closeness import beyond
from verifier.oracle.probes.isolated import words
from verifier.oracle.probes.live import gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, nothing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "dtensors", "OC616"
RANKS = 2
STEPS = 3
SHAPE = (6, 8)
WAIT = timedelta(seconds=10)


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Train a DTensor cut by rows, one by columns; a fault where the contract claims such a layout."""
    if about.contract is None:
        return nothing(NAME, "no contract says that it trains slices of a dimension")
    if probed.closure or probed.sparse or about.device != "cpu" or not dist.is_available():
        return nothing(NAME, "tried are dense gradients on the CPU, without a closure")
    importlib.import_module("torch.distributed.tensor")  # once, and not in every child
    cases = [
        Case(f"a DTensor cut along dimension {dim}", lambda dim=dim: _differences(probed, about, dim))  # type: ignore[misc]
        for dim in (0, 1)
    ]
    found = observe(NAME, CODE, cases)
    if any(training.layout == "dim_shard" for training in about.contract.training):
        return found
    notes = [f"{fault.claim}; slices of a dimension are not claimed" for fault in found.faults]
    return Probing(probe=NAME, held=found.held, notes=tuple(notes))


def _differences(probed: Probed, about: Circumstances, dim: int) -> list[str]:
    warnings.simplefilter("ignore")
    (whole,) = parameters_of((SHAPE,), about.seed)
    control = live_of(probed, [whole])
    for seed in range(STEPS):
        control.step_with(gradients([whole], seed))
    return on_ranks(RANKS, lambda: _compared(probed, about, dim, whole.detach()))


def on_ranks(ranks: int, work: Callable[[], list[str]]) -> list[str]:
    """What ``work`` returns on rank 0, with the other ranks in forked processes. Every wait is bounded."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "store")
        others = [_forked(rank, ranks, path, work) for rank in range(1, ranks)]
        try:
            return _joined(0, ranks, path, work)
        finally:
            for child in others:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _forked(rank: int, ranks: int, path: str, work: Callable[[], list[str]]) -> int:
    child = os.fork()
    if child == 0:
        try:
            _joined(rank, ranks, path, work)
            time.sleep(WAIT.seconds)  # rank 0 ends it, and is not to see a connection that is reset before
        finally:
            os._exit(1)
    return child


def _joined(rank: int, ranks: int, path: str, work: Callable[[], list[str]]) -> list[str]:
    store = FileStore(path, ranks)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=WAIT)
    return work()


def _compared(probed: Probed, about: Circumstances, dim: int, expected: torch.Tensor) -> list[str]:
    (whole,) = parameters_of((SHAPE,), about.seed)
    start = whole.detach()
    try:
        full = _trained(probed, start, dim)
    except Exception as error:  # of the optimizer, or of an operation that DTensors do not have
        return [f"it raises {words(error)}"]
    wrong = beyond(full, expected, start, ulps=0 if probed.same_bits else 1)
    return [f"{wrong} of {whole.numel()} elements differ after {STEPS} steps"] if wrong else []


def _trained(probed: Probed, start: torch.Tensor, dim: int) -> torch.Tensor:
    """The whole of a DTensor after some steps."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    cut = torch.nn.Parameter(distribute_tensor(start.clone(), mesh, [Shard(dim)]))
    found = live_of(probed, [cut])
    for seed in range(STEPS):
        (value,) = gradients([start], seed)
        cut.grad = distribute_tensor(value, mesh, [Shard(dim)])
        found.optimizer.step()
    full: Any = cut.full_tensor() if isinstance(cut, DTensor) else cut
    trained: torch.Tensor = full.detach()
    return trained
