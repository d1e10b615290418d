"""What a path that people name stands for: itself, or whatever can be audited in a folder.

A folder may be a checkpoint, or several that share it, and hold further ones and loose files of maps. What is
not looked at is said. Nothing is parsed: names are read, and the beginnings of files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from verifier.formats.reading import marks
from verifier.formats.reading.folder_files import leads_out
from verifier.formats.reading.refusal import some
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.registry import formats

MOST_LEVELS = 3
"""How deep folders are searched."""
MOST_ENTRIES = 16_384
"""Entries that are looked at, besides those of checkpoints."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something to read.

    Attributes:
        path: of a file or of the folder of a checkpoint.
        input_format: the format to read it as; None to tell by content.
        named: False for a file that looks like one of ours and may turn out to be none.
    """

    path: Path
    input_format: str | None = None
    named: bool = True

    def asked(self, request: Request) -> Request:
        """What is asked of its reader."""
        return request if self.input_format is None else replace(request, input_format=self.input_format)


@dataclass(slots=True)
class Search:
    """What was found at a path.

    Attributes:
        root: the path.
        found: what is to be read, at least one; a folder in which nothing is found stands for itself, so that
            reading it says why.
        without_map: files that may be anything and are no map.
    """

    root: Path
    found: list[Found] = field(default_factory=list)
    without_map: list[Path] = field(default_factory=list)
    _closed: list[Path] = field(default_factory=list)
    _looked_at: int = 0

    def unchecked(self) -> Iterator[str]:
        """What was left out, one line each."""
        yield from self._line("files without a map by their first bytes", self.without_map)
        yield from self._line(f"what links lead to, and folders more than {MOST_LEVELS} deep", self._closed)
        if self._looked_at > MOST_ENTRIES:
            yield f"{self._looked_at - MOST_ENTRIES} entries of {self.root}: over {MOST_ENTRIES}"

    def _line(self, what: str, paths: list[Path]) -> Iterator[str]:
        if paths:
            yield f"{what} ({len(paths)}): {some([str(path.relative_to(self.root)) for path in paths])}"

    def folder(self, path: Path, levels: int) -> None:
        """Add what is in a folder.

        Raises:
            OSError: it cannot be listed.
        """
        whole = Sight(path)
        left = frozenset(whole.names)
        first = True
        for form in formats():
            sight = Sight(path, only=left)
            claimed = left.intersection(form.claims(sight)) if left and form.recognises(sight) else ()
            if claimed:
                # The first is what reading the folder makes of it; others share the folder with that.
                self.found.append(Found(path, None if first else form.name))
                first = False
                left = left.difference(claimed)
        for name in whole.names:
            if name in left:
                self._entry(path / name, levels)

    def _entry(self, path: Path, levels: int) -> None:
        self._looked_at += 1
        if self._looked_at > MOST_ENTRIES:
            return
        try:
            if path.is_dir():
                if path.is_symlink() or not levels:
                    self._closed.append(path)
                else:
                    self.folder(path, levels - 1)
            elif path.is_file():
                self._file(path)
        except OSError:
            self.found.append(Found(path))  # reading it says why

    def _file(self, path: Path) -> None:
        if leads_out(self.root, path):
            self._closed.append(path)
            return
        sight = Sight(path)
        if any(form.finds(sight) for form in formats()):
            self.found.append(Found(path, named=False))
        elif marks.container(sight) is not None:
            self.without_map.append(path)


def found_at(path: Path, request: Request) -> Search:
    """What a path stands for."""
    search = Search(path)
    try:
        if request.input_format is None and path.is_dir():
            search.folder(path, MOST_LEVELS)
    except OSError:
        search.found.clear()
    if not search.found:
        search.found.append(Found(path))
    return search
