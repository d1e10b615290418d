"""The headers of stored chunks, held against the metadata: what is stored is what is promised.

Each chunk is an archive of torch.save inside a larger file. Of it the directory and the pickle are read, no
tensor data; the pickle of bytes that are no tensor is not looked at.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from verifier.formats.dcp.contents import NOWHERE, Contents, StoredTensor, chunk_label
from verifier.formats.dcp.storage import DataFiles
from verifier.formats.pickles.torch_zip import TensorHeader, read_torch_zip, tensor_header
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.gathered import set_fault
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.formats.reading.regular import regular
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault


class _Window(io.RawIOBase):
    """A range of bytes of an open file, as a file by itself. Closing it leaves the file open."""

    def __init__(self, file: io.FileIO, start: int, length: int) -> None:
        super().__init__()
        self._file = file
        self._start = start
        self._length = length
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        if base + offset < 0:
            raise ValueError("a place before the first byte")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: bytearray, /) -> int:  # type: ignore[override]
        left = max(0, self._length - self._at)
        self._file.seek(self._start + self._at)
        count = self._file.readinto(memoryview(buffer)[:left]) or 0
        self._at += count
        return count


@dataclass(slots=True)
class Payloads:
    """What the headers of one tensor's chunks say.

    Attributes:
        faults: CK110, at most one.
        refusals: the first header that could not be read, and each file that could not, the first time.
        read: how many headers agree.
    """

    faults: tuple[Fault, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    read: int = 0


class PayloadReader:
    """Reads headers of chunks; keeps the file it read last open, for chunks lie one behind the other."""

    def __init__(self, files: DataFiles, prefix: str, limits: Limits) -> None:
        self._files = files
        self._prefix = prefix
        self._limits = limits
        self._stack = ExitStack()
        self._path = ""
        self._file: io.FileIO | None = None
        self._unreadable: set[str] = set()

    def __enter__(self) -> PayloadReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def check(self, contents: Contents, tensor: StoredTensor) -> Payloads:
        """The headers of one tensor's chunks, as far as their files are there."""
        found = Payloads()
        wrong: list[tuple[int, str, str]] = []
        broken: tuple[Refusal, ...] = ()
        for position, path, start, length in _stored(contents, tensor):
            if path in self._unreadable or start + length > self._files.sizes.get(path, -1):
                continue  # said already: the file is not there, too short, or not to be read
            origin = Origin(f"{self._prefix}{path}")
            try:
                header = tensor_header(
                    read_torch_zip(_Window(self._open(path), start, length), origin, self._limits)
                )
            except FormatError as error:
                broken = broken or (_refusal(tensor, position, error),)
                continue
            except OSError as error:
                self._unreadable.add(path)
                found.refusals = (*found.refusals, _unopened(path, origin, error))
                continue
            difference = _difference(header, tensor, position)
            if difference is None:
                found.read += 1
            else:
                wrong.append((position, *difference))
        found.refusals += broken
        found.faults = _payload_faults(tensor, wrong)
        return found

    def _open(self, path: str) -> io.FileIO:
        if self._file is None or path != self._path:
            self._stack.close()
            self._file = None  # where opening the next fails, this one is closed all the same
            self._file = self._stack.enter_context(io.FileIO(self._files.folder / path, opener=regular))
            self._path = path
        return self._file


def _stored(contents: Contents, tensor: StoredTensor) -> Iterator[tuple[int, str, int, int]]:
    """Position, path, first byte and length of each chunk that is stored as torch.save wrote it."""
    storage = contents.storage
    for position, entry in enumerate(tensor.entries):
        if entry != NOWHERE and storage.path[entry] != NOWHERE and not storage.coded[entry]:
            yield position, storage.paths[storage.path[entry]], storage.start[entry], storage.length[entry]


def _difference(header: TensorHeader | None, tensor: StoredTensor, position: int) -> tuple[str, str] | None:
    """What is stored and what the metadata says instead; None when they agree."""
    axes = len(tensor.shape)
    sizes = tuple(tensor.sizes[position * axes : (position + 1) * axes])
    if header is None:
        return "is no tensor", "the metadata lists one"
    if header.shape != sizes:
        return f"has the shape {list(header.shape)}", f"the metadata says {list(sizes)}"
    if header.dtype != tensor.dtype:
        return f"has the type {header.dtype}", f"the metadata says {tensor.dtype}"
    return None


def _payload_faults(tensor: StoredTensor, wrong: list[tuple[int, str, str]]) -> tuple[Fault, ...]:
    if not wrong:
        return ()
    position, found, stated = wrong[0]
    what = f"what is stored of {_label(tensor, position)}"
    return (set_fault("CK110", what, found, stated=stated, number=len(wrong), block=position),)


def _label(tensor: StoredTensor, position: int) -> str:
    axes = len(tensor.shape)
    return chunk_label(tensor.name, tuple(tensor.offsets[position * axes : (position + 1) * axes]))


def _refusal(tensor: StoredTensor, position: int, error: FormatError) -> Refusal:
    return Refusal(
        name=tensor.name,
        origin=error.origin,
        code=error.code,
        message=f"what is stored of {_label(tensor, position)}: {error.message}",
        help=error.help,
    )


def _unopened(path: str, origin: Origin, error: OSError) -> Refusal:
    return Refusal(
        name=path,
        origin=origin,
        code="SM001",
        message=f"what is stored in it cannot be read: {error.strerror}",
        help="check the path and its permissions",
    )
