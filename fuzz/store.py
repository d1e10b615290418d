"""What a campaign has done so far, in one SQLite file, so that a stopped run goes on where it was.

A file may hold many campaigns. One is found again by everything its results depend on: the target and its
version, the cases, and a digest of our own source; results of other code are never taken for ours.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from fuzz.outcomes import Finding, Tally
from fuzz.target import Target

_TABLES = """
create table if not exists campaigns (id integer primary key, description text unique not null);
create table if not exists chunks (
    campaign integer not null references campaigns, seed integer not null,
    start integer not null, stop integer not null, tally text not null,
    primary key (campaign, seed, start, stop)
);
"""


class StoreError(Exception):
    """The file is there and is no store of ours, or cannot be written; the text says which."""


@dataclass(frozen=True, slots=True, order=True)
class Chunk:
    """The cases ``start <= index < stop`` of a seed: what one task does."""

    seed: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Store:
    """The results of one campaign in an open file."""

    path: Path
    connection: sqlite3.Connection
    campaign: int

    def done(self) -> set[Chunk]:
        """The chunks whose results are kept.

        Raises:
            StoreError: the file cannot be read; so for ``keep`` and ``tally``.
        """
        query = "select seed, start, stop from chunks where campaign = ?"
        with _named(self.path):
            return {Chunk(*row) for row in self.connection.execute(query, (self.campaign,))}

    def keep(self, chunk: Chunk, tally: Tally) -> None:
        """The results of one chunk, once and for all."""
        with _named(self.path), self.connection:
            self.connection.execute(
                "insert or replace into chunks values (?, ?, ?, ?, ?)",
                (self.campaign, chunk.seed, chunk.start, chunk.stop, _to_text(tally)),
            )

    def tally(self, chunk: Chunk) -> Tally:
        """The results of a chunk that is done."""
        with _named(self.path):
            (text,) = self.connection.execute(
                "select tally from chunks where (campaign, seed, start, stop) = (?, ?, ?, ?)",
                (self.campaign, chunk.seed, chunk.start, chunk.stop),
            ).fetchone()
        return _from_text(text)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of SQLite as errors of the store."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from error


@contextmanager
def opened(path: Path, target: Target) -> Iterator[Store]:
    """The store of a target's campaign, made where there is none.

    Raises:
        StoreError: the file is something else, or cannot be written.
    """
    with _named(path):
        connection = sqlite3.connect(path, timeout=60)
        connection.executescript(_TABLES)
        text = json.dumps(description(target), sort_keys=True)
        with connection:
            connection.execute("insert or ignore into campaigns (description) values (?)", (text,))
        (number,) = connection.execute("select id from campaigns where description = ?", (text,)).fetchone()
    try:
        yield Store(path, connection, number)
    finally:
        connection.close()


def description(target: Target) -> dict[str, Any]:
    """Everything that the results of a campaign depend on, but for seeds and indices."""
    return {
        "target": target.name,
        "version": target.version,
        "settings": repr(target),
        "selection": asdict(target.selection),
        "source": source_digest(),
    }


def source_digest() -> str:
    """A digest of the Python source of ``verifier`` and ``fuzz``."""
    digest = sha256()
    for package in ("fuzz", "verifier"):
        for name, content in sorted(_sources(files(package), package)):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{name}/{entry.name}", entry.read_bytes()


def _to_text(tally: Tally) -> str:
    counts = [[list(label), count] for label, count in sorted(tally.counts.items())]
    return json.dumps({"counts": counts, "examples": [asdict(f) for f in tally.examples.values()]})


def _from_text(text: str) -> Tally:
    stored = json.loads(text)
    tally = Tally(Counter({tuple(label): count for label, count in stored["counts"]}))
    for one in stored["examples"]:
        found = Finding(**{**one, "weight": tuple(one["weight"])})
        tally.examples[found.kind, found.key] = found
    return tally
