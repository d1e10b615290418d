"""DTensors that each rank saved by itself: ``rank0.pt``, ``model_world_size_8_rank_3.pt``.

Every file describes the whole layout: mesh, placements, shape. So one file gives the map, and the others must
say the same, hold a local tensor of the shape that the map gives their rank, and be there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path

from verifier.formats.reading.document import Document, Refusal, Subject
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.stated_shapes import other_shape, unstored_fault
from verifier.formats.torch_files.device_mesh import Mesh
from verifier.formats.torch_files.dtensor_map import UnfitError, dtensor_map, placements_text
from verifier.formats.torch_files.dtensor_records import DTensor
from verifier.formats.torch_files.rank_agreement import (
    copied_files,
    disagree,
    missing_ranks,
    other_names,
    plain_tensors,
)
from verifier.formats.torch_files.rank_files import RankFile, read_rank_file, read_rank_set, sets_in
from verifier.formats.torch_files.stored_values import Replicas
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault

KIND = "torch-dtensor"
NAMES_SHOWN = 4
VALUES_OFF = "the values of tensors, so whether replicas are equal: no tensor data is read"
VALUES_LEFT = "the values of plain tensors, and of DTensors without replicas"
OF_THE_MESH = ("the shape of the mesh", "the ranks of the mesh")
SOUNDNESS = Expectation()


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
    faults = [*copied, *(missing_ranks(files, refusals) if whole_set else ()), *other_names(told)]
    different_shapes, same = plain_tensors(told)
    faults.extend(different_shapes)
    faults.extend(_stated_shapes(told, request))
    replicas = Replicas(request) if request.values else None
    subjects: list[Subject] = []
    partial: list[str] = []
    meshes: set[tuple[Mesh, Mesh]] = set()
    for name in {name: None for file in told for name in file.tensors.cut}:
        holding = [(file, file.tensors.cut[name]) for file in told if name in file.tensors.cut]
        if any(None in tensor.placements for _, tensor in holding):
            partial.append(name)
            continue
        try:
            subjects.append(_subject(name, holding, meshes, request, replicas))
        except UnfitError as error:
            faults.append(_unfit(name, holding[0][0], error))
        except FormatError as error:
            refused.append(Refusal.of(name, error))
    if partial:
        unchecked.append(f"partial tensors, which hold summands and no elements: {_some(partial)}")
    checks = {"rank files": len(files), "replicated plain tensors": same}
    if replicas is not None:
        unchecked.extend(replicas.unchecked())
        checks["replica runs"] = replicas.compared
    return Document(
        file=origin.file,
        kind=KIND,
        subjects=tuple(subjects),
        refusals=tuple(refused),
        faults=tuple(faults),
        checks={what: count for what, count in checks.items() if count and len(files) > 1 and not faults},
        unchecked=tuple(unchecked),
    )


def _subject(
    name: str,
    holding: Sequence[tuple[RankFile, DTensor]],
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
    if base.mesh.world != other.mesh.world or _share_a_part(base.mesh, other.mesh):
        return OF_THE_MESH[1], f"are {_ranks(other.mesh.ranks)}", _ranks(base.mesh.ranks)
    if base.local.dtype != other.local.dtype:
        return "the dtype", f"is {other.local.dtype}", base.local.dtype
    return None


def _share_a_part(one: Mesh, other: Mesh) -> bool:
    """Copies of a mesh in its root mesh are the same, or have no rank in common."""
    return one.ranks != other.ranks and not set(one.ranks).isdisjoint(other.ranks)


def _local_shapes(
    name: str, shard_map: ShardMap, holding: Sequence[tuple[RankFile, DTensor]]
) -> Iterator[Fault]:
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


def _some(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > NAMES_SHOWN else ""
    return ", ".join(shown(name) for name in names[:NAMES_SHOWN]) + more


def _ranks(ranks: Sequence[int]) -> str:
    more = ", ..." if len(ranks) > NAMES_SHOWN else ""
    return f"[{', '.join(map(str, ranks[:NAMES_SHOWN]))}{more}]"
