"""Parts in Hugging Face storage, put together by the maps read from them, are what torch saved and loads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
from torch.distributed.checkpoint.state_dict_loader import load

from tests.formats.audited import said
from tests.oracle.hf_worker import tensors
from verifier.formats import read
from verifier.oracle.execute import rebuild

WORLD = 3
SECONDS = 120


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what ``hf_worker`` saves."""
    folder = tmp_path_factory.mktemp("hf")
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.oracle.hf_worker", str(rank), str(WORLD), str(folder)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(WORLD)
    ]
    errors = [worker.communicate(timeout=SECONDS)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORLD, "\n".join(errors)
    return folder


def shapes() -> dict[str, tuple[int, ...]]:
    return {name: tuple(full.shape) for name, full in tensors().items()}


def rebuilt(folder: Path) -> dict[str, torch.Tensor]:
    """Every tensor, by the boxes of the reader and the bytes of the files, in their order."""
    files = [load_file(path) for path in sorted(folder.glob("*.safetensors"))]
    found: dict[str, torch.Tensor] = {}
    for subject in read(folder).boxes:
        if subject.is_parameter:
            name = subject.boxes.name
            parts = [file[name] for file in files if name in file]
            assert len(parts) == subject.boxes.count
            found[name] = rebuild(dict(enumerate(parts)), subject.boxes.to_shard_map()).full
    return found


def test_what_torch_saves_is_proved(saved: Path) -> None:
    shards = said(saved / "shards")
    assert (shards.verdict, shards.codes, shards.warnings) == ("proved", (), ("CK201",))
    for found in (said(saved / "shards", shapes=shapes()), said(saved / "whole")):
        assert (found.verdict, found.codes, found.warnings) == ("proved", (), ())
    assert any("--values compares them" in line for line in said(saved / "whole").unchecked)


def test_the_parts_are_the_tensors_that_were_saved(saved: Path) -> None:
    found = rebuilt(saved / "shards")
    assert found.keys() == tensors().keys()
    for name, full in tensors().items():
        assert torch.equal(found[name], full), name


def test_the_parts_are_the_tensors_that_torch_loads(saved: Path) -> None:
    loaded = {name: torch.full_like(full, -1) for name, full in tensors().items()}
    load(loaded, storage_reader=HuggingFaceStorageReader(str(saved / "shards")), no_dist=True)
    for name, full in rebuilt(saved / "shards").items():
        assert torch.equal(full, loaded[name]), name


def test_the_parts_are_the_tensors_that_torch_puts_together(saved: Path) -> None:
    whole = load_file(saved / "whole" / "model-00001-of-00001.safetensors")
    for name, full in rebuilt(saved / "whole" / "sharded").items():
        if full.dim():
            assert torch.equal(full, whole[name]), name


def test_a_scalar_that_torch_loses_on_the_way_is_found_by_its_bits(saved: Path) -> None:
    """Torch 2.13 leaves tensors without dimensions out when it puts parts together: zeros, and no error."""
    lost = load_file(saved / "whole" / "model-00001-of-00001.safetensors")["scalar"]
    assert (rebuilt(saved / "whole" / "sharded")["scalar"].item(), lost.item()) == (3.0, 0.0)
    assert said(saved / "whole").verdict == "proved"
    found = said(saved / "whole", values=True)
    assert (found.verdict, found.codes) == ("refuted", ("SM404",))
    assert "is 0x40400000 on part 0 and 0x00000000 on the consolidated tensor" in found.sentences[0]


@pytest.mark.parametrize("shard", range(1, WORLD + 1))
def test_a_lost_shard_is_missed_by_us(saved: Path, shard: int, tmp_path: Path) -> None:
    folder = shutil.copytree(saved / "whole", tmp_path / "whole")
    (folder / "sharded" / f"shard-{shard:05}-model-00001-of-00001.safetensors").unlink()
    found = said(folder)
    assert found.verdict == "refuted"
    assert set(found.codes) <= {"SM301", "CK111"}
