"""Maps lowered from files of DTensors rebuild the tensors that torch cut, for any list of placements."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.layouts.dtensor_cases import Case, case_at
from tests.oracle.dtensor_files import elements, over_parts_of_a_mesh, tensor_of, write
from verifier import Proved, check_map
from verifier.formats import Document, read
from verifier.oracle.execute import rebuild

CASES = [case_at(5, index) for index in range(160)]
WORLDS = (4, 6, 8)


def assert_rebuilt(folder: Path, document: Document) -> None:
    """Each map is right, and puts the local tensors in the files back together."""
    assert (document.refusals, document.faults) == ((), ())
    files = {
        rank: torch.load(folder / f"rank{rank}.pt", weights_only=False) for rank in range(ranks_in(folder))
    }
    for subject in document.subjects:
        assert subject.faults == ()
        assert isinstance(check_map(subject.shard_map).verdict, Proved), subject.name
        shards = {rank: tensors[subject.name]._local_tensor for rank, tensors in files.items()}
        full = rebuild(shards, subject.shard_map).full
        assert torch.equal(full, elements(subject.shard_map.logical_shape)), subject.name


def ranks_in(folder: Path) -> int:
    return len(list(folder.glob("rank*.pt")))


@pytest.mark.parametrize("world", WORLDS)
def test_random_placements_are_rebuilt(world: int, tmp_path: Path) -> None:
    cases = {str(number): case for number, case in enumerate(CASES) if case.ranks == world}
    assert len(cases) > 15
    assert {kind for case in cases.values() for kind in (case.shard_order is None, len(case.mesh) > 1)} == {
        True,
        False,
    }
    write(tmp_path, world, lambda: {name: tensor_of(case) for name, case in cases.items()})
    document = read(tmp_path)
    assert [subject.name for subject in document.subjects] == list(cases)
    for subject, case in zip(document.subjects, cases.values(), strict=True):
        same_layout(subject.shard_map.ranks, case)
    assert_rebuilt(tmp_path, document)


def same_layout(ranks: object, case: Case) -> None:
    """The reference layout of the same placements says the same of every rank."""
    assert ranks == case.map().ranks, str(case)


def test_copies_of_a_part_of_a_mesh_hold_the_same(tmp_path: Path) -> None:
    write(tmp_path, 8, over_parts_of_a_mesh)
    document = read(tmp_path)
    assert [subject.name for subject in document.subjects] == ["whole", "two", "one", "flattened"]
    assert_rebuilt(tmp_path, document)
    assert document.checks == {"rank files": 8, "replicated plain tensors": 1}
    one = document.subjects[2].shard_map
    assert {piece.locations for _, _, piece in one.pieces()} == {(0, 1, 4, 5), (2, 3, 6, 7)}
