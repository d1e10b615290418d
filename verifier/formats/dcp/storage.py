"""The data files of a distributed checkpoint, and the entries that say which chunk is stored where.

Every chunk has an entry, every entry a chunk. What the ranges of the entries are is judged in ``ranges``.
Several metadata files, one of each rank, are checked together: they share the data files.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from verifier.formats.dcp.contents import NOWHERE, Contents, chunk_label
from verifier.formats.reading.folder_files import file_inside
from verifier.formats.reading.gathered import Gathered, set_fault

DATA_SUFFIX = ".distcp"


@dataclass(slots=True)
class DataFiles:
    """The data files that metadata names, by the path it gives.

    Attributes:
        folder: the folder of the checkpoint.
        sizes: bytes of each regular file that is there.
        first: by path of such a file, the first path that leads to the same one.
        foreign: paths of those that hold no archives of torch.save, which ``sizes`` leaves out.
        missing: paths of those that are not there.
        outside: paths that leave the folder.
    """

    folder: Path
    sizes: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path, paths: Sequence[str]) -> DataFiles:
        """Look for files; nothing is opened."""
        files = cls(folder)
        home, seen = folder.resolve(), dict[Path, str]()
        for path in paths:
            inside = file_inside(folder, path)
            if inside is None:
                files.outside.append(path)
                continue
            try:
                real = inside.resolve() if "/" in path or inside.is_symlink() else home / path
                status = inside.stat()
            except (OSError, RuntimeError):
                files.missing.append(path)
                continue
            if not stat.S_ISREG(status.st_mode):
                files.missing.append(path)
                continue
            files.sizes[path] = status.st_size
            # Links inside the folder lead to one file. Hard links, and links of a cache to its blobs, do not
            # count: that is how equal files are kept once.
            files.first[path] = seen.setdefault(real, path) if real.is_relative_to(home) else path
        return files


def check_entries(parts: Sequence[Contents], file: str, gathered: Gathered) -> None:
    """That every chunk has a storage entry, every entry a chunk, and no chunk two."""
    missing = [label for part in parts for label in _without_entry(part)]
    if missing:
        gathered.faults.append(
            set_fault(
                "CK111",
                f"the chunk {missing[0]}",
                "has no entry in storage_data",
                stated="state_dict_metadata lists it",
                file=file,
                reason="torch raises a KeyError when it comes to the chunk",
                number=len(missing),
            )
        )
    for code, several, found, stated in (
        (
            "CK112",
            [part.orphans for part in parts],
            "is no chunk of any tensor",
            "storage_data has an entry for it",
        ),
        ("CK106", [part.repeated for part in parts], "has several entries in storage_data", "one is enough"),
    ):
        given = [each for each in several if each is not None]
        if given:
            number = sum(each.count for each in given)
            gathered.faults.append(
                set_fault(code, given[0].first, found, stated=stated, file=file, number=number)
            )
    if not missing:
        gathered.holds("storage entries", sum(len(part.storage.path) for part in parts))


def _without_entry(part: Contents) -> Iterator[str]:
    """The chunks that have elements and no entry. Torch stores empty ones, but never reads them."""
    for tensor in part.tensors:
        if NOWHERE in tensor.entries:
            axes = len(tensor.shape)
            for position, entry in enumerate(tensor.entries):
                box = slice(position * axes, (position + 1) * axes)
                if entry == NOWHERE and 0 not in tensor.sizes[box]:
                    yield chunk_label(tensor.name, tuple(tensor.offsets[box]))
    for item in part.objects:
        if item.entry == NOWHERE:
            yield chunk_label(item.name, None)
