"""The index at the end of a zarr shard: where each of its inner chunks lies, as two 64-bit numbers, and a
checksum over them. Only the index is read.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from verifier.formats.reading.allowance import Allowance
from verifier.formats.reading.cells import Cells
from verifier.formats.zarr.array import Inner, ZarrArray
from verifier.formats.zarr.frames import NotAFrameError, OutOfReadsError

_ENTRY = struct.Struct("<QQ")
_CHECKSUM_BYTES = 4
_ABSENT = 2**64 - 1
_POLYNOMIAL = 0x82F63B78


@dataclass(frozen=True, slots=True)
class Part:
    """One inner chunk: its place in the shard, and its bytes in the file; None when it is not stored."""

    place: tuple[int, ...]
    begin: int
    size: int | None


def parts_of(file: BinaryIO, size: int, array: ZarrArray, inner: Inner, reads: Allowance) -> list[Part]:
    """The inner chunks of a shard of ``size`` bytes, in row-major order.

    Raises:
        NotAFrameError: the index is cut short or damaged, or names bytes that are not there.
        OutOfReadsError: it has more entries than reads are left.
        OSError: it cannot be read.
    """
    cells = Cells(tuple(outer // step for outer, step in zip(array.chunks, inner.chunks, strict=True)))
    length = cells.count * _ENTRY.size + _CHECKSUM_BYTES
    if length > size:
        raise NotAFrameError(f"has {size} bytes, fewer than its index of {length}")
    reads.left -= cells.count
    if reads.left < 0:
        raise OutOfReadsError
    file.seek(size - length)
    index = file.read(length)
    entries, checksum = index[:-_CHECKSUM_BYTES], index[-_CHECKSUM_BYTES:]
    if _crc32c(entries) != int.from_bytes(checksum, "little"):
        raise NotAFrameError(f"ends after {size} bytes in no index of its {cells.count} inner chunks")
    parts = [
        Part(cells.indices(position), begin, None if begin == count == _ABSENT else count)
        for position, (begin, count) in enumerate(_ENTRY.iter_unpack(entries))
    ]
    for part in parts:
        if part.size is not None and part.begin + part.size > size - length:
            raise NotAFrameError(
                f"has inner chunk {list(part.place)} at bytes {part.begin} to {part.begin + part.size},"
                f" and its index begins at {size - length}"
            )
    return parts


def overlapping(parts: list[Part]) -> tuple[Part, Part] | None:
    """Two inner chunks with bytes in common, None when there are none."""
    stored = sorted((part.begin, part.size, part.place) for part in parts if part.size)
    for (begin, size, place), (after, more, other) in itertools.pairwise(stored):
        if begin + size > after:
            return Part(place, begin, size), Part(other, after, more)
    return None


def absent(parts: list[Part], array: ZarrArray, inner: Inner, chunk: tuple[int, ...]) -> Iterator[Part]:
    """Inner chunks that are not stored though they hold elements of the array.

    Args:
        parts: the inner chunks.
        array: the array.
        inner: what its chunks consist of.
        chunk: place of the chunk in the grid.
    """
    for part in parts:
        if part.size is None and all(
            at * outer + i * step < extent
            for at, outer, i, step, extent in zip(
                chunk, array.chunks, part.place, inner.chunks, array.shape, strict=True
            )
        ):
            yield part


def inner_bytes(array: ZarrArray, inner: Inner) -> int | None:
    """Bytes of the elements of one inner chunk, None when their type is not known."""
    return None if array.item_bytes is None else array.item_bytes * math.prod(inner.chunks)


def _table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _table()


def _crc32c(data: bytes) -> int:
    """The Castagnoli checksum (RFC 3720), which the standard library does not have."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF
