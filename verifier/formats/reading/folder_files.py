"""Files of a checkpoint folder by their names: never one outside of it, not through links either."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin

CACHE_SNAPSHOTS = "snapshots"
CACHE_BLOBS = "blobs"


def file_inside(folder: Path, name: str) -> Path | None:
    """The path that a name has in a folder, None when it leaves the folder. It need not exist.

    The cache of Hugging Face keeps a model as ``snapshots/<revision>`` full of links into ``blobs``: for such
    a folder, the blobs beside it are inside.
    """
    written = PurePosixPath(name)
    if written.is_absolute() or ".." in written.parts or "\\" in name or "\0" in name:
        return None
    path = folder / name
    try:
        real, home = path.resolve(), folder.resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        return None
    if real.is_relative_to(home):
        return path
    if home.parent.name == CACHE_SNAPSHOTS and real.is_relative_to(home.parent.parent / CACHE_BLOBS):
        return path
    return None


def path_inside(folder: Path, name: str, origin: Origin) -> Path:
    """The path that a name has in a folder. It need not exist.

    Raises:
        FormatError: CK109 when it leaves the folder.
    """
    path = file_inside(folder, name)
    if path is None:
        raise FormatError(
            "CK109", "the path leads out of the folder", origin, help="put the file itself into the folder"
        )
    return path
