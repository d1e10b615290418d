"""Full shapes from elsewhere, for formats that do not store them: from JSON, a config, another checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from verifier.formats.detect import read
from verifier.formats.document import Document
from verifier.formats.fields import integers, malformed, name_text
from verifier.formats.json_text import parse
from verifier.formats.limits import Limits
from verifier.formats.model_config import config_shapes
from verifier.formats.refusal import FormatError, below, shown
from verifier.formats.whole_file import bounded_bytes
from verifier.model.origin import Origin

Shape = tuple[int, ...]
INFERRED = "CK201"


def read_expected_shapes(path: Path, *, limits: Limits | None = None) -> Mapping[str, Shape]:
    """The full shape of each parameter that a file or checkpoint states.

    Args:
        path: JSON text {name: [dims]}, the ``config.json`` of a model, or anything that can be audited.
        limits: how much it may cost; the usual ones when None.

    Raises:
        FormatError: it cannot be read, states no shapes, or only inferred them itself.
    """
    limits = limits or Limits()
    stated = _stated(path, limits)
    return _of_document(read(path, limits=limits)) if stated is None else stated


def _stated(path: Path, limits: Limits) -> dict[str, Shape] | None:
    """Shapes written as JSON, or those that follow from a config; None for anything else."""
    origin = Origin(str(path))
    try:
        with path.open("rb") as file:
            begins = file.read(64).lstrip()[:1]
        data = bounded_bytes(path, limits.json_bytes, "JSON", origin) if begins == b"{" else b""
    except OSError:
        return None  # a folder, or what the reader will refuse
    if not data:
        return None
    parsed = parse(data, origin, limits)
    value = parsed.value
    if not isinstance(value, dict):
        return None
    is_config = "architectures" in value
    is_shapes = bool(value) and all(map(_is_dimensions, value.values()))
    if not is_config and not is_shapes:
        return None
    if parsed.flaws:
        raise parsed.flaws[0]
    return config_shapes(value, origin) if is_config else _shapes(value, origin, limits)


def _is_dimensions(value: object) -> bool:
    """Whether a value is meant as a shape; whether it is one is another question."""
    return isinstance(value, list) and not any(isinstance(item, list | dict) for item in value)


def _shapes(value: Mapping[str, object], origin: Origin, limits: Limits) -> dict[str, Shape]:
    found: dict[str, Shape] = {}
    for name, dimensions in value.items():
        place = below(origin, name)
        shape = integers(dimensions, place)
        if any(extent < 0 for extent in shape):
            raise FormatError("SM104", f"{list(shape)} is no shape", place, help="write sizes from 0 on")
        found[name_text(name, origin, limits)] = shape
    return found


def _of_document(document: Document) -> dict[str, Shape]:
    """The shapes of a checkpoint."""
    inferred = next((remark for remark in document.remarks if remark.code == INFERRED), None)
    if inferred is not None:
        raise malformed(
            "this checkpoint does not state full shapes either",
            Origin(document.file),
            "name a config.json, JSON {name: [dims]}, or a checkpoint of another format",
        )
    found = {subject.name: subject.shard_map.logical_shape for subject in document.subjects}
    for subject in document.boxes:
        name, shape = subject.boxes.name, subject.boxes.logical_shape
        if subject.is_parameter and found.setdefault(name, shape) != shape:
            raise malformed(
                f"{shown(name)} has the shapes {list(found[name])} and {list(shape)}",
                Origin(document.file),
                "name a checkpoint that has each parameter once",
            )
    if not found:
        raise malformed("no shapes are stated here", Origin(document.file), "name a file that states some")
    return found
