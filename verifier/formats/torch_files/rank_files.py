"""Files of torch.save named after the rank that wrote them, such as ``model_world_size_8_rank_3.pt``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from verifier.formats.pickles.torch_values import integers_in
from verifier.formats.pickles.torch_zip import TensorHeader, read_storages, read_torch_zip
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.limits import MIB, Limits
from verifier.formats.reading.refusal import FormatError
from verifier.formats.torch_files.dtensor_records import DTENSOR, RankTensors, rank_tensors
from verifier.formats.torch_files.sight import RANK_FILE
from verifier.model.origin import Origin

MOST_MESHES = 64
"""Meshes of one file whose ranks are read from a tensor."""
MOST_MESH_BYTES = 8 * MIB

RankSet = tuple[list["RankFile"], list[Refusal]]
"""The files of one set that could be read, in the order of ranks, and the refusals of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFile:
    """One file: its name, the rank in the name, and its tensors."""

    name: str
    path: Path
    origin: Origin
    rank: int | None
    tensors: RankTensors

    @property
    def names(self) -> frozenset[str]:
        """The names of all its tensors."""
        tensors = self.tensors
        return frozenset(tensors.cut.keys() | tensors.plain.keys() | tensors.refused.keys())

    @property
    def writer(self) -> int | None:
        """The rank that its meshes state as the one that wrote it; the rank in its name when none does."""
        stated = (tensor.mesh.writer for tensor in self.tensors.cut.values())
        return next((rank for rank in stated if rank is not None), self.rank)


def rank_in(file_name: str) -> int | None:
    """The rank in the name of a file, None when it has none."""
    match = RANK_FILE.fullmatch(file_name)
    return None if match is None else int(match["rank"])


def sets_in(folder: Path, origin: Origin, limits: Limits) -> dict[str, list[str]]:
    """The names of per-rank files, by what stands before the rank, in the order of ranks."""
    found: dict[str, list[tuple[int, str]]] = {}
    for entry in folder.iterdir():
        match = RANK_FILE.fullmatch(entry.name)
        if match is not None and entry.is_file():
            found.setdefault(match["stem"], []).append((int(match["rank"]), entry.name))
    total = sum(map(len, found.values()))
    if not total:
        raise FormatError(
            "SM001", "no file here is named after a rank", origin, help="such as rank0.pt, rank1.pt, ..."
        )
    if total > limits.files:
        raise FormatError(
            "SM006",
            f"{total} rank files, over the limit of {limits.files}",
            origin,
            help="name the files to check one by one",
        )
    return {stem: [name for _, name in sorted(found[stem])] for stem in sorted(found)}


def read_rank_set(folder: Path, names: Iterable[str], origin: Origin, limits: Limits) -> RankSet:
    """The files of one set; one that cannot be read hides no other."""
    files: list[RankFile] = []
    refusals: list[Refusal] = []
    for name in names:
        place = Origin(f"{origin.file.rstrip('/')}/{name}")
        try:
            files.append(read_rank_file(folder / name, place, limits))
        except FormatError as error:
            refusals.append(Refusal.of(name, error))
        except OSError as error:
            refusals.append(_unopened(name, place, error))
    return files, refusals


def read_rank_file(path: Path, origin: Origin, limits: Limits) -> RankFile:
    """One file of a rank.

    Raises:
        FormatError: SM001, SM003, SM006 or SM007.
        OSError: the file cannot be opened.
    """
    value = read_torch_zip(path, origin, limits, DTENSOR)
    return rank_file(value, path, origin, limits)


def rank_file(value: object, path: Path, origin: Origin, limits: Limits) -> RankFile:
    """The value of one file of torch.save."""
    stored: dict[str, bytes] = {}
    small = replace(limits, value_bytes=min(limits.value_bytes, MOST_MESH_BYTES))

    def integers(header: TensorHeader) -> tuple[int, ...] | None:
        # In old files the ranks of a mesh are a tensor, which all DTensors on it share.
        if header.storage not in stored and len(stored) < MOST_MESHES:
            stored.update(read_storages(path, origin, [header.storage], small))
        return integers_in(header, stored)

    return RankFile(
        name=path.name,
        path=path,
        origin=origin,
        rank=rank_in(path.name),
        tensors=rank_tensors(value, origin, integers),
    )


def _unopened(name: str, place: Origin, error: OSError) -> Refusal:
    return Refusal(
        name=name,
        origin=place,
        code="SM001",
        message=f"cannot be opened: {error.strerror}",
        help="check the path and its permissions",
    )
