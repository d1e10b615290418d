"""Where the chunks of a distributed checkpoint are stored, held against the files that are there.

Every chunk has a range of bytes, every range a chunk; ranges are inside their files, large enough, disjoint.
Several metadata files, one of each rank, are checked together: they share the data files.
"""

from __future__ import annotations

import stat
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, repeat
from operator import add, mul
from pathlib import Path

from verifier.formats.dcp.contents import NOWHERE, Contents, StoredTensor, chunk_label, owner_of
from verifier.formats.dcp.names import ITEM_BYTES
from verifier.formats.reading.folder_files import file_inside
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.model.box_map import COLUMN
from verifier.obligations.faults import Fault

DATA_SUFFIX = ".distcp"
EXTENSIONS = "what extensions made of stored bytes"


@dataclass(slots=True)
class DataFiles:
    """The data files that metadata names, by the path it gives.

    Attributes:
        folder: the folder of the checkpoint.
        sizes: bytes of each regular file that is there.
        missing: paths of those that are not.
        outside: paths that leave the folder.
    """

    folder: Path
    sizes: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path, paths: Sequence[str]) -> DataFiles:
        """Look for files; nothing is opened."""
        files = cls(folder)
        for path in paths:
            inside = file_inside(folder, path)
            if inside is None:
                files.outside.append(path)
                continue
            try:
                status = inside.stat()
            except OSError:
                files.missing.append(path)
                continue
            if stat.S_ISREG(status.st_mode):
                files.sizes[path] = status.st_size
            else:
                files.missing.append(path)
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


def check_ranges(parts: Sequence[Contents], files: DataFiles, file: str, gathered: Gathered) -> None:
    """That the ranges are inside files that are there, large enough, and disjoint."""
    before = len(gathered.faults)
    _check_files(files, file, gathered)
    rows = _Rows(parts)
    if rows.transforms:
        names = ", ".join(shown(name) for name in rows.transforms[:4])
        gathered.unchecked.append(f"{EXTENSIONS}: {names}")
    for fault in (_past_the_end(rows, files), _overlap(rows), _too_short(parts, file)):
        gathered.faults += () if fault is None else (fault,)
    if len(gathered.faults) == before:
        gathered.holds("byte ranges", len(rows.path))


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


class _Rows:
    """All storage entries of several metadata files as one table, without those that were refused."""

    def __init__(self, parts: Sequence[Contents]) -> None:
        self._parts = parts
        self._bases = [0, *accumulate(len(part.storage.path) for part in parts)]
        self.paths = [*dict.fromkeys(path for part in parts for path in part.storage.paths)]
        self.transforms = [*dict.fromkeys(name for part in parts for name in part.storage.transforms)]
        numbers = {path: number for number, path in enumerate(self.paths)}
        self.path: array[int] = array(COLUMN)
        for part in parts:
            known = [*(numbers[path] for path in part.storage.paths), NOWHERE]
            self.path.extend(map(known.__getitem__, part.storage.path))
        self.start = [*chain.from_iterable(part.storage.start for part in parts)]
        self.end = [*map(add, self.start, chain.from_iterable(part.storage.length for part in parts))]

    def label(self, row: int) -> str:
        """What people call the chunk that a row belongs to."""
        part = bisect_right(self._bases, row) - 1
        return owner_of(self._parts[part], row - self._bases[part])


def _check_files(files: DataFiles, file: str, gathered: Gathered) -> None:
    if files.outside:
        gathered.faults.append(
            set_fault(
                "CK109",
                f"the path {shown(files.outside[0])}",
                "leads out of the folder",
                file=file,
                number=len(files.outside),
            )
        )
    if files.missing and files.sizes:
        gathered.faults.append(
            set_fault(
                "CK101",
                f"the data file {shown(files.missing[0])}",
                "is not there",
                stated=f"{file.rpartition('/')[2]} puts chunks into it",
                file=file,
                number=len(files.missing),
            )
        )


def _past_the_end(rows: _Rows, files: DataFiles) -> Fault | None:
    sizes = [files.sizes.get(path) for path in rows.paths]
    wrong = [
        row
        for row, (path, end) in enumerate(zip(rows.path, rows.end, strict=True))
        if path != NOWHERE and (size := sizes[path]) is not None and end > size
    ]
    if not wrong:
        return None
    first = wrong[0]
    path = rows.paths[rows.path[first]]
    return set_fault(
        "CK102",
        f"the bytes of {rows.label(first)}",
        f"end at byte {rows.end[first]} of {shown(path)}",
        stated=f"the file has {files.sizes[path]}",
        number=len(wrong),
    )


def _overlap(rows: _Rows) -> Fault | None:
    """CK104 for the first range that begins before an earlier one of its file ends; counts all of them."""
    order = sorted(zip(rows.path, rows.start, rows.end, range(len(rows.path)), strict=True))
    wrong: list[tuple[int, int]] = []
    here, reach, owner = NOWHERE, 0, 0
    for path, start, end, row in order:
        if path == NOWHERE or start == end:
            continue
        if path == here and start < reach:
            wrong.append((owner, row))
        if path != here or end > reach:
            here, reach, owner = path, end, row
    if not wrong:
        return None
    earlier, later = wrong[0]
    path_name = shown(rows.paths[rows.path[later]])
    return set_fault(
        "CK104",
        f"the bytes of {rows.label(later)}",
        f"begin at byte {rows.start[later]} of {path_name}",
        stated=f"those of {rows.label(earlier)} are bytes {rows.start[earlier]} to {rows.end[earlier]} there",
        number=len(wrong),
    )


def _too_short(parts: Sequence[Contents], file: str) -> Fault | None:
    """CK113 for the first range with fewer bytes than the elements of its chunk; counts all of them."""
    wrong = [
        (tensor, position, need, part.storage.length[tensor.entries[position]])
        for part in parts
        for tensor in part.tensors
        for position, need in _short_chunks(part, tensor)
    ]
    if not wrong:
        return None
    tensor, position, need, has = wrong[0]
    axes = len(tensor.shape)
    first = tuple(tensor.offsets[position * axes : (position + 1) * axes])
    return set_fault(
        "CK113",
        f"the chunk {chunk_label(tensor.name, first)} of type {tensor.dtype}",
        f"has {has} bytes",
        stated=f"its elements alone are {need}",
        file=file,
        number=len(wrong),
    )


def _short_chunks(part: Contents, tensor: StoredTensor) -> Iterator[tuple[int, int]]:
    """Positions of chunks whose range is too short, with the bytes their elements need."""
    width = ITEM_BYTES.get(tensor.dtype)
    if width is None or not tensor.count:
        return
    storage = part.storage
    axes = len(tensor.shape)
    products: Iterable[int] = repeat(width, tensor.count)
    for axis in range(axes):
        products = map(mul, products, tensor.sizes[axis::axes])
    needs = [*products]
    if NOWHERE not in tensor.entries and max(needs) <= min(map(storage.length.__getitem__, tensor.entries)):
        return
    for position, (entry, need) in enumerate(zip(tensor.entries, needs, strict=True)):
        stored = entry != NOWHERE and storage.path[entry] != NOWHERE and not storage.coded[entry]
        if stored and storage.length[entry] < need:
            yield position, need
