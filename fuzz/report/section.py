"""A part of a report: a heading, sentences, a table. What every format draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fuzz.outcomes import Tally

Row = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One table with what has to be said about it; ``head`` names its columns."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    words: str = ""


def share(part: int, whole: int) -> str:
    """A part as a percentage, "-" of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def shares(title: str, what: str, found: Mapping[str, int], words: str = "") -> Iterator[Section]:
    """One row per label with its share; nothing of nothing."""
    total = sum(found.values())
    if total:
        rows = [("all", total, share(total, total)), *((k, n, share(n, total)) for k, n in found.items())]
        yield Section(title, (what, "cases", "share"), tuple(rows), words)


def grid(
    title: str, what: str, tally: Tally, label: Sequence[str], columns: Sequence[str] = (), words: str = ""
) -> Iterator[Section]:
    """Counts by the two words after a label: rows by the first, columns by the second; nothing of nothing.

    ``columns`` come first where they occur at all.
    """
    rows = tally.row(*label)
    if not rows:
        return
    cells = {name: tally.row(*label, name) for name in rows}
    seen = sorted({column for row in cells.values() for column in row})
    shown = [*(c for c in columns if c in seen), *(column for column in seen if column not in columns)]
    table: list[Row] = [(name, *(row.get(column, 0) for column in shown)) for name, row in cells.items()]
    yield Section(title, (what, *shown), tuple(table), words)
