"""How far a campaign is, on standard error: a bar on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from fuzz.campaign import Progress

PERIOD = 60.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def campaign_progress(total: int | None) -> Iterator[Callable[[Progress], None]]:
    """A function to call with each progress; rich is imported only where a bar is shown."""
    if not sys.stderr.isatty():
        yield _lines(total)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )  # fmt: skip
    from rich.progress import (
        Progress as Bar,
    )

    columns = (
        BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    started = time.monotonic()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda progress: bar.update(
            task, completed=progress.cases, description=described(progress, time.monotonic() - started)
        )


def described(progress: Progress, seconds: float) -> str:
    """Rate and counts per outcome, such as "210/s  right 1,904  wrong 2,296"."""
    ran = progress.cases - progress.before
    rate = f"{ran / seconds:.0f}/s" if ran and seconds > 0 else "-/s"
    counts: Counter[str] = Counter()
    for label, count in progress.tally.counts.items():
        if label[0] in ("map", "outcome"):
            counts[label[-1]] += count
        elif label[0] == "finding":
            counts[label[1]] += count
    return "  ".join([rate, *(f"{word} {count:,}" for word, count in sorted(counts.items()))])


def _lines(total: int | None) -> Callable[[Progress], None]:
    started = spoke = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal spoke
        now = time.monotonic()
        if now - spoke >= PERIOD:
            spoke = now
            of = "" if total is None else f" of {total:,}"
            click.echo(f"{progress.cases:,}{of} cases  {described(progress, now - started)}", err=True)

    return show
