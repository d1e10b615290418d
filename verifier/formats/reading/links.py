"""Links in a checkpoint that lead out of its folder. They are followed, as loaders do, and named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from verifier.formats.reading.folder_files import leads_out
from verifier.formats.reading.gathered import set_fault
from verifier.formats.reading.refusal import shown
from verifier.obligations.faults import Fault

MOST_ENTRIES = 200_000
"""Entries of a checkpoint among which links are looked for."""


def links_out(folder: Path, names: Iterable[str], file: str) -> tuple[Fault, ...]:
    """CK206 for links among these entries of a folder, and in folders below them, that lead out of it."""
    links = sorted(path for path in _links(folder, frozenset(names)) if leads_out(folder, path))
    if not links:
        return ()
    first = shown(str(links[0].relative_to(folder)))
    return (set_fault("CK206", f"the link {first}", "leads out of the folder", file=file, number=len(links)),)


def _links(folder: Path, names: frozenset[str]) -> Iterator[Path]:
    pending, left = [folder], MOST_ENTRIES
    while pending and left > 0:
        place = pending.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if place == folder and entry.name not in names:
                        continue
                    left -= 1
                    if entry.is_symlink():
                        yield Path(entry.path)
                    elif entry.is_dir():
                        pending.append(Path(entry.path))
        except OSError:
            continue  # its reader says what cannot be listed
