"""DTensors that each rank saved by itself: ``rank0.pt``, ``model_world_size_8_rank_3.pt``.

Every file describes the whole layout: mesh, placements, shape. So one file gives the map, and the others must
say the same, hold a local tensor of the shape that the map gives their rank, and be there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path

from verifier.formats.reading.document import Document, Refusal, Subject
from verifier.formats.reading.refusal import FormatError, shown, some
from verifier.formats.reading.request import Request
from verifier.formats.reading.stated_shapes import other_shape, unstored_fault
from verifier.formats.torch_files.device_mesh import Mesh
from verifier.formats.torch_files.dtensor_map import UnfitError, dtensor_map, placements_text
from verifier.formats.torch_files.dtensor_records import DTensor
from verifier.formats.torch_files.rank_agreement import (
    copied_files,
    counted_once,
    disagree,
    missing_ranks,
    other_names,
    plain_tensors,
    stages,
)
from verifier.formats.torch_files.rank_files import RankFile, read_rank_file, read_rank_set, sets_in
from verifier.formats.torch_files.stored_values import Replicas
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault

KIND = "torch-dtensor"
VALUES_OFF = "the values of tensors, so whether replicas are equal: no tensor data is read"
VALUES_LEFT = "the values of plain tensors, and of DTensors without replicas"
OF_THE_MESH = ("the shape of the mesh", "the ranks of the mesh")
OF_STAGES = (
    "whether ranks that share no mesh hold what they should: their tensors differ, as in pipeline stages"
)
SOUNDNESS = Expectation()

Holding = tuple[RankFile, DTensor]
"""A file, and one tensor as it is in it."""


def read_rank_files(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a folder of per-rank files, or of one such file.

    Raises:
        FormatError: SM001 when there is no such file, SM006 for too many of them.
        OSError: the folder cannot be listed, or the file not opened.
    """
    if not path.is_dir():
        file = read_rank_file(path, origin, request.limits)
        return rank_files_document([file], origin=origin, request=request, whole_set=False)
    documents = []
    for names in sets_in(path, origin, request.limits).values():
        files, refusals = read_rank_set(path, names, origin, request.limits)
        documents.append(rank_files_document(files, origin=origin, request=request, refusals=refusals))
    return reduce(_joined, documents)


def rank_files_document(
    files: Sequence[RankFile],
    *,
    origin: Origin,
    request: Request,
    whole_set: bool = True,
    refusals: Sequence[Refusal] = (),
) -> Document:
    """The document of files that belong together; ``whole_set``: these should be the files of all ranks."""
    refused = [
        *refusals,
        *(Refusal.of(name, error) for file in files for name, error in file.tensors.refused.items()),
    ]
    unchecked = [VALUES_LEFT if request.values else VALUES_OFF]
    if not whole_set:
        unchecked.append("the files of other ranks: one file was named, not its folder")
    if not any(file.tensors.cut for file in files):
        unchecked.append("how tensors are cut: no DTensor is in these files")
    copied = list(copied_files(files))
    # A file that is another one's copy says nothing of its rank.
    told = [file for file in files if not copied or file.rank in (None, file.writer)]
    parts = stages(told)
    if len(parts) > 1:
        unchecked.append(OF_STAGES)
    faults = [*copied, *(missing_ranks(files, refusals) if whole_set else ())]
    faults += counted_once([fault for part in parts for fault in other_names(part)])
    plain = [plain_tensors(part) for part in parts]
    faults += counted_once([fault for found, _ in plain for fault in found])
    faults.extend(_stated_shapes(told, request))
    replicas = Replicas(request) if request.values else None
    judged = _judged(parts, request, replicas)
    faults += judged.faults
    refused += judged.refused
    unchecked += judged.unchecked()
    checks = {"rank files": len(files), "replicated plain tensors": sum(same for _, same in plain)}
    if replicas is not None:
        unchecked.extend(replicas.unchecked())
        checks["replica runs"] = replicas.compared
    return Document(
        file=origin.file,
        kind=KIND,
        subjects=tuple(judged.subjects),
        refusals=tuple(refused),
        faults=tuple(faults),
        checks={what: count for what, count in checks.items() if count and len(files) > 1 and not faults},
        unchecked=tuple(unchecked),
    )


@dataclass(slots=True)
class _Judged:
    """What became of the tensors that are cut: maps, faults and refusals, and the names of the others."""

    subjects: list[Subject] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    two_dtypes: list[str] = field(default_factory=list)

    def unchecked(self) -> Iterator[str]:
        """Remarks on tensors without a map, or with one that says not all."""
        if self.partial:
            yield f"partial tensors, which hold summands and no elements: {some(self.partial)}"
        if self.two_dtypes:
            yield f"the dtype of tensors that state one and hold another: {some(self.two_dtypes)}"


def _judged(parts: Sequence[Sequence[RankFile]], request: Request, replicas: Replicas | None) -> _Judged:
    """Each tensor that is cut, held by the files of a stage."""
    judged = _Judged()
    meshes: set[tuple[Mesh, Mesh]] = set()
    for name, holding in _holdings(parts):
        if any(None in tensor.placements for _, tensor in holding):
            judged.partial.append(name)
            continue
        if holding[0][1].dtype not in (None, holding[0][1].local.dtype):
            judged.two_dtypes.append(name)
        try:
            judged.subjects.append(_subject(name, holding, meshes, request, replicas))
        except UnfitError as error:
            judged.faults.append(_unfit(name, holding[0][0], error))
        except FormatError as error:
            judged.refused.append(Refusal.of(name, error))
    return judged


