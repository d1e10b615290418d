"""Tables of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def code(text: str) -> str:
    return f"`{text}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join([cell.replace('|', '/') for cell in row])} |"
