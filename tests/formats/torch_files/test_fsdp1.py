"""Files that FSDP1 saved by rank: real ones are proved, and each damage is found by its code."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch.distributed._shard.sharded_tensor import ShardedTensor

from tests.formats.audited import said
from tests.formats.dcp.checkpoints import copied, saved
from tests.formats.mutating import mutants
from verifier.formats import FormatError, read

__all__ = ["saved"]

NAME = "0.weight"
"""A (7, 6) tensor in row shards of ranks 0 to 3; the last has one row."""


def file_of(rank: int) -> str:
    return f"pytorch_model_fsdp_rank{rank}.bin"


pytestmark = pytest.mark.filterwarnings("ignore:Please use DTensor:FutureWarning")


@contextmanager
def inert() -> Iterator[None]:
    """ShardedTensors keep the state they are given, so that files can be read and written without a job."""

    def keep(tensor: Any, state: tuple[Any, ...]) -> None:
        tensor.given = state
        # What torch asks of a tensor before it saves it.
        _, tensor._metadata, _, tensor._sharding_spec, _ = state
        tensor._process_group = None

    with (
        patch.object(ShardedTensor, "__setstate__", keep),
        patch.object(ShardedTensor, "__getstate__", lambda tensor: tensor.given),
    ):
        yield


def changed(rank: int, change: Callable[[Any, Any, Any], object], name: str = NAME) -> Callable[[Path], None]:
    """Change (metadata, local shards, group) of a tensor in the file of one rank."""

    def damage(folder: Path) -> None:
        path = folder / file_of(rank)
        with inert():
            state = torch.load(path, weights_only=False)
            local, metadata, group, *_ = state[name].given
            change(metadata, local, group)
            torch.save(state, path)

    return damage


def without(rank: int, name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        with inert():
            state = torch.load(folder / file_of(rank), weights_only=False)
            del state[name]
            torch.save(state, folder / file_of(rank))

    return damage


def everywhere(change: Callable[[Any, Any, Any], object]) -> Callable[[Path], None]:
    """The same change in the files of all ranks, so that they agree."""
    return lambda folder: [changed(rank, change)(folder) for rank in range(4)].clear()


def shard(position: int, **fields: list[int]) -> Callable[[Any, Any, Any], object]:
    def change(metadata: Any, local: Any, group: Any) -> None:
        for name, value in fields.items():
            setattr(metadata.shards_metadata[position], name, value)

    return change


def removed(metadata: Any, local: Any, group: Any) -> None:
    del metadata.shards_metadata[1]


def taller(metadata: Any, local: Any, group: Any) -> None:
    metadata.size = torch.Size((8, 6))


def short(metadata: Any, local: Any, group: Any) -> None:
    local[0].tensor = local[0].tensor[:1].clone()


def elsewhere(metadata: Any, local: Any, group: Any) -> None:
    local[0].metadata.shard_offsets = [0, 0]


def copy_file(folder: Path) -> None:
    shutil.copy(folder / file_of(0), folder / file_of(1))


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "the file of a rank is gone": (lambda folder: (folder / file_of(1)).unlink(), "CK101"),
    "the file of a rank is a copy": (copy_file, "CK114"),
    "the file of a rank is cut": (lambda folder: (folder / file_of(1)).write_bytes(b"PK\x03\x04"), "SM001"),
    "one rank says another shape": (changed(2, taller), "CK114"),
    "one rank says another offset": (changed(2, shard(1, shard_offsets=[1, 0])), "CK114"),
    "one rank knows a shard less": (changed(2, removed), "CK114"),
    "a stored shard is short": (changed(1, short), "CK110"),
    "a stored shard is of another rank": (changed(1, elsewhere), "CK110"),
    "all say a taller tensor": (everywhere(taller), "SM301"),
    "all lack a shard": (everywhere(removed), "SM301"),
    "all say that a shard is shifted": (everywhere(shard(1, shard_offsets=[1, 0])), "SM403"),
    "all say that a shard is shorter": (everywhere(shard(1, shard_sizes=[1, 6])), "SM301"),
    "all say that a shard is wrapped": (everywhere(shard(1, shard_offsets=[0, 12])), "CK108"),
    "a shard has a negative size": (changed(1, shard(1, shard_sizes=[-1, 6])), "SM104"),
    "a shard has three offsets": (changed(1, shard(1, shard_offsets=[2, 0, 0])), "SM103"),
    "a shard has an offset that is a bool": (changed(1, shard(1, shard_offsets=[True, 0])), "SM002"),
}


@pytest.mark.parametrize("kind", ["local", "sharded", "dcp"])
def test_what_fsdp1_saves_is_proved(kind: str, saved: Path) -> None:
    found = said(saved / f"fsdp1-{kind}", payload=True)
    assert (found.verdict, found.codes, found.warnings) == ("proved", (), ())


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damage_in_one_place_is_found_by_its_code(damage: str, saved: Path, tmp_path: Path) -> None:
    folder = copied(saved / "fsdp1-sharded", tmp_path / "checkpoint")
    apply, code = DAMAGES[damage]
    apply(folder)
    found = said(folder)
    assert found.verdict in ("refuted", "unreadable")
    assert code in found.codes, found.sentences


def test_a_flat_parameter_is_judged_and_what_is_inside_is_said_to_be_unknown(saved: Path) -> None:
    found = said(saved / "fsdp1-local")
    assert {"_flat_param", "1._flat_param"} < {*found.proved}
    assert any("which parameters lie in a flat parameter" in note for note in found.unchecked)


def test_the_map_has_the_rows_of_each_rank(saved: Path) -> None:
    maps = {subject.name: subject.shard_map for subject in read(saved / "fsdp1-sharded").subjects}
    rows = {rank: shard.shard_shape for rank, shard in maps[NAME].ranks.items()}
    assert rows == {0: (2, 6), 1: (2, 6), 2: (2, 6), 3: (1, 6)}


def test_a_file_by_itself_says_what_was_not_looked_at(saved: Path) -> None:
    found = said(saved / "fsdp1-sharded" / file_of(2))
    assert found.verdict == "proved"
    assert "the files of other ranks: one file was named, not its folder" in found.unchecked


def test_shards_that_name_no_rank_are_not_proved(saved: Path, tmp_path: Path) -> None:
    def nameless(metadata: Any, local: Any, group: Any) -> None:
        metadata.shards_metadata[1].placement = None

    folder = copied(saved / "fsdp1-sharded", tmp_path / "checkpoint")
    everywhere(nameless)(folder)
    found = said(folder)
    assert NAME not in found.proved
    assert any("name no rank" in note for note in found.unchecked)


def test_mutants_are_refused_or_judged(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved / "fsdp1-local", tmp_path / "checkpoint")
    data = (folder / file_of(1)).read_bytes()
    answers = set()
    for mutant in mutants(data, seed=4, count=120):
        (folder / file_of(1)).write_bytes(mutant)
        try:
            answers.add(bool(read(folder, display="x").refusals))
        except FormatError as error:
            answers.add(error.code)
    assert {True, False} <= answers