def _holdings(parts: Sequence[Sequence[RankFile]]) -> Iterator[tuple[str, list[Holding]]]:
    """Each tensor with the files of a stage that hold it; what another stage calls so is another tensor."""
    for part in parts:
        for name in {name: None for file in part for name in file.tensors.cut}:
            yield name, [(file, file.tensors.cut[name]) for file in part if name in file.tensors.cut]


def _subject(
    name: str,
    holding: Sequence[Holding],
    meshes: set[tuple[Mesh, Mesh]],
    request: Request,
    replicas: Replicas | None,
) -> Subject:
    """The map of one tensor, from the first file that has it, held against the other files.

    Many tensors share a mesh: ``meshes`` are the pairs of different ones that were reported already.
    """
    base_file, base = holding[0]
    faults: list[Fault] = []
    differing = [
        (file, what, (base.mesh, tensor.mesh))
        for file, tensor in holding[1:]
        if (what := _difference(base, tensor))
    ]
    unreported = [one for one in differing if one[2] not in meshes or one[1][0] not in OF_THE_MESH]
    if unreported:
        file, (aspect, here, there), _ = unreported[0]
        faults.append(
            disagree(
                f"{aspect} of {shown(name)}",
                here,
                stated=f"{base_file.name} says {there}",
                file=file.name,
                count=len(unreported),
            )
        )
    meshes.update(pair for _, (aspect, _, _), pair in differing if aspect in OF_THE_MESH)
    agreeing = [(file, tensor) for file, tensor in holding if not _difference(base, tensor)]
    copies = list(dict.fromkeys(tensor.mesh.ranks for _, tensor in agreeing))
    shard_map = dtensor_map(name, base_file.origin, base, copies)
    faults.extend(_local_shapes(name, shard_map, agreeing))
    if replicas is not None and not faults:
        faults.extend(replicas.drift(shard_map, agreeing))
    faults.extend(other_shape(name, base.shape, request.shapes))
    return Subject(
        name=name,
        origin=base_file.origin,
        shard_map=shard_map,
        expectation=SOUNDNESS,
        faults=tuple(faults),
    )


def _difference(base: DTensor, other: DTensor) -> tuple[str, str, str] | None:
    """What two files state differently of one tensor: (what, what it is there, what in the base)."""
    if base.shape != other.shape:
        return "the whole shape", f"is {other.shape}", str(base.shape)
    if base.mesh.shape != other.mesh.shape:
        return OF_THE_MESH[0], f"is {other.mesh.shape}", str(base.mesh.shape)
    if base.placements != other.placements:
        return "the placements", f"are {placements_text(other.placements)}", placements_text(base.placements)
    if base.order != other.order:
        return "the shard order", f"is {other.order}", str(base.order)
    if _overlap(base.mesh.world, other.mesh.world) or _overlap(base.mesh.ranks, other.mesh.ranks):
        return OF_THE_MESH[1], f"are [{some(other.mesh.ranks)}]", f"[{some(base.mesh.ranks)}]"
    if base.local.dtype != other.local.dtype:
        return "the dtype", f"is {other.local.dtype}", base.local.dtype
    if base.dtype != other.dtype:
        return "the dtype of the whole", f"is {other.dtype}", str(base.dtype)
    return None


def _overlap(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether ranks are not the same, and not without any in common, as copies of a mesh are.

    Before torch 2.9 a mesh did not state its root mesh, and copies have no world in common either.
    """
    return one != other and not set(one).isdisjoint(other)


def _local_shapes(name: str, shard_map: ShardMap, holding: Sequence[Holding]) -> Iterator[Fault]:
    """Each file holds as many elements, in the shape, as its rank has by the map."""
    for file, tensor in holding:
        shard = shard_map.ranks.get(file.writer) if file.writer is not None else None
        if shard is None or shard.shard_shape == tensor.local.shape:
            continue
        same_numel = math.prod(shard.shard_shape) == tensor.local.numel
        yield Fault(
            code="SM507" if same_numel else "SM204",
            side="map",
            rank=file.writer,
            values={
                "descriptor": f"the local tensor in {file.name}",
                "stated": tensor.local.shape,
                "found": shard.shard_shape,
            },
        )


def _stated_shapes(files: Sequence[RankFile], request: Request) -> Iterator[Fault]:
    """Plain tensors of another shape than the expected one, and expected tensors that no file has."""
    if request.shapes is None:
        return
    plain = {name: header.shape for file in files for name, header in file.tensors.plain.items()}
    for name, shape in plain.items():
        yield from other_shape(name, shape, request.shapes, f"the expected shape of {shown(name)}")
    cut = {name for file in files for name in file.tensors.cut}
    refused = {name for file in files for name in file.tensors.refused}
    absent = [name for name in request.shapes if shown(name) not in refused]
    yield from unstored_fault(absent, plain.keys() | cut)


def _unfit(name: str, file: RankFile, error: UnfitError) -> Fault:
    values = {"what": f"the sharding of {shown(name)}", "found": error.found, "stated": error.stated}
    return Fault(code="CK115", side="map", values={**values, "file": file.name})


def _joined(one: Document, other: Document) -> Document:
    """One document of two sets of files in a folder, such as those of the model and of the optimizer."""
    return Document(
        file=one.file,
        kind=KIND,
        subjects=(*one.subjects, *other.subjects),
        refusals=(*one.refusals, *other.refusals),
        faults=(*one.faults, *other.faults),
        checks={
            what: one.checks.get(what, 0) + other.checks.get(what, 0)
            for what in {**one.checks, **other.checks}
        },
        unchecked=tuple(dict.fromkeys((*one.unchecked, *other.unchecked))),
    )
