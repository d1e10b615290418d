"""What earlier audits proved, in one SQLite file, so that a stopped audit goes on where it was.

Nothing in the file is believed: see ``proofs``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TABLE = "create table if not exists proofs (key text primary key, proof text not null) without rowid"
_WAIT_SECONDS = 30


class CacheError(Exception):
    """The file cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Cache:
    """An open cache."""

    path: Path
    connection: sqlite3.Connection

    def find(self, key: str) -> str | None:
        """What is stored under a key; None where nothing can be read."""
        try:
            row = self.connection.execute("select proof from proofs where key = ?", (key,)).fetchone()
        except sqlite3.Error:
            return None
        return row[0] if row is not None and type(row[0]) is str else None

    def keep(self, proofs: Mapping[str, str]) -> None:
        """Store proofs, once and for all.

        Raises:
            CacheError: the file cannot be written.
        """
        if not proofs:
            return
        try:
            with self.connection:
                self.connection.executemany("insert or replace into proofs values (?, ?)", proofs.items())
        except sqlite3.Error as error:
            raise CacheError(f"{self.path}: {error}") from error


@contextmanager
def opened(path: Path) -> Iterator[Cache]:
    """The cache in a file, made where there is none.

    Raises:
        CacheError: the file is something else, or cannot be opened.
    """
    connection: sqlite3.Connection | None = None
    try:
        try:
            connection = sqlite3.connect(path, timeout=_WAIT_SECONDS)
            connection.execute(_TABLE)
        except sqlite3.Error as error:
            raise CacheError(f"{path}: {error}") from error
        yield Cache(path, connection)
    finally:
        if connection is not None:
            connection.close()
