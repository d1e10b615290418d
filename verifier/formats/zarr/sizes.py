"""The number of bytes of every chunk of one array, as far as its storage lets them be known.

Plain chunks have as many as shape and type need. Compressed ones state lengths in their headers. Chunks that
consist of smaller ones have an index of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from verifier.formats.reading.allowance import Allowance
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.regular import regular
from verifier.formats.zarr.array import Inner, Stored
from verifier.formats.zarr.frames import NotAFrameError, OutOfReadsError, frames
from verifier.formats.zarr.grid import ChunkGrid
from verifier.formats.zarr.shards import Part, absent, inner_bytes, overlapping, parts_of
from verifier.formats.zarr.store import StoredArray
from verifier.obligations.faults import Fault

UNREADABLE = "SM001"


@dataclass(frozen=True, slots=True)
class Missing:
    """What it means that a chunk is not stored.

    Attributes:
        may_be_fill: whether the writer may have left it out because it holds nothing but the fill value.
        reason: what happens to whoever reads the array.
    """

    may_be_fill: bool
    reason: str


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is wrong with one chunk."""

    code: str
    found: str
    stated: str | None = None
    position: int = -1


class ChunkSizes:
    """Looks at each chunk of one array once."""

    __slots__ = ("array", "grid", "missing", "reads", "stored")

    def __init__(self, stored: StoredArray, grid: ChunkGrid, missing: Missing, reads: Allowance) -> None:
        self.stored = stored
        self.grid = grid
        self.array = grid.array
        self.missing = missing
        self.reads = reads

    def faults(self, inside: Mapping[int, int | None], gathered: Gathered) -> list[Fault]:
        """At most one fault for each way to be wrong; what holds, and what cannot be known, is noted.

        ``inside`` are the bytes of each stored chunk by its number, None where they are not known.
        """
        name = self.stored.name
        unknown = self._unknown(inside)
        if unknown is not None:
            gathered.note(unknown, name)
            return []
        wrong: dict[str, list[_Problem]] = {}
        for position, size in sorted(inside.items()):
            try:
                problem = self._problem(position, size or 0)
            except OutOfReadsError:
                gathered.note("the sizes of compressed chunks, of too many blocks in all", name)
                break
            except OSError as error:
                problem = _Problem(UNREADABLE, f"cannot be read: {error.strerror}")
            if problem is None:
                gathered.holds("chunk sizes")
            else:
                at = _Problem(problem.code, problem.found, problem.stated, position)
                wrong.setdefault(problem.code, []).append(at)
        unreadable = wrong.pop(UNREADABLE, [])
        if unreadable:
            gathered.refusals.append(self._refusal(unreadable))
        return [self._fault(code, places) for code, places in sorted(wrong.items())]

    def _unknown(self, inside: Mapping[int, int | None]) -> str | None:
        """Why nothing is known of the sizes; None when something is, or when there are no chunks."""
        if None in inside.values():
            return "the sizes of chunks, which the store does not list"
        array = self.array
        if inside and array.chunk_bytes is None and array.stored != "shard":
            return "the sizes of chunks of elements of a type that is not known"
        if inside and (array.stored == "opaque" or (array.inner and not array.inner.index_is_known)):
            return "the sizes of compressed chunks that do not state one"
        return None

    def _problem(self, position: int, size: int) -> _Problem | None:
        """What is wrong with one chunk, None when its size is right."""
        array = self.array
        needed = array.chunk_bytes
        if array.stored == "plain" or self.stored.folder is None:
            return self._plain(size, needed, array.extra_bytes)
        with open(self.stored.folder / self.grid.key(position), "rb", opener=regular) as file:
            try:
                if array.inner is None:
                    return self._packed(file, 0, size, array.stored, needed)
                return self._shard(file, size, array.inner, position)
            except NotAFrameError as error:
                return _Problem("CK113", str(error))

    def _plain(self, size: int, needed: int | None, extra: int) -> _Problem | None:
        if needed is None or size == needed + extra:
            return None
        checksum = f" and {extra} for the checksum" if extra else ""
        return _Problem("CK113", f"has {size} bytes", f"its elements need {needed}{checksum}")

    def _packed(
        self, file: BinaryIO, start: int, size: int, stored: Stored, needed: int | None
    ) -> _Problem | None:
        frame = frames(file, start, size, stored, self.reads)
        if frame.ends > size:
            return _Problem("CK102", f"ends after {size} bytes", f"its {stored} data needs more")
        if frame.ends < size:
            return _Problem("CK113", f"has {size - frame.ends} bytes after its {stored} data")
        if needed is not None and frame.content not in (None, needed):
            return _Problem("CK113", f"unpacks to {frame.content} bytes", f"its elements need {needed}")
        return None

    def _shard(self, file: BinaryIO, size: int, inner: Inner, position: int) -> _Problem | None:
        parts = parts_of(file, size, self.array, inner, self.reads)
        clash = overlapping(parts)
        if clash is not None:
            first, second = clash
            return _Problem(
                "CK104", f"has inner chunks {list(first.place)} and {list(second.place)} in the same bytes"
            )
        gone = next(absent(parts, self.array, inner, self.grid.cells.indices(position)), None)
        if gone is not None:
            return _Problem("CK111", f"has no inner chunk {list(gone.place)}", "its index leaves it out")
        for part in parts:
            problem = None if part.size is None else self._inner(file, part, part.size, inner)
            if problem is not None:
                found = f"has inner chunk {list(part.place)}, which {problem.found}"
                return _Problem(problem.code, found, problem.stated)
        return None

    def _inner(self, file: BinaryIO, part: Part, size: int, inner: Inner) -> _Problem | None:
        needed = inner_bytes(self.array, inner)
        if inner.stored == "plain":
            return self._plain(size, needed, inner.extra_bytes)
        if inner.stored in ("zstd", "blosc"):
            return self._packed(file, part.begin, size, inner.stored, needed)
        return None

    def _fault(self, code: str, places: list[_Problem]) -> Fault:
        first = places[0]
        key = self.grid.key(first.position)
        return set_fault(
            code,
            f"chunk {key} of {shown(self.stored.name)}",
            first.found,
            stated=first.stated,
            file=f"{self.stored.shown}/{key}",
            reason=self.missing.reason if code == "CK111" else None,
            number=len(places),
            block=first.position,
            undecided=code == "CK111" and self.missing.may_be_fill,
        )

    def _refusal(self, places: list[_Problem]) -> Refusal:
        key = self.grid.key(places[0].position)
        error = FormatError(
            UNREADABLE,
            f"chunk {key}, the first of {len(places)}, {places[0].found}",
            self.stored.origin,
            help="check the permissions of the files",
        )
        return Refusal.of(f"{self.stored.name}/{key}", error)
