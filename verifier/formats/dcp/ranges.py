"""The ranges of bytes that storage entries claim, held against the data files and against each other.

They are inside their files, large enough for their chunks, disjoint, and leave nothing of a file over.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress, groupby, repeat
from operator import add, itemgetter, mul
from pathlib import Path

from verifier.formats.dcp.contents import NOWHERE, Contents, StoredTensor, chunk_label, owner_of
from verifier.formats.dcp.storage import DataFiles
from verifier.formats.pickles.dtypes import ITEM_BYTES
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.formats.reading.regular import regular
from verifier.model.box_map import COLUMN
from verifier.obligations.faults import Fault

EXTENSIONS = "what extensions made of stored bytes"
LENGTH_BYTES = 8
"""A safetensors file begins with the length of its header in so many bytes; then comes the header, JSON."""
_PATH = itemgetter(0)


class Ranges:
    """The ranges of several metadata files together.

    Making it looks for data files that hold something else than archives, and tells ``files`` of them.
    """

    def __init__(self, parts: Sequence[Contents], files: DataFiles) -> None:
        self._parts = parts
        self._files = files
        self._rows = _Rows(parts, files)
        self._layout = _layout(self._rows, files)
        foreign = {*self._foreign()}
        if foreign:
            files.foreign += (self._rows.paths[number] for number in sorted(foreign))
            self._layout = self._layout.without(foreign, self._rows)
        for path in files.foreign:
            del files.sizes[path]

    def check(self, file: str, gathered: Gathered) -> None:
        """Add what is wrong with them; ``file`` is what people call the metadata."""
        before = len(gathered.faults)
        _check_files(self._files, file, gathered)
        rows, layout = self._rows, self._layout
        if rows.transforms:
            names = ", ".join(shown(name) for name in rows.transforms[:4])
            gathered.unchecked.append(f"{EXTENSIONS}: {names}")
        for fault in (
            _past_the_end(rows, self._files),
            _overlap(rows, layout),
            _too_short(self._parts, file),
            _empty_objects(self._parts, file),
        ):
            gathered.faults += () if fault is None else (fault,)
        if len(gathered.faults) > before:
            return  # where an entry is wrong, bytes without one follow
        gathered.holds("byte ranges", len(rows.path))
        unclaimed = _unclaimed(rows, layout, file)
        gathered.remarks += () if unclaimed is None else (unclaimed,)

    def _foreign(self) -> Iterator[int]:
        """The files, by number, that hold a safetensors file. Their ranges meet in its first byte."""
        rows, files = self._rows, self._files
        suspects = {rows.path[row] for _, row in self._layout.overlaps}
        suspects |= {path for path, _, _ in self._layout.unclaimed}
        last = dict.fromkeys(suspects, 0)
        for path, start in zip(rows.path, rows.start, strict=True) if suspects else ():
            if path in suspects:
                last[path] = max(last[path], start)
        for path, start in last.items():
            size = files.sizes.get(rows.paths[path])
            if size is not None and _is_safetensors(files.folder / rows.paths[path], start, size):
                yield path


class _Rows:
    """All storage entries as one table. Paths that lead to one file have one number, that of the first."""

    def __init__(self, parts: Sequence[Contents], files: DataFiles) -> None:
        self._parts = parts
        self._bases = [0, *accumulate(len(part.storage.path) for part in parts)]
        self.paths = [*dict.fromkeys(path for part in parts for path in part.storage.paths)]
        self.transforms = [*dict.fromkeys(name for part in parts for name in part.storage.transforms)]
        places = {path: number for number, path in enumerate(self.paths)}
        numbers = {path: places[files.first.get(path, path)] for path in self.paths}
        self.path: array[int] = array(COLUMN)
        for part in parts:
            known = [*(numbers[path] for path in part.storage.paths), NOWHERE]
            self.path.extend(map(known.__getitem__, part.storage.path))
        self.start = [*chain.from_iterable(part.storage.start for part in parts)]
        self.end = [*map(add, self.start, chain.from_iterable(part.storage.length for part in parts))]
        coded = chain.from_iterable(part.storage.coded for part in parts)
        self.coded = {*compress(self.path, coded)}

    def label(self, row: int) -> str:
        """What people call the chunk that a row belongs to."""
        part = bisect_right(self._bases, row) - 1
        return owner_of(self._parts[part], row - self._bases[part])


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the ranges of each file lie beside each other.

    Attributes:
        overlaps: of a range that begins before an earlier one ends, the rows of that one and of it.
        unclaimed: number of a file, and first and last byte of a stretch that no range has.
    """

    overlaps: list[tuple[int, int]] = field(default_factory=list)
    unclaimed: list[tuple[int, int, int]] = field(default_factory=list)

    def without(self, paths: set[int], rows: _Rows) -> _Layout:
        """The same of all other files."""
        return _Layout(
            [pair for pair in self.overlaps if rows.path[pair[1]] not in paths],
            [stretch for stretch in self.unclaimed if stretch[0] not in paths],
        )


