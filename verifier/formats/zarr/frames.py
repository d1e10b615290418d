"""The lengths that a compressed chunk states about itself, read without unpacking anything.

Zstandard (RFC 8878): a frame is a header and blocks, each with its length in front; stepping from block to
block ends exactly at the end of a whole file. Blosc states both lengths in its first 16 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from verifier.formats.reading.allowance import Allowance
from verifier.formats.zarr.array import Stored

_ZSTD_MAGIC = 0xFD2FB528
_SKIPPABLE, _SKIPPABLE_MASK = 0x184D2A50, 0xFFFFFFF0
_CHECKSUM_FLAG, _SINGLE_SEGMENT_FLAG = 0x04, 0x20
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_DICTIONARY_BYTES = (0, 1, 2, 4)
_BLOCK_RUN, _BLOCK_RESERVED = 1, 3
_BLOSC_HEADER = 16
_ZSTD_LEAST = 5
_ZSTD_HEADER = 18
"""Magic number, flags, window, dictionary, content size, at their widest."""
_BLOCK_HEADER = 3


@dataclass(frozen=True, slots=True)
class Frames:
    """What a compressed chunk says of itself.

    Attributes:
        ends: where its data ends, in bytes from the start of the file; beyond its size when it was cut short.
        content: bytes that it unpacks to, None when it does not say.
    """

    ends: int
    content: int | None


class NotAFrameError(ValueError):
    """The bytes are not in the form that the metadata names; the text says what is there."""


class OutOfReadsError(Exception):
    """The budget of reads is used up."""


def frames(file: BinaryIO, start: int, size: int, stored: Stored, reads: Allowance) -> Frames:
    """Read the lengths in a chunk that is stored as zstd or blosc.

    Args:
        file: the file of the chunk.
        start: where the chunk begins in it.
        size: bytes of the chunk.
        stored: which of the two.
        reads: reads that may be made.

    Raises:
        NotAFrameError: it is neither.
        OutOfReadsError: it has more blocks than reads are left.
        OSError: it cannot be read.
    """
    return (_zstd if stored == "zstd" else _blosc)(_Part(file, start, size, reads))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a file; what is read ends where it ends."""

    file: BinaryIO
    start: int
    size: int
    reads: Allowance

    def read(self, at: int, count: int) -> bytes:
        if self.reads.left <= 0:
            raise OutOfReadsError
        self.reads.left -= 1
        self.file.seek(self.start + at)
        return self.file.read(max(0, min(count, self.size - at)))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _blosc(part: _Part) -> Frames:
    header = part.read(0, _BLOSC_HEADER)
    if len(header) < _BLOSC_HEADER:
        raise NotAFrameError(f"has {part.size} bytes, fewer than a blosc header")
    return Frames(ends=_number(header[12:16]), content=_number(header[4:8]))


def _zstd(part: _Part) -> Frames:
    at, content, unknown = 0, 0, False
    while at < part.size or at == 0:
        head = part.read(at, _ZSTD_HEADER)
        if len(head) < _ZSTD_LEAST:
            raise NotAFrameError(f"has {part.size - at} bytes at byte {at}, fewer than a zstd frame")
        magic = _number(head[:4])
        if magic & _SKIPPABLE_MASK == _SKIPPABLE:
            at += 8 + _number(head[4:8])
            continue
        if magic != _ZSTD_MAGIC:
            raise NotAFrameError(f"has no zstd frame at byte {at}")
        header, stated = _zstd_header(head)
        content += stated or 0
        unknown = unknown or stated is None
        at = _past_blocks(part, at + header)
        if head[4] & _CHECKSUM_FLAG:
            at += 4
    return Frames(ends=at, content=None if unknown else content)


def _zstd_header(head: bytes) -> tuple[int, int | None]:
    """(bytes of the frame header, bytes it says the frame unpacks to)."""
    flags = head[4]
    single = bool(flags & _SINGLE_SEGMENT_FLAG)
    start = 5 + (0 if single else 1) + _DICTIONARY_BYTES[flags & 3]
    width = _CONTENT_SIZE_BYTES[flags >> 6] or (1 if single else 0)
    field = head[start : start + width]
    if not width or len(field) < width:
        return start + width, None
    # Two bytes count from 256 on.
    return start + width, _number(field) + (256 if width == 2 else 0)


def _past_blocks(part: _Part, at: int) -> int:
    """Where the blocks that begin at ``at`` end; past the end of the part when they are cut short."""
    last = False
    while not last:
        header = part.read(at, _BLOCK_HEADER)
        if len(header) < _BLOCK_HEADER:
            return max(at, part.size) + 1
        value = _number(header)
        last, kind, length = bool(value & 1), value >> 1 & 3, value >> 3
        if kind == _BLOCK_RESERVED:
            raise NotAFrameError(f"has no zstd block at byte {at}")
        at += _BLOCK_HEADER + (1 if kind == _BLOCK_RUN else length)
    return at
