"""Files of a checkpoint folder by their names, and the links in it that lead out.

A path that is written in a file of the checkpoint never leads out: whoever wrote it means to reach something
else. A link is what its owner put there, often to keep data on another disk, and every loader follows it. It
is followed here as well, and named, because an archive from a stranger may hold one.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin

CACHE_SNAPSHOTS = "snapshots"
CACHE_BLOBS = "blobs"


def file_inside(folder: Path, name: str) -> Path | None:
    """The path that a written name has in a folder, None when it leaves the folder. It need not exist."""
    written = PurePosixPath(name)
    if written.is_absolute() or ".." in written.parts or "\\" in name or "\0" in name:
        return None
    return folder / name


def path_inside(folder: Path, name: str, origin: Origin) -> Path:
    """The path that a written name has in a folder. It need not exist.

    Raises:
        FormatError: CK109 when it leaves the folder.
    """
    path = file_inside(folder, name)
    if path is None:
        raise FormatError(
            "CK109", "the path leads out of the folder", origin, help="put the file itself into the folder"
        )
    return path


def leads_out(folder: Path, path: Path) -> bool:
    """Whether what is at a path below a folder is elsewhere. What leads to nothing, or to itself, is not.

    The cache of Hugging Face keeps a model as ``snapshots/<revision>`` full of links into ``blobs``, at any
    depth: for what is below such a folder, the blobs beside ``snapshots`` are inside.
    """
    try:
        real, home = path.resolve(strict=True), folder.resolve()
    except (OSError, RuntimeError):
        return False
    if real.is_relative_to(home):
        return False
    caches = (above for above in (home / path.relative_to(folder)).parents if above.name == CACHE_SNAPSHOTS)
    return not any(real.is_relative_to(above.parent / CACHE_BLOBS) for above in caches)
