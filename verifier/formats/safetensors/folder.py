"""The safetensors files of a folder, each header read once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from verifier.formats.reading.document import Refusal
from verifier.formats.reading.folder_files import file_inside
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.json_text import over_limit
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.sight import Sight
from verifier.formats.safetensors.files import SUFFIX, missing_numbers
from verifier.formats.safetensors.header import Header, read_header
from verifier.formats.safetensors.stored_bytes import gather_file
from verifier.model.origin import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetensorsFolder:
    """A folder whose safetensors files were read.

    Attributes:
        path: the folder.
        prefix: the folder as people typed it.
        files: the names of its safetensors files, sorted.
        headers: those that could be read, by name, with those that an index names elsewhere in the folder.
        unreadable: names of those that are there and could not be read.
    """

    path: Path
    prefix: str
    files: tuple[str, ...]
    headers: Mapping[str, Header]
    unreadable: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether a name is that of a file, read or not; links to nothing and pipes are none."""
        return name in self.headers or name in self.unreadable

    def missing(self, name: str) -> bool:
        """Whether no file is where a name is, inside the folder."""
        return not self.has(name) and file_inside(self.path, name) is not None


def place_in(prefix: str, name: str) -> Origin:
    """The place of a file in a folder that people typed as ``prefix``."""
    return Origin(name if prefix in ("", ".") else f"{prefix.rstrip('/')}/{name}")


def files_of(path: Path, prefix: str, limits: Limits) -> tuple[str, ...]:
    """The names of the safetensors files in a folder, sorted.

    Raises:
        FormatError: SM006 for too many.
        OSError: the folder cannot be listed.
    """
    files = [name for name in Sight(path).names if name.endswith(SUFFIX) and not os.path.isdir(path / name)]
    if len(files) > limits.files:
        raise over_limit(f"{len(files)} files", limits.files, "files", Origin(prefix))
    return tuple(files)


def open_files(
    path: Path,
    prefix: str,
    files: Iterable[str],
    limits: Limits,
    gathered: Gathered,
    *,
    named: Iterable[str] = (),
) -> SafetensorsFolder:
    """Read the headers of files in a folder; what each says of itself, and what is wrong with it, is added.

    ``files`` are entries of the folder, ``named`` paths that its documents name. They need not be there: an
    entry may be a link to nothing, or a pipe.
    """
    headers: dict[str, Header] = {}
    unreadable: set[str] = set()
    entries = tuple(files)
    for name in sorted({*entries, *named}):
        inside, origin = file_inside(path, name), place_in(prefix, name)
        # Unlike Path.is_file this has an answer to every name.
        if inside is None or not os.path.isfile(inside):
            continue
        try:
            headers[name] = read_header(inside, origin, limits)
        except (FormatError, OSError) as error:
            unreadable.add(name)
            gathered.refusals.append(refusal_of(name, origin, error))
        else:
            gather_file(headers[name], gathered)
    return SafetensorsFolder(
        path=path, prefix=prefix, files=entries, headers=headers, unreadable=frozenset(unreadable)
    )


def gather_absent(folder: SafetensorsFolder, names: Iterable[str], gathered: Gathered) -> None:
    """Add CK101 for entries of a folder that lead to no file."""
    absent = [name for name in names if not folder.has(name)]
    if absent:
        fault = set_fault(
            "CK101",
            f"the file {shown(absent[0])}",
            "is not there",
            stated="its name is, as a link to nothing or as something else than a file",
            file=folder.prefix,
            number=len(absent),
        )
        gathered.faults.append(fault)


def gather_missing_numbers(names: Iterable[str], file: str, gathered: Gathered) -> None:
    """Add CK101 for files that these names count and that are not among them."""
    for first, absent, total in missing_numbers(names):
        fault = set_fault(
            "CK101",
            f"the file {shown(first)}",
            "is not there",
            stated=f"the names of the others count {total} files",
            file=file,
            number=absent,
        )
        gathered.faults.append(fault)


def refusal_of(name: str, origin: Origin, error: FormatError | OSError) -> Refusal:
    """The refusal of one file among others."""
    if isinstance(error, FormatError):
        return Refusal.of(name, error)
    return Refusal(
        name=name,
        origin=origin,
        code="SM001",
        message=f"cannot be opened: {error.strerror}",
        help="check the path and its permissions",
    )
