"""A JSON file as one value that has one meaning."""

from __future__ import annotations

from pathlib import Path

from verifier.formats.reading.folder_files import path_inside
from verifier.formats.reading.json_text import parse
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.model.origin import Origin


def read_json(folder: Path, name: str, origin: Origin, limits: Limits) -> object:
    """The value of a JSON file in a folder.

    Raises:
        FormatError: SM001, SM003, SM005 or SM006; CK109 for a link out of the folder.
        OSError: it cannot be read.
    """
    path = path_inside(folder, name, origin)
    return json_value(bounded_bytes(path, limits.json_bytes, "JSON", origin), origin, limits)


def json_value(data: bytes, origin: Origin, limits: Limits) -> object:
    """The value of a JSON text.

    Raises:
        FormatError: SM001, SM003, SM005 or SM006.
    """
    parsed = parse(data, origin, limits)
    if parsed.flaws:
        raise parsed.flaws[0]
    return parsed.value
