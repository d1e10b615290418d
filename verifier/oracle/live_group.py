"""A process group that does not exist: one process plays one rank of many, and nothing is ever sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch
import torch.distributed as dist

from verifier.oracle.live_errors import GroupInUseError, LiveError

T = TypeVar("T")


def as_rank(rank: int, world: int, work: Callable[[], T]) -> T:
    """What ``work`` returns when it runs as one rank of a fake process group.

    It runs in a thread of its own. torch keeps what operators do to DTensors, with their meshes, in caches of
    each thread; meshes of different ranks are equal to it, so that a second rank in the same thread would be
    handed the mesh, and with it the coordinates, of the first. The thread also takes with it whatever the
    work sets for its thread, such as a default device.

    Afterwards the group is gone, whatever happened, and the process is as before: environment, default
    dtype, random state, and torch's tracker of random states on meshes.

    Raises:
        GroupInUseError: this process has a process group.
        LiveError: this torch has no fake process groups.
    """
    if not dist.is_available():
        raise LiveError(f"torch {torch.__version__} was built without torch.distributed")
    if dist.is_initialized():
        raise GroupInUseError("this process has a process group already; inspect the model in another one")
    with ThreadPoolExecutor(max_workers=1) as thread, _restored():
        return thread.submit(_in_group, rank, world, work).result()


def _in_group(rank: int, world: int, work: Callable[[], T]) -> T:
    try:
        from torch.testing._internal.distributed.fake_pg import FakeStore
    except ImportError as error:
        raise LiveError(f"torch {torch.__version__} has no fake process group") from error

    try:
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world)
        return work()
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


@contextmanager
def _restored() -> Iterator[None]:
    from torch.distributed.tensor import _random as mesh_random

    environment = dict(os.environ)
    dtype = torch.get_default_dtype()
    state = torch.random.get_rng_state()
    tracker = getattr(mesh_random, "_rng_tracker", None)
    try:
        yield
    finally:
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        torch.set_default_dtype(dtype)
        torch.random.set_rng_state(state)
        if hasattr(mesh_random, "_rng_tracker"):
            mesh_random._rng_tracker = tracker
