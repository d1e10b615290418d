"""What a campaign against other people's code found, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.consumers.classes import Class
from fuzz.outcomes import Tally
from fuzz.report.section import Row, Section, grid, share, shares

CLASSES = tuple(found.value for found in Class)
"""Outcomes, the worst first."""
METHOD = """\
Shards are cut from the clean map by a walk of every index and go through the corrupted one; memory that
nobody wrote is poisoned. An exact result of a corrupted map means that the defect had no effect there."""

AGAINST_NOTHING = """\
With the clean map as reference, and of the corrupted map alone: a map that tiles perfectly and is another
function is wrong only against something."""


def acceptance_sections(tally: Tally) -> Iterator[Section]:
    """The sections, those without content left out."""
    yield from _outcomes(tally)
    yield from shares("Maps", "walk", tally.row("map"))
    yield from grid("Validators", "validator", tally, ("accepts",))
    yield from _by_mutant(tally)
    yield from grid("Not expressible", "operation", tally, ("inexpressible",))
    yield from grid(
        "What shardproof says of the silently wrong ones",
        "asked",
        tally,
        ("prover",),
        ("refuted", "proved", "undecided"),
        AGAINST_NOTHING,
    )


def _outcomes(tally: Tally) -> Iterator[Section]:
    """One row per operation, with shares."""
    operations = tally.row("outcome")
    seen = {c for operation in operations for c in tally.row("outcome", operation)}
    classes = [c for c in CLASSES if c in seen]
    rows: list[Row] = []
    for operation, total in operations.items():
        found = tally.row("outcome", operation)
        cells = [f"{found.get(c, 0):,} ({share(found.get(c, 0), total)})" for c in classes]
        rows.append((operation, total, *cells, tally.counts["uninitialised", operation]))
    if rows:
        head = ("operation", "cases", *classes, "of the silent: uninitialised")
        yield Section("Outcomes", head, tuple(rows), METHOD)


def _by_mutant(tally: Tally) -> Iterator[Section]:
    """A table for each operation in which mutants and outcomes differ."""
    for operation in tally.row("outcome by mutant"):
        if len(tally.row("outcome by mutant", operation)) > 1 and len(tally.row("outcome", operation)) > 1:
            label = ("outcome by mutant", operation)
            yield from grid(f"{operation}, by mutant", "mutant", tally, label, CLASSES)
