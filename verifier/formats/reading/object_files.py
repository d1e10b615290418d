"""Sharded objects of Megatron-core that are files: ``shard_1.0_2.2.pt`` is cell (1, 0) of a 2 x 2 grid, and
each cell is there once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from verifier.formats.reading.cells import Cells, first_absent
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown

_NUMBERS = r"(?:0|[1-9]\d{0,18})(?:\.(?:0|[1-9]\d{0,18})){0,63}"
_FILE = re.compile(rf"shard_({_NUMBERS})_({_NUMBERS})\.pt", re.ASCII)


def check_objects(name: str, folder: str, files: Iterable[str], gathered: Gathered) -> None:
    """Judge the files of one object, by their names.

    Args:
        name: of the object.
        folder: as people should see it.
        files: names of the files in it; those that are no shards are passed over.
        gathered: takes what is found.
    """
    by_grid: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for match in filter(None, map(_FILE.fullmatch, sorted(files))):
        place, counts = (tuple(map(int, part.split("."))) for part in match.groups())
        by_grid.setdefault(counts, []).append(place)
    if not by_grid:
        return
    if len(by_grid) > 1:
        first, second, *_ = sorted(by_grid)
        gathered.faults.append(
            set_fault(
                "CK114",
                f"the shards of the object {shown(name)}",
                f"are {Cells(first).words()} by the name of one file",
                stated=f"and {Cells(second).words()} by that of another",
                file=folder,
            )
        )
        return
    ((counts, places),) = by_grid.items()
    _check_cells(name, folder, Cells(counts), places, gathered)


def _check_cells(
    name: str, folder: str, cells: Cells, places: list[tuple[int, ...]], gathered: Gathered
) -> None:
    outside = [place for place in places if cells.position(place) is None]
    inside = {position for place in places if (position := cells.position(place)) is not None}
    gathered.holds("sharded objects", len(inside))
    if outside:
        gathered.faults.append(
            set_fault(
                "CK112",
                f"shard {list(outside[0])} of the object {shown(name)}",
                "is stored",
                stated=f"its name says that there are {cells.words()}",
                file=folder,
                number=len(outside),
            )
        )
    absent = cells.count - len(inside)
    if absent:
        place = ".".join(map(str, cells.indices(first_absent(inside))))
        gathered.faults.append(
            set_fault(
                "CK111",
                f"shard {place} of the object {shown(name)}",
                "is not stored",
                stated=f"the names of the others say that there are {cells.words()}",
                file=folder,
                reason="the object cannot be put together again, so the load fails",
                number=absent,
            )
        )
