"""Real checkpoints of torch, made once a session by processes on this machine, and copies to damage."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from torch.distributed.checkpoint.metadata import MetadataIndex

WORLD = 4
SECONDS = 240
DONE = "done"


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the checkpoints that ``worker`` saves; the processes of one test run share it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "dcp-saved"
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + SECONDS
        while not (folder / DONE).exists():
            assert time.monotonic() < deadline, "the test process that saves checkpoints did not finish"
            time.sleep(0.1)
        return folder
    save(folder)
    (folder / DONE).touch()
    return folder


def save(folder: Path) -> None:
    """Run the job."""
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.formats.dcp.worker", str(rank), str(WORLD), str(folder)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(WORLD)
    ]
    errors = [worker.communicate(timeout=SECONDS)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORLD, "\n".join(errors)


def copied(source: Path, target: Path) -> Path:
    """A copy that can be changed."""
    shutil.copytree(source, target)
    return target


@contextmanager
def metadata_of(folder: Path, name: str = ".metadata") -> Iterator[Any]:
    """The metadata of a checkpoint of our own making; what is changed in it is written back."""
    path = folder / name
    with path.open("rb") as file:
        metadata = pickle.load(file)
    yield metadata
    with keys_by_identity(), path.open("wb") as file:
        pickle.dump(metadata, file)


@contextmanager
def keys_by_identity() -> Iterator[None]:
    """Two equal indices are two keys, as only a damaged file has them."""
    with (
        patch.object(MetadataIndex, "__eq__", object.__eq__),
        patch.object(MetadataIndex, "__hash__", object.__hash__),
    ):
        yield


Damage = Callable[[Path], None]
