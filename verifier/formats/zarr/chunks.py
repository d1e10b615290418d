"""The chunks of one array, as stored, held against its grid: none is missing, none is left over, and each has
the bytes that its shape and type need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from verifier.formats.reading.allowance import Allowance
from verifier.formats.reading.cells import first_absent
from verifier.formats.reading.document import BoxSubject, Refusal
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.zarr.array import ZarrArray
from verifier.formats.zarr.grid import ChunkGrid
from verifier.formats.zarr.sizes import ChunkSizes, Missing
from verifier.formats.zarr.store import StoredArray
from verifier.obligations.faults import Fault


@dataclass(slots=True, kw_only=True)
class Budget:
    """What all arrays of one checkpoint may cost together.

    Attributes:
        files: entries of folders that may still be listed.
        frame_reads: reads inside compressed chunks that may still be made.
        unstored: chunks that may still be listed though nothing is stored for them.
        device_parts: parts of arrays on devices that may still be listed.
    """

    files: Allowance
    frame_reads: Allowance
    unstored: Allowance
    device_parts: Allowance

    @classmethod
    def of(cls, limits: Limits) -> Budget:
        """The budget that the limits allow."""
        return cls(
            files=Allowance(limits.entries),
            frame_reads=Allowance(limits.frame_reads),
            unstored=Allowance(limits.unstored_chunks),
            device_parts=Allowance(limits.device_parts),
        )


def check_chunks(
    stored: StoredArray,
    array: ZarrArray,
    missing: Missing,
    *,
    expected_shape: tuple[int, ...] | None,
    budget: Budget,
    gathered: Gathered,
) -> bool:
    """Judge the chunks of one array and hand on its grid as boxes; whether all of them are stored."""
    grid = ChunkGrid(array)
    inside: dict[int, int | None] = {}
    others: list[str] = []
    for key, size in stored.keys.items():
        position = grid.position(key)
        if position is None:
            others.append(key)
        else:
            inside[position] = size
    _left_over(stored, grid, others, gathered)
    faults = ChunkSizes(stored, grid, missing, budget.frame_reads).faults(inside, gathered)
    absent = grid.cells.count - len(inside)
    gathered.holds("chunk keys", len(inside))
    if absent:
        faults.insert(0, _absent(stored, grid, inside, absent, missing))
    # The cost of listing is in proportion to what is stored, but for a few.
    if absent > len(inside):
        budget.unstored.left -= absent * max(1, len(grid.cells.counts))
        if budget.unstored.left < 0:
            _not_listed(stored, grid, len(inside), faults, gathered)
            return False
    boxes = grid.boxes(stored.name)
    gathered.boxes.append(BoxSubject(boxes=boxes, faults=tuple(faults), expected_shape=expected_shape))
    return not absent


def _absent(
    stored: StoredArray, grid: ChunkGrid, inside: Iterable[int], absent: int, missing: Missing
) -> Fault:
    first = first_absent(inside)
    return set_fault(
        "CK111",
        f"chunk {grid.key(first)} of {shown(stored.name)}",
        "is not stored",
        stated=grid.words(),
        file=stored.origin.file,
        reason=missing.reason,
        number=absent,
        block=first,
        undecided=missing.may_be_fill,
    )


def _left_over(stored: StoredArray, grid: ChunkGrid, others: list[str], gathered: Gathered) -> None:
    """CK112 for keys of chunks outside the grid, CK202 for files that are no chunks."""
    outside = sorted(key for key in others if grid.is_key(key))
    if outside:
        gathered.faults.append(
            set_fault(
                "CK112",
                f"chunk {outside[0]} of {shown(stored.name)}",
                "is stored",
                stated=grid.words(),
                file=stored.shown,
                number=len(outside),
            )
        )
    strange = sorted(key for key in others if not grid.is_key(key))
    if strange:
        gathered.remarks.append(
            set_fault(
                "CK202",
                f"the file {shown(strange[0])}",
                f"is no chunk of {shown(stored.name)}",
                file=stored.shown,
                number=len(strange),
            )
        )


def _not_listed(
    stored: StoredArray, grid: ChunkGrid, inside: int, faults: list[Fault], gathered: Gathered
) -> None:
    """A grid of which next to nothing is stored, too large to be listed for that."""
    decided = [fault for fault in faults if not fault.undecided]
    # Without the grid as a map there are no blocks to point at.
    gathered.faults += [
        Fault(code=f.code, side="map", count=f.count, values=f.values, undecided=f.undecided) for f in decided
    ]
    if len(decided) < len(faults):
        error = FormatError(
            "SM006",
            f"a grid of {grid.cells.count} chunks of which {inside} are stored",
            stored.origin,
            help="write every chunk, or raise the limit of unstored chunks where Limits is made",
        )
        gathered.refusals.append(Refusal.of(stored.name, error))
