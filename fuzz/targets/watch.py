"""What Python does while a file is read: anything but reading it is a fault of the reader.

Imports, calls into the system, compiled code, other files: the interpreter reports all of them to its audit
hooks. A hook cannot be taken off again, so there is one, and it looks only while it is asked to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.targets.fault import demand

HARMLESS = frozenset({"builtins.id", "sys._getframe"})
"""Events that say nothing of what was done."""


@dataclass(slots=True)
class _Watch:
    """The one hook. ``seen`` is None while nobody watches."""

    installed: bool = False
    path: str | None = None
    seen: list[str] | None = field(default=None)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.seen is None or event in HARMLESS:
            return
        if event != "open" or self.path is None or str(arguments[0]) != self.path:
            self.seen.append(f"{event} {arguments!a:.80}")


_WATCH = _Watch()


@contextmanager
def nothing_done(path: Path | None = None) -> Iterator[None]:
    """Within the block nothing may be imported, run or opened but the file at ``path``.

    Raises:
        Fault: something was, at the end of the block.
    """
    if not _WATCH.installed:
        sys.addaudithook(_WATCH)
        _WATCH.installed = True
    seen: list[str] = []
    _WATCH.path, _WATCH.seen = None if path is None else str(path), seen
    try:
        yield
    finally:
        _WATCH.seen = None
        demand(not seen, "while reading: {}", ", ".join(seen[:4]))
