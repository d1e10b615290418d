"""A shard map beside the tensors that it describes: ``map.json`` and ``rank0.safetensors``, ``rank1...``.

This is how a gate or a job writes down what each rank holds, replicas included; checkpoints keep one copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from verifier.formats.maps.map_json import read_json_file
from verifier.formats.reading.document import Document, Subject
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.formats.reading.regular import regular
from verifier.formats.reading.request import Request
from verifier.formats.safetensors.files import MAP, rank_of
from verifier.formats.safetensors.folder import files_of, open_files, place_in
from verifier.formats.safetensors.header import BITS, Header, StoredTensor
from verifier.formats.safetensors.replica_bits import replica_drift, run_count, stays_inside
from verifier.formats.safetensors.stored_bytes import has_right_size, size_faults
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

KIND = "map+safetensors"
VALUES_OFF = "values: no tensor data is read, so whether replicas are equal is open (--values compares them)"


def read_map_with_tensors(path: Path, origin: Origin, request: Request) -> Document:
    """The document of such a folder: each map, with the tensors of its ranks held against it.

    Raises:
        FormatError: the map cannot be read; SM006 for too many files.
        OSError: the folder or the map cannot be read.
    """
    prefix = origin.file.rstrip("/")
    document = read_json_file(path / MAP, place_in(prefix, MAP), request)
    gathered = Gathered(refusals=list(document.refusals), unchecked=list(document.unchecked))
    files = [name for name in files_of(path, prefix, request.limits) if rank_of(name) is not None]
    folder = open_files(path, prefix, files, request.limits, gathered)
    headers = {rank: header for name, header in folder.headers.items() if (rank := rank_of(name)) is not None}
    there = {rank_of(name) for name in files if folder.has(name)}
    _gather_missing(document.subjects, there, prefix, gathered)
    paths = {rank: path / name for name in folder.headers if (rank := rank_of(name)) is not None}
    for subject in document.subjects:
        held = _Held.of(subject, headers, alone=len(document.subjects) == 1)
        gathered.subjects.append(held.checked(paths if request.values else {}, request, gathered))
    if not request.values:
        gathered.unchecked.append(VALUES_OFF)
    return gathered.document(origin.file, KIND)


def _gather_missing(
    subjects: tuple[Subject, ...], there: Set[int | None], prefix: str, gathered: Gathered
) -> None:
    needed = {rank for subject in subjects for rank, shard in subject.shard_map.ranks.items() if shard.numel}
    missing = sorted(needed - there)
    if missing:
        fault = set_fault(
            "CK101",
            f"the file rank{missing[0]}.safetensors",
            "is not there",
            stated=f"{MAP} gives rank {missing[0]} a shard",
            file=prefix,
            number=len(missing),
        )
        gathered.faults.append(fault)


@dataclass(frozen=True, slots=True)
class _Held:
    """A map with the tensor of each rank that has one."""

    subject: Subject
    tensors: Mapping[int, tuple[Header, StoredTensor]]
    lacking: tuple[int, ...]

    @classmethod
    def of(cls, subject: Subject, headers: Mapping[int, Header], *, alone: bool) -> _Held:
        """The tensors of the map's name; a lone map has no name of its own, and means a lone tensor."""
        ranks = [rank for rank, shard in subject.shard_map.ranks.items() if rank in headers and shard.numel]
        name = subject.name
        if alone and not any(name in headers[rank].names for rank in ranks):
            found = {names[0] for rank in ranks if len(names := headers[rank].names) == 1}
            name = found.pop() if len(found) == 1 else name
        tensors = {
            rank: (headers[rank], tensor)
            for rank in ranks
            for tensor in headers[rank].tensors
            if tensor.name == name
        }
        lacking = tuple(rank for rank in ranks if name not in headers[rank].names)
        shard_map = replace(subject.shard_map, name=name)
        return cls(replace(subject, name=name, shard_map=shard_map), tensors, lacking)

    def checked(self, paths: Mapping[int, Path], request: Request, gathered: Gathered) -> Subject:
        """The map with what its tensors say."""
        faults = [*self._absent(), *self._shapes(), *self._types(), *size_faults(self.tensors.values())]
        if not faults and paths:
            faults += self._drift(paths, request, gathered)
        return replace(self.subject, faults=(*self.subject.faults, *faults))

    def _absent(self) -> Iterator[Fault]:
        if self.lacking:
            yield set_fault(
                "CK111",
                f"the shard of rank {self.lacking[0]}",
                f"is not in rank{self.lacking[0]}.safetensors",
                stated=f"{MAP} gives it one",
                number=len(self.lacking),
            )

    def _shapes(self) -> Iterator[Fault]:
        """SM204 for a tensor of another size than the shard, SM507 for one of another shape."""
        for rank, (header, tensor) in self.tensors.items():
            stated = self.subject.shard_map.ranks[rank].shard_shape
            if tensor.shape != stated:
                same = math.prod(tensor.shape) == math.prod(stated)
                yield Fault(
                    code="SM507" if same else "SM204",
                    side="map",
                    rank=rank,
                    values={"descriptor": header.origin.file, "stated": tensor.shape, "found": stated},
                )
                return

    def _types(self) -> Iterator[Fault]:
        types = [(rank, tensor.dtype) for rank, (_, tensor) in self.tensors.items()]
        others = [(rank, dtype) for rank, dtype in types if dtype != types[0][1]]
        if others:
            yield set_fault(
                "CK114",
                f"the type of rank {others[0][0]}",
                f"is {others[0][1]}",
                stated=f"that of rank {types[0][0]} is {types[0][1]}",
                number=len(others),
            )

    def _drift(self, paths: Mapping[int, Path], request: Request, gathered: Gathered) -> Iterator[Fault]:
        shard_map = self.subject.shard_map
        bits = next((BITS[tensor.dtype] for _, tensor in self.tensors.values()), 8)
        reason = self._incomparable(bits, request)
        if reason is not None:
            gathered.unchecked.append(
                f"whether the replicas of {shown(self.subject.name)} are equal: {reason}"
            )
            return
        item = bits // 8

        def read(rank: int, first: int, number: int) -> bytes:
            header, tensor = self.tensors[rank]
            # Opened anew each time: there may be more ranks than files that a process may have open.
            with open(paths[rank], "rb", opener=regular) as file:
                file.seek(header.data_start + tensor.begin + first * item)
                return file.read(number * item)

        fault, compared = replica_drift(shard_map, read, item)
        if fault is None:
            gathered.holds("replica runs", compared)
        else:
            yield fault

    def _incomparable(self, bits: int, request: Request) -> str | None:
        """Why values cannot be compared, None when they can."""
        shard_map = self.subject.shard_map
        needed = {rank for rank, shard in shard_map.ranks.items() if shard.numel}
        if not needed <= self.tensors.keys():
            return "not every rank has a readable tensor"
        if bits % 8:
            return f"elements of {bits} bits do not begin at bytes"
        if any(tensor.end > header.data_bytes for header, tensor in self.tensors.values()):
            return "a file ends before its tensor does"
        if not all(has_right_size(tensor) for _, tensor in self.tensors.values()):
            return "a tensor has another size than its type and shape"
        runs = run_count(shard_map)
        if runs > request.limits.replica_runs:
            return f"{runs} stretches of memory, over the limit of {request.limits.replica_runs}"
        return None if stays_inside(shard_map) else "the map is wrong"
