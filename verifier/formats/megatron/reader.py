"""Megatron-core checkpoints: torch's distributed format with conventions of their own.

Optimizer state may be flattened (``flat``), and objects are cut into grids by their names.
``all_local_plans`` repeats the chunks of the same file and so cannot bear witness to them. The zarr backend
of older releases is read elsewhere.
"""

from __future__ import annotations

from pathlib import Path

from verifier.formats.dcp.contents import Contents
from verifier.formats.dcp.gather import NEVER, REPLICAS, StoredParts, tensor_box
from verifier.formats.dcp.metadata import read_metadata
from verifier.formats.dcp.sight import MEGATRON_FILE, METADATA_FILE
from verifier.formats.megatron.common import COMMON, check_common
from verifier.formats.megatron.flat import unflattened
from verifier.formats.megatron.zarr import read_megatron_zarr
from verifier.formats.reading.document import Document
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.gathered import Gathered
from verifier.formats.reading.json_text import parse
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.object_files import check_objects
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.reading.stated_shapes import unstored_fault
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.model.origin import Origin

KIND = "megatron"
TORCH_DIST, ZARR = "torch_dist", "zarr"
OBJECT_SHARD = "/shard_"
JSON_BYTES = 65536
UNTOLD = "whether a tensor was flattened, and its shape before that: mcore_data does not say"


def read_megatron(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a checkpoint folder of Megatron-core.

    Raises:
        FormatError: metadata cannot be read: SM001 to SM007; SM004 for a backend that is not known.
        OSError: the folder or its metadata cannot be opened.
    """
    prefix = origin.file.rstrip("/")
    backend = _backend(path / MEGATRON_FILE, Origin(f"{prefix}/{MEGATRON_FILE}"), request.limits)
    if backend == ZARR:
        return read_megatron_zarr(path, origin, request)
    names = Sight(path).names
    gathered = Gathered()
    file = Origin(f"{prefix}/{METADATA_FILE}")
    contents = read_metadata(path / METADATA_FILE, file, request.limits)
    with StoredParts([contents], path, file, request, gathered) as stored:
        _gather(contents, file, request, gathered, stored)
        stored.check(names)
    _objects(contents, file.file, gathered)
    check_common(path, prefix, names, request.limits, gathered)
    gathered.unchecked += (*NEVER, REPLICAS, f"what is not sharded: {COMMON} is not read")
    return gathered.document(origin.file, KIND)


def _backend(path: Path, origin: Origin, limits: Limits) -> str:
    """The name of the backend that wrote the tensors.

    Raises:
        FormatError: SM001 to SM006 for JSON that cannot be read, SM004 for a backend that is not known,
            or another version of it.
    """
    parsed = parse(bounded_bytes(path, JSON_BYTES, "JSON", origin), origin, limits)
    for flaw in parsed.flaws:
        raise flaw
    if not isinstance(parsed.value, dict):
        raise malformed("the file holds no object", origin, "copy it again from where it was written")
    backend = parsed.value.get("sharded_backend")
    if backend not in (TORCH_DIST, ZARR):
        raise FormatError(
            "SM004",
            f"the backend is {shown(backend)}; known are {TORCH_DIST} and {ZARR}",
            origin.child("sharded_backend"),
            help="convert the checkpoint to torch_dist",
        )
    for key in ("sharded_backend_version", "common_backend_version"):
        version = parsed.value.get(key, 1)
        if type(version) is not int or version != 1:
            raise FormatError(
                "SM004",
                f"{key} is {shown(version)}; version 1 is understood",
                origin.child(key),
                help="a newer shardproof may know this version",
            )
    return str(backend)


def _gather(
    contents: Contents, file: Origin, request: Request, gathered: Gathered, stored: StoredParts
) -> None:
    tells = contents.tells_reformed
    for tensor in contents.tensors:
        faults = stored.faults_of(contents, tensor)
        subject = tensor_box(tensor, file, request, faults)
        if tensor.name in contents.reformed:
            subject = unflattened(subject, tensor, contents.reformed[tensor.name])
        elif tells is not None and tensor.name not in tells:
            gathered.note(UNTOLD, tensor.name)
        gathered.boxes.append(subject)
    gathered.refusals += contents.refusals
    gathered.faults += unstored_fault(request.shapes, {tensor.name for tensor in contents.tensors})


def _objects(contents: Contents, file: str, gathered: Gathered) -> None:
    """That every cell of the grid of a sharded object is there."""
    shards: dict[str, list[str]] = {}
    for item in contents.objects:
        name, mark, cell = item.name.rpartition(OBJECT_SHARD)
        if mark:
            shards.setdefault(name, []).append(f"shard_{cell}.pt")
        else:
            gathered.note("pickled objects, which are never unpickled", item.name)
    for name, files in shards.items():
        check_objects(name, file, files, gathered)
