"""Torch's distributed checkpoints: ``.metadata`` says which chunk of which tensor lies where in ``*.distcp``.

Torch checks neither that the chunks cover a tensor when it loads, nor that what is stored is what the
metadata promises. Without collectives each rank writes a metadata file of its own (``ranks``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from verifier.formats.dcp.gather import NEVER, REPLICAS, StoredParts, gather_objects, gather_tensors
from verifier.formats.dcp.metadata import read_metadata
from verifier.formats.dcp.nesting import check_nesting
from verifier.formats.dcp.ranks import gather_ranks
from verifier.formats.dcp.sight import METADATA_FILE, rank_of_metadata
from verifier.formats.dcp.storage import DATA_SUFFIX, check_entries
from verifier.formats.reading.document import Document
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

KIND = "dcp"


def read_dcp(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a checkpoint folder, or of its metadata file by itself.

    Raises:
        FormatError: the metadata cannot be read: SM001 to SM007.
        OSError: the folder or the metadata cannot be opened.
    """
    gathered = Gathered()
    if not path.is_dir():
        _gather_file(path, origin, request, gathered)
        return gathered.document(origin.file, KIND)
    names = Sight(path).names
    if METADATA_FILE in names:
        _gather_folder(path, origin, names, request, gathered)
    elif any(rank_of_metadata(name) is not None for name in names):
        gather_ranks(path, origin, names, request, gathered)
    else:
        gathered.faults.append(_no_metadata(names, origin.file))
    gathered.unchecked += NEVER
    return gathered.document(origin.file, KIND)


def _gather_file(path: Path, origin: Origin, request: Request, gathered: Gathered) -> None:
    contents = read_metadata(path, origin, request.limits)
    gather_tensors(contents, origin, request, gathered)
    gather_objects([contents], gathered)
    check_entries([contents], origin.file, gathered)
    check_nesting([contents], origin.file, gathered)
    gathered.unchecked += (*NEVER, REPLICAS, "data files: the metadata was named, not its folder")


def _gather_folder(
    folder: Path, origin: Origin, names: Sequence[str], request: Request, gathered: Gathered
) -> None:
    file = Origin(f"{origin.file.rstrip('/')}/{METADATA_FILE}")
    contents = read_metadata(folder / METADATA_FILE, file, request.limits)
    with StoredParts([contents], folder, file, request, gathered) as stored:
        gather_tensors(contents, file, request, gathered, partial(stored.faults_of, contents))
        stored.check(names)
    gather_objects([contents], gathered)
    gathered.unchecked.append(REPLICAS)


def _no_metadata(names: Sequence[str], file: str) -> Fault:
    data = [name for name in names if name.endswith(DATA_SUFFIX)]
    beside = f"beside {shown(data[0])}" if data else "in the folder"
    return set_fault(
        "CK101",
        METADATA_FILE,
        f"is not {beside}",
        stated="it alone says which tensors the data files hold",
        file=file,
        reason="nothing can be loaded: the chunks carry no names",
    )
