"""A progress bar on standard error, where it is a terminal and the work is long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHOWN_AFTER_SECONDS = 1.0

Done = Callable[[int, int], None]
"""Called with how many more parts are done, and how many more are known of."""


@contextmanager
def part_progress() -> Iterator[Done]:
    """A function to call as parts are done; rich is imported only where a bar is shown."""
    if not sys.stderr.isatty():
        yield lambda done, more: None
        return
    bar = _Bar()
    try:
        yield bar.add
    finally:
        bar.close()


class _Bar:
    """Counts, and draws once the work turns out to be long."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._done = 0
        self._known = 0
        self._draw: Callable[[int, int], None] | None = None
        self._stop: Callable[[], None] = lambda: None

    def add(self, done: int, more: int) -> None:
        """Count parts that are done and parts that are known of."""
        self._done += done
        self._known += more
        if self._draw is None and time.monotonic() - self._began > SHOWN_AFTER_SECONDS:
            self._begin()
        if self._draw is not None:
            self._draw(self._done, self._known)

    def close(self) -> None:
        """Take the bar away."""
        self._stop()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

        progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        progress.start()
        task = progress.add_task("")
        self._draw = lambda done, known: progress.update(task, completed=done, total=known)
        self._stop = progress.stop
