"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """A markdown table; numbers to the right, with thin separators."""
    lines = [list(head)] + [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    first = "| " + " | ".join(lines[0]) + " |"
    rule = "|" + "|".join("---" if k == 0 else "---:" for k in range(len(head))) + "|"
    return "\n".join([first, rule, *("| " + " | ".join(line) + " |" for line in lines[1:])])
