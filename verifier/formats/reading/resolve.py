"""From an origin to the lines of its file. Lazy: a run without findings never comes here."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from verifier.diagnostics.snippets import Span
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.places import locate, span_of
from verifier.formats.reading.regular import regular
from verifier.model.origin import Origin

_JSON_STARTS = "{["


def resolve(origin: Origin, root: Path) -> Span | None:
    """The place of a value in its file; None for pickles, and for a file or value that is no longer there.

    ``root`` is the directory that the origin's file is relative to.
    """
    path = root / origin.file
    try:
        status = path.stat()
        if not path.is_file() or status.st_size > Limits().json_bytes:
            return None
        text = _json_text(path, status.st_mtime_ns, status.st_size)
    except (OSError, UnicodeDecodeError):
        return None
    located = None if text is None else locate(text, origin.pointer)
    return None if text is None or located is None else span_of(text, located)


@lru_cache(maxsize=2)
def _json_text(path: Path, _modified: int, _size: int) -> str | None:
    """The text of a JSON file; a changed file is read again. Many findings of one file share one reading."""
    with open(path, "rb", opener=regular) as file:
        data = file.read()
    text = data.decode("utf-8")
    return text if text.lstrip()[:1] in _JSON_STARTS and text.strip() else None
