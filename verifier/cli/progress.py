"""A progress bar on standard error, where it is a terminal and the work is long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SHOWN_FROM = 3
"""Fewer paths are not worth a bar."""


@contextmanager
def path_progress(total: int) -> Iterator[Callable[[Path], None]]:
    """A function to call after each path; rich is imported only where a bar is shown."""
    if total < SHOWN_FROM or not sys.stderr.isatty():
        yield lambda path: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda path: progress.update(task, advance=1, description=path.name)
