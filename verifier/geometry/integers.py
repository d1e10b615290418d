"""Which numbers a view or a map may be made of: plain ints, and inside ``admitting`` one type more.

A constructor is proved for all sizes by running it on symbolic ones (``verifier/symbolic``), and the maps it
then makes are made of these. The door is open only while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ADMITTED: ContextVar[type | None] = ContextVar("admitted", default=None)


@contextmanager
def admitting(kind: type) -> Iterator[None]:
    """Let numbers of type ``kind`` into views and maps made in this context.

    Limits on the size of numbers are not asked of them: they may be symbolic, so without a bound.
    """
    token = _ADMITTED.set(kind)
    try:
        yield
    finally:
        _ADMITTED.reset(token)


def admitted() -> type | None:
    """The type that is let in beside int, None outside ``admitting``."""
    return _ADMITTED.get()
