"""Distributed checkpoints with a metadata file for each rank: replicas are seen, and ranks that disagree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.formats.audited import said
from tests.formats.dcp.checkpoints import copied, metadata_of, saved
from verifier.formats import read

__all__ = ["saved"]

CUT, PLAIN = "cut", "plain"
"""A (7, 5) tensor in row chunks at 0, 2, 4 and 6, one a rank; a (5,) tensor that every rank holds."""


def of_rank(rank: int, change: Callable[[Any], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        with metadata_of(folder, f"__{rank}.metadata") as metadata:
            change(metadata)

    return damage


def box(name: str, offsets: tuple[int, ...], sizes: tuple[int, ...]) -> Callable[[Any], None]:
    """Another box for the only chunk, and the same change in its storage entry."""

    def change(metadata: Any) -> None:
        (chunk,) = metadata.state_dict_metadata[name].chunks
        chunk.offsets, chunk.sizes = torch.Size(offsets), torch.Size(sizes)
        (index,) = [index for index in metadata.storage_data if index.fqn == name]
        object.__setattr__(index, "offset", chunk.offsets)

    return change


def size(name: str, shape: tuple[int, ...]) -> Callable[[Any], None]:
    return lambda metadata: setattr(metadata.state_dict_metadata[name], "size", torch.Size(shape))


def other_type(metadata: Any) -> None:
    metadata.state_dict_metadata[PLAIN].properties.dtype = torch.int32


def unlisted(metadata: Any) -> None:
    del metadata.state_dict_metadata[CUT]


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "the metadata of a rank is gone": (lambda folder: (folder / "__1.metadata").unlink(), "CK101"),
    "all files of a rank are gone": (
        lambda folder: [path.unlink() for path in folder.glob("__1*")].clear(),
        "CK101",
    ),
    "the data file of a rank is gone": (lambda folder: (folder / "__2_0.distcp").unlink(), "CK101"),
    "a rank is shifted by a row": (of_rank(1, box(CUT, (1, 0), (2, 5))), "SM403"),
    "a rank holds a row too much": (of_rank(1, box(CUT, (2, 0), (3, 5))), "SM403"),
    "a rank leaves the tensor": (of_rank(3, box(CUT, (6, 0), (2, 5))), "SM102"),
    "a rank is wrapped around the end of a row": (of_rank(1, box(CUT, (0, 10), (2, 5))), "CK108"),
    "a rank says another shape": (of_rank(2, size(CUT, (8, 5))), "CK114"),
    "a rank says another type": (of_rank(2, other_type), "CK114"),
    "a rank does not list its chunk": (of_rank(2, unlisted), "SM301"),
    "a replica is cut short": (of_rank(2, box(PLAIN, (0,), (3,))), "SM403"),
    "the metadata of a rank is cut": (
        lambda folder: (folder / "__1.metadata").write_bytes(b"\x80\x04"),
        "SM001",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damage_to_one_rank_is_found(damage: str, saved: Path, tmp_path: Path) -> None:
    folder = copied(saved / "ranks", tmp_path / "checkpoint")
    apply, code = DAMAGES[damage]
    apply(folder)
    found = said(folder, payload=True)
    assert found.verdict in ("refuted", "unreadable")
    assert code in found.codes, found.sentences


def test_replicas_have_all_ranks_that_hold_them(saved: Path) -> None:
    maps = {subject.name: subject.shard_map for subject in read(saved / "ranks").subjects}
    assert {piece.locations for _, _, piece in maps[PLAIN].pieces()} == {(0, 1, 2, 3)}
    assert [piece.locations for _, _, piece in maps[CUT].pieces()] == [(0,), (1,), (2,), (3,)]


def test_a_rank_with_two_chunks_holds_them_one_behind_the_other(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved / "ranks", tmp_path / "checkpoint")
    with metadata_of(folder, "__1.metadata") as donor:
        taken = donor.state_dict_metadata.pop(CUT)
        entries = {index: info for index, info in donor.storage_data.items() if index.fqn == CUT}
        for index in entries:
            del donor.storage_data[index]
    with metadata_of(folder, "__0.metadata") as metadata:
        metadata.state_dict_metadata[CUT].chunks += taken.chunks
        metadata.storage_data |= entries
    (found,) = [subject for subject in read(folder).subjects if subject.name == CUT]
    assert found.shard_map.ranks[0].shard_shape == (20,)
    assert [piece.dest.offset for piece in found.shard_map.ranks[0].pieces] == [0, 10]
    assert said(folder, payload=True).verdict == "proved"


def test_a_rank_far_away_does_not_make_a_million_missing(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved / "ranks", tmp_path / "checkpoint")
    (folder / "__3.metadata").rename(folder / "__999999999.metadata")
    found = said(folder)
    assert "CK101" in found.codes
    assert len("".join(found.sentences)) < 1000
