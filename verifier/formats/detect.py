"""What form a path has, found by its content, never by its name."""

from __future__ import annotations

from pathlib import Path

from verifier.formats.document import Document
from verifier.formats.limits import Limits
from verifier.formats.map_json import read_json
from verifier.formats.refusal import FormatError
from verifier.model.origin import Origin


def read(path: Path, *, display: str | None = None, limits: Limits = Limits()) -> Document:
    origin = Origin(display if display is not None else str(path))
    return read_json(path.read_bytes(), path.stem, origin, limits)
