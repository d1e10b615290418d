"""Full shapes of parameters, for formats that do not store them.

They come from a list of shapes, a model's configuration, or another checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from verifier.formats.detect import read
from verifier.formats.reading.document import Document
from verifier.formats.reading.fields import integers
from verifier.formats.reading.json_file import json_value
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.formats.shapes.model_config import is_model_config, shapes_of_config
from verifier.model.origin import Origin

Shapes = Mapping[str, tuple[int, ...]]

INFERRED = "CK201"
"""The remark of readers that took shapes from what is stored: such shapes would miss what is not."""
HELP = 'write {"name": [dims]}, or name a config.json or a checkpoint'


def read_expected_shapes(path: Path) -> Shapes:
    """The full shape of each parameter.

    Raises:
        FormatError: the path is none of the three, or states no shapes; a configuration of an architecture
            whose parameters are not known is refused by name.
    """
    origin = Origin(str(path))
    if path.is_file() and path.suffix == ".json":
        value = _json(path, origin)
        if isinstance(value, dict) and is_model_config(value):
            return shapes_of_config(value, origin)
        if isinstance(value, dict) and value and all(isinstance(dims, list) for dims in value.values()):
            return {name: _shape(dims, below(origin, name), name) for name, dims in value.items()}
    return _of_document(read(path), origin)


def _of_document(document: Document, origin: Origin) -> Shapes:
    """The shapes of a checkpoint that states them."""
    if any(remark.code == INFERRED for remark in document.remarks):
        raise FormatError("SM001", "this checkpoint does not state full shapes either", origin, help=HELP)
    shapes = {subject.name: subject.shard_map.logical_shape for subject in document.subjects}
    for subject in document.boxes:
        name, shape = subject.boxes.name, subject.boxes.logical_shape
        if subject.is_parameter and shapes.setdefault(name, shape) != shape:
            found = f"{list(shapes[name])} and {list(shape)}"
            raise FormatError("SM001", f"{shown(name)} has the shapes {found} here", origin, help=HELP)
    if not shapes:
        raise FormatError("SM001", "no shapes are stated here", origin, help=HELP)
    return shapes


def _json(path: Path, origin: Origin) -> object:
    limits = Limits()
    try:
        return json_value(bounded_bytes(path, limits.json_bytes, "JSON", origin), origin, limits)
    except OSError as error:
        raise FormatError(
            "SM001", f"cannot be read: {error.strerror}", origin, help="check the path and its permissions"
        ) from None


def _shape(dims: object, origin: Origin, name: str) -> tuple[int, ...]:
    shape = integers(dims, origin)
    if any(n < 0 for n in shape):
        raise FormatError("SM104", f"negative dimension of {shown(name)}", origin, help=HELP)
    return shape
