"""The keys of zarr arrays that are files: which chunks an array has in its folder, and of how many bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from verifier.formats.reading.allowance import Allowance
from verifier.formats.reading.folder_files import path_inside
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.formats.zarr.array import METADATA_V2, METADATA_V3
from verifier.model.origin import Origin

VERSIONS = {METADATA_V2: 2, METADATA_V3: 3}
NOT_CHUNKS = frozenset({METADATA_V2, METADATA_V3, ".zattrs", ".zgroup", ".zmetadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArray:
    """One array as it is stored.

    Attributes:
        name: its name in the checkpoint.
        origin: its metadata.
        metadata: text of its metadata.
        version: of zarr, 2 or 3.
        keys: bytes of the value under each chunk key; None where they are not known.
        folder: where each key is a file, None when they are not files.
        shown: the same place as people should see it.
    """

    name: str
    origin: Origin
    metadata: bytes
    version: int
    keys: Mapping[str, int | None]
    folder: Path | None
    shown: str


def array_in_folder(
    home: Path, name: str, prefix: str, left: Allowance, limits: Limits
) -> StoredArray | None:
    """The array that a folder of this name is, None when it has no metadata.

    Args:
        home: the checkpoint.
        name: of the array, a path below ``home``.
        prefix: ``home`` as people should see it.
        left: counts the files that are listed.
        limits: how much the metadata may cost.

    Raises:
        FormatError: SM006 for too many files, or too large metadata; CK109 for a link out of ``home``.
        OSError: it cannot be read.
    """
    shown = f"{prefix}/{name}"
    folder = path_inside(home, name, Origin(shown))
    file = next((known for known in VERSIONS if (folder / known).is_file()), None)
    if file is None:
        return None
    origin = Origin(f"{shown}/{file}")
    path = path_inside(home, f"{name}/{file}", origin)
    metadata = bounded_bytes(path, limits.json_bytes, "metadata", origin)
    keys = {key: size for key, size in _files(home, name, origin, left, limits) if key not in NOT_CHUNKS}
    return StoredArray(
        name=name,
        origin=origin,
        metadata=metadata,
        version=VERSIONS[file],
        keys=keys,
        folder=folder,
        shown=shown,
    )


def entries_of(folder: Path, origin: Origin, left: Allowance, limits: Limits) -> dict[str, bool]:
    """The entries of a folder, sorted, and whether each is a folder too, links followed.

    Raises:
        FormatError: SM006 for more of them than are left.
        OSError: it cannot be listed.
    """
    found: dict[str, bool] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            _count(left, origin, limits)
            found[entry.name] = entry.is_dir()
    return dict(sorted(found.items()))


def _count(left: Allowance, origin: Origin, limits: Limits) -> None:
    left.left -= 1
    if left.left < 0:
        raise FormatError(
            "SM006",
            f"more files than the limit of {limits.entries}",
            origin,
            help="audit parts of the checkpoint, or raise the limit where Limits is made",
        )


def _files(
    home: Path, name: str, origin: Origin, left: Allowance, limits: Limits
) -> Iterator[tuple[str, int]]:
    """(key, bytes) of each file below the folder of an array. Folders that are links are not entered."""
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(home / name / prefix) as entries:
            for entry in entries:
                _count(left, origin, limits)
                key = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if key.count("/") <= limits.axes:
                        pending.append(f"{key}/")
                elif entry.is_file():  # links to pipes and to nothing are not
                    if entry.is_symlink():
                        path_inside(home, f"{name}/{key}", origin)
                    yield key, entry.stat().st_size
