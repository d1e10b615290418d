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
from verifier.formats.safetensors.files import SUFFIX
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
        headers: those that could be read, by name.
        unreadable: names of those that are there and could not be read.
    """

    path: Path
    prefix: str
    files: tuple[str, ...]
    headers: Mapping[str, Header]
    unreadable: frozenset[str]


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

    ``files`` are entries of the folder, ``named`` paths that its documents name: those need not be there.
    """
    headers: dict[str, Header] = {}
    unreadable: set[str] = set()
    entries = tuple(files)
    links: list[str] = []
    for name in sorted({*entries, *named}):
        inside, origin = file_inside(path, name), place_in(prefix, name)
        if inside is None:
            links += [name] if name in entries else []
            continue
        if not os.path.isfile(inside):  # unlike Path.is_file it has an answer to every name
            continue
        try:
            headers[name] = read_header(inside, origin, limits)
        except (FormatError, OSError) as error:
            unreadable.add(name)
            gathered.refusals.append(refusal_of(name, origin, error))
        else:
            gather_file(headers[name], gathered)
    gather_links(links, prefix, gathered)
    return SafetensorsFolder(
        path=path, prefix=prefix, files=entries, headers=headers, unreadable=frozenset(unreadable)
    )


def gather_links(names: list[str], prefix: str, gathered: Gathered) -> None:
    """Add CK109 for entries of a folder that lead out of it."""
    if names:
        fault = set_fault(
            "CK109", f"the link {shown(names[0])}", "leads out of the folder", file=prefix, number=len(names)
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
