"""What a format is told by: the first bytes of a file, or the names in a folder. Nothing is parsed for it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from verifier.formats.reading.regular import regular

HEAD_BYTES = 4096
MOST_NAMES = 200_000
"""A folder with more entries is told by the first of them."""


@dataclass(frozen=True)
class Sight:
    """A path as a format's ``recognises`` sees it. Reads HEAD_BYTES of a file, unless it is asked for more.

    Attributes:
        path: a file or a folder.
        only: the entries of the folder that count; None for all.

    Raises:
        OSError: from any attribute, when the path cannot be read. What cannot be read inside of a folder is
            passed over: a folder is told by the rest of it.
    """

    path: Path
    only: frozenset[str] | None = None
    _heads: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The entries of the folder, sorted; none for a file."""
        if not self.is_folder:
            return ()
        with os.scandir(self.path) as entries:
            names = sorted(entry.name for entry, _ in zip(entries, range(MOST_NAMES), strict=False))
        return tuple([name for name in names if self.only is None or name in self.only])

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the file; none for a folder."""
        return b"" if self.is_folder else self._first_bytes(self.path)

    @cached_property
    def last_byte(self) -> bytes:
        """The last byte of the file; none for a folder or an empty file."""
        if self.is_folder or not self.path.stat().st_size:
            return b""
        with open(self.path, "rb", opener=regular) as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1)

    def has(self, *names: str) -> bool:
        """Whether the folder has an entry of one of these names."""
        return any(name in self.names for name in names)

    def has_suffix(self, *suffixes: str) -> bool:
        """Whether an entry of the folder ends in one of these."""
        return any(name.endswith(suffixes) for name in self.names)

    def head_of(self, name: str) -> bytes:
        """The first bytes of a file in the folder; none when it is no regular file, or cannot be read."""
        if name not in self._heads:
            inside = self.path / name
            try:
                self._heads[name] = self._first_bytes(inside) if inside.is_file() else b""
            except OSError:
                self._heads[name] = b""
        return self._heads[name]

    def inside(self, name: str) -> tuple[str, ...]:
        """The entries of a folder in the folder; none when it is none, or cannot be listed."""
        try:
            return Sight(self.path / name).names
        except OSError:
            return ()

    def beginning(self, most: int) -> bytes:
        """Up to ``most`` first bytes of the file, where the head does not tell enough."""
        return b"" if self.is_folder else self._first_bytes(self.path, most)

    @staticmethod
    def _first_bytes(path: Path, most: int = HEAD_BYTES) -> bytes:
        with open(path, "rb", opener=regular) as file:
            return file.read(most)
