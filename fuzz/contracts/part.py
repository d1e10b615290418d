"""A part of what is reported: tables, what must not have happened, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from fuzz.report.section import Section
from verifier.cli.progress import Done


@dataclass(slots=True)
class Part:
    """One thing that was tried.

    Attributes:
        name: of the part.
        done: is called as items are tried.
        sections: its tables.
        surprises: what must not have happened, one sentence each.
        seconds: how long it took.
    """

    name: str
    done: Done
    sections: list[Section] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    seconds: float = 0.0


@contextmanager
def timed(part: Part, items: int) -> Iterator[Callable[[], None]]:
    """Announces so many items and measures them; call what it gives after each."""
    part.done(0, items)
    began = time.monotonic()
    yield lambda: part.done(1, 0)
    part.seconds += time.monotonic() - began


def by_count(counts: Mapping[str, int]) -> str:
    """Words with their counts, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{word} {count}" for word, count in ordered)
