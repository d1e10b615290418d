"""Safetensors: one file, an index with its files, or a folder of them. Reads headers, never values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from verifier.formats.reading.document import Document
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.reading.stated_shapes import unstored_fault
from verifier.formats.safetensors.files import (
    SHARDING_INFO,
    SUFFIX,
    is_index_name,
    is_other_weights,
    is_variant,
    set_name,
)
from verifier.formats.safetensors.folder import (
    SafetensorsFolder,
    files_of,
    gather_absent,
    gather_missing_numbers,
    open_files,
    place_in,
    refusal_of,
)
from verifier.formats.safetensors.header import Header, read_header
from verifier.formats.safetensors.index import Index, read_index
from verifier.formats.safetensors.indexed_files import IndexedFiles, siblings_of
from verifier.formats.safetensors.stored_bytes import (
    NEVER,
    gather_file,
    has_right_size,
    tensor_block,
)
from verifier.model.origin import Origin

KIND = "safetensors"


def read_safetensors(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a file, an index or a folder.

    Raises:
        FormatError: nothing in it can be read.
        OSError: the path cannot be opened.
    """
    gathered = Gathered()
    if path.is_dir():
        gather_folder(path, origin.file, request, gathered)
    elif is_index_name(path.name):
        _gather_indexed(path, origin, request, gathered)
    else:
        _gather_single(path, origin, request, gathered)
    gathered.unchecked += NEVER
    return gathered.document(origin.file, KIND)


def _gather_single(path: Path, origin: Origin, request: Request, gathered: Gathered) -> None:
    header = read_header(path, origin, request.limits)
    gather_file(header, gathered)
    if SHARDING_INFO in header.metadata:
        gathered.unchecked.append(
            f"whether the blocks of {origin.file} are whole tensors: name the folder to see the other files"
        )
    else:
        _gather_tensors([header], request, gathered)


def _gather_indexed(path: Path, origin: Origin, request: Request, gathered: Gathered) -> None:
    """One index and its files, and no others."""
    index = read_index(path, origin, request.limits)
    prefix = origin.file.removesuffix(path.name) or "."
    siblings = siblings_of(index, Sight(path.parent).names)
    listed = index.files.values()
    folder = open_files(path.parent, prefix, siblings, request.limits, gathered, named=listed)
    gather_absent(folder, siblings, gathered)
    _gather_index(index, folder, request, gathered)


def gather_folder(
    path: Path, prefix: str, request: Request, gathered: Gathered, *, known: Iterable[str] = ()
) -> SafetensorsFolder:
    """Add everything in a folder. ``known`` are folders in it that need no remark.

    Raises:
        FormatError: SM006 for too many files.
        OSError: the folder cannot be listed.
    """
    files = files_of(path, prefix, request.limits)
    indices = _indices(path, prefix, request, gathered)
    listed = {file for index in indices for file in index.files.values()}
    folder = open_files(path, prefix, files, request.limits, gathered, named=listed)
    gather_absent(folder, [name for name in files if name not in listed], gathered)
    siblings: set[str] = set()
    for index in indices:
        siblings.update(_gather_index(index, folder, request, gathered).siblings)
    strays = [name for name in files if name in folder.headers and name not in listed | siblings]
    unlisted = {name: folder.headers[name] for name in strays}
    if indices:
        _gather_strays(folder, unlisted, listed, gathered)
    else:
        _gather_unindexed(folder, unlisted, request, gathered)
    _remark_neighbours(folder, frozenset(known), gathered)
    return folder


def _indices(path: Path, prefix: str, request: Request, gathered: Gathered) -> list[Index]:
    """The indices of a folder that can be read."""
    found: list[Index] = []
    for name in filter(is_index_name, Sight(path).names):
        origin = place_in(prefix, name)
        try:
            found.append(read_index(path / name, origin, request.limits))
        except (FormatError, OSError) as error:
            gathered.refusals.append(refusal_of(name, origin, error))
    return found


