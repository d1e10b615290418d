"""The bytes of a file, unless its size already says no."""

from __future__ import annotations

from pathlib import Path

from verifier.formats.reading.refusal import FormatError
from verifier.formats.reading.regular import regular
from verifier.model.origin import Origin


def bounded_bytes(path: Path, limit: int, what: str, origin: Origin) -> bytes:
    """All bytes of a file of at most ``limit`` bytes.

    Raises:
        FormatError: SM006 when it is larger; ``what`` names the content.
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    if size > limit:
        raise FormatError(
            "SM006",
            f"{size} bytes of {what}, over the limit of {limit}",
            origin,
            help="split the document, or pass larger Limits if you trust its source",
        )
    with open(path, "rb", opener=regular) as file:
        # A file that grows meanwhile is cut here and refused by its parser.
        return file.read(limit + 1)
