"""Real checkpoints of torch, made once a session by processes on this machine, and copies to damage."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

WORLD = 4
SECONDS = 120


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the checkpoints that ``dcp_worker`` saves."""
    folder = tmp_path_factory.mktemp("dcp")
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.formats.dcp_worker", str(rank), str(WORLD), str(folder)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(WORLD)
    ]
    errors = [worker.communicate(timeout=SECONDS)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORLD, "\n".join(errors)
    return folder


def copied(source: Path, target: Path) -> Path:
    """A copy that can be changed."""
    shutil.copytree(source, target)
    return target


@contextmanager
def metadata_of(folder: Path) -> Iterator[Any]:
    """The metadata of a checkpoint of our own making; what is changed in it is written back."""
    path = folder / ".metadata"
    with path.open("rb") as file:
        metadata = pickle.load(file)
    yield metadata
    with path.open("wb") as file:
        pickle.dump(metadata, file)


Damage = Callable[[Path], None]