def _layout(rows: _Rows, files: DataFiles) -> _Layout:
    found = _Layout()
    order = sorted(zip(rows.path, rows.start, rows.end, range(len(rows.path)), strict=True))
    for path, ranges in groupby(order, _PATH):
        if path == NOWHERE:
            continue
        reach, owner = 0, NOWHERE
        for _, start, end, row in ranges:
            if start == end:
                continue
            if start < reach:
                found.overlaps.append((owner, row))
            elif start > reach:
                found.unclaimed.append((path, reach, start))
            if end > reach:
                reach, owner = end, row
        size = files.sizes.get(rows.paths[path], 0)
        if size > reach:
            found.unclaimed.append((path, reach, size))
    return found


def _is_safetensors(path: Path, start: int, size: int) -> bool:
    """Whether a safetensors file begins at a byte of a file of so many."""
    try:
        with open(path, "rb", buffering=0, opener=regular) as file:
            file.seek(start)
            head = file.read(LENGTH_BYTES + 1)
    except OSError:
        return False  # told where its headers are read
    length = int.from_bytes(head[:LENGTH_BYTES], "little")
    return head[LENGTH_BYTES:] == b"{" and start + LENGTH_BYTES + length <= size


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
    if files.foreign:
        gathered.faults.append(
            set_fault(
                "CK110",
                f"the data file {shown(files.foreign[0])}",
                "is a safetensors file",
                stated="the metadata says where in it archives of torch.save are",
                file=file,
                reason="FileSystemWriter(serialization_format=SAFETENSORS) writes it, and no reader of torch "
                "can load it; use HuggingFaceStorageWriter",
                number=len(files.foreign),
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


def _overlap(rows: _Rows, layout: _Layout) -> Fault | None:
    """CK104 for the first range that begins before an earlier one of its file ends; counts all of them."""
    if not layout.overlaps:
        return None
    earlier, later = layout.overlaps[0]
    path_name = shown(rows.paths[rows.path[later]])
    return set_fault(
        "CK104",
        f"the bytes of {rows.label(later)}",
        f"begin at byte {rows.start[later]} of {path_name}",
        stated=f"those of {rows.label(earlier)} are bytes {rows.start[earlier]} to {rows.end[earlier]} there",
        number=len(layout.overlaps),
    )


def _unclaimed(rows: _Rows, layout: _Layout, file: str) -> Fault | None:
    """CK204 for the first bytes of a data file that no entry has; counts all such stretches.

    Writers put chunk behind chunk. What an extension writes may be longer than it says, and an entry that
    was refused may have any bytes.
    """
    loose = [stretch for stretch in layout.unclaimed if stretch[0] not in rows.coded]
    if not loose or NOWHERE in rows.path:
        return None
    path, first, end = loose[0]
    return set_fault(
        "CK204",
        f"the bytes {first} to {end} of {shown(rows.paths[path])}",
        "belong to no chunk and to no object",
        file=file,
        number=len(loose),
    )


def _empty_objects(parts: Sequence[Contents], file: str) -> Fault | None:
    """CK113 for the first object of no bytes; counts all of them."""
    names = [item.name for part in parts for item in part.objects if _is_empty(part, item.entry)]
    if not names:
        return None
    return set_fault(
        "CK113",
        f"the object {shown(names[0])}",
        "has 0 bytes",
        stated="a pickle has some",
        file=file,
        reason="torch.load fails at it",
        number=len(names),
    )


def _is_empty(part: Contents, entry: int) -> bool:
    storage = part.storage
    stored = entry != NOWHERE and storage.path[entry] != NOWHERE and not storage.coded[entry]
    return stored and not storage.length[entry]


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