def _gather_index(
    index: Index, folder: SafetensorsFolder, request: Request, gathered: Gathered
) -> IndexedFiles:
    files = IndexedFiles(index=index, folder=folder)
    files.check(gathered)
    _gather_tensors([folder.headers[name] for name in files.readable], request, gathered)
    return files


def _gather_tensors(headers: Iterable[Header], request: Request, gathered: Gathered) -> None:
    """Add each tensor of these files as a block that is all of it."""
    stored: set[str] = set()
    right = 0
    for header in headers:
        for tensor in header.tensors:
            if tensor.end > header.data_bytes:
                continue  # the file ends before: told once, with its bytes
            gathered.boxes.append(tensor_block(header, tensor, request.shapes))
            right += has_right_size(tensor)
        stored.update(header.names)
    gathered.holds("tensor sizes", right)
    gathered.faults += unstored_fault(request.shapes, stored)


def _gather_strays(
    folder: SafetensorsFolder, strays: Mapping[str, Header], listed: Iterable[str], gathered: Gathered
) -> None:
    """Files that no index names: a second copy of a listed tensor is a fault, anything else a remark."""
    homes = {name: file for file in listed if file in folder.headers for name in folder.headers[file].names}
    ignored: list[str] = []
    for stray, header in strays.items():
        again = [name for name in header.names if name in homes]
        if not again or is_variant(stray):
            ignored.append(stray)
            continue
        fault = set_fault(
            "CK106",
            f"the tensor {shown(again[0])}",
            f"is in {shown(stray)}",
            stated=f"the index puts it into {shown(homes[again[0]])}",
            file=header.origin.file,
            reason="a program that prefers a file outside the index, or loads every file, takes this copy",
            number=len(again),
        )
        gathered.faults.append(fault)
    _remark(
        ignored, "is in no index", "only its bytes were checked, not its tensors", folder.prefix, gathered
    )


def _gather_unindexed(
    folder: SafetensorsFolder, headers: Mapping[str, Header], request: Request, gathered: Gathered
) -> None:
    """Files of which no index speaks: their names are all there is to say which belong together."""
    gather_missing_numbers(folder.files, folder.prefix, gathered)
    _gather_twice(folder, headers, gathered)
    _gather_tensors(headers.values(), request, gathered)
    if len(folder.files) > 1:
        gathered.unchecked.append(f"whether tensors of {folder.prefix} are missing: there is no index")


def _gather_twice(folder: SafetensorsFolder, headers: Mapping[str, Header], gathered: Gathered) -> None:
    """CK106 for a name in two files of one numbered set."""
    homes: dict[tuple[str, str], str] = {}
    twice: list[tuple[str, str, str]] = []
    for file, header in headers.items():
        for name in header.names:
            first = homes.setdefault((set_name(file), name), file)
            if first != file:
                twice.append((name, first, file))
    if twice:
        name, first, second = twice[0]
        fault = set_fault(
            "CK106",
            f"the tensor {shown(name)}",
            f"is in {shown(first)} and in {shown(second)}",
            file=folder.prefix,
            number=len(twice),
        )
        gathered.faults.append(fault)


def _remark_neighbours(folder: SafetensorsFolder, known: frozenset[str], gathered: Gathered) -> None:
    """CK202 for weights that are no part of what was read."""
    names = Sight(folder.path).names
    other = [name for name in names if is_other_weights(name)]
    _remark(other, "is not read", "its weights have another form", folder.prefix, gathered)
    below = [name for name in names if name not in known and _has_files(folder.path / name)]
    _remark(below, "holds safetensors files of its own", "name it to audit it", folder.prefix, gathered)


def _has_files(path: Path) -> bool:
    """Whether a path is a folder of safetensors files, and no link."""
    try:
        return not path.is_symlink() and Sight(path).has_suffix(SUFFIX)
    except OSError:
        return False


def _remark(names: list[str], found: str, reason: str, prefix: str, gathered: Gathered) -> None:
    if names:
        fault = set_fault("CK202", shown(names[0]), found, file=prefix, reason=reason, number=len(names))
        gathered.remarks.append(fault)
