"""Full shapes of parameters, for formats that do not store them.

They come from a list of shapes, a model's configuration, or another checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from verifier.formats.detect import read
from verifier.formats.fields import integers
from verifier.formats.json_file import json_value
from verifier.formats.limits import Limits
from verifier.formats.model_config import is_model_config, shapes_of_config
from verifier.formats.refusal import FormatError, below, shown
from verifier.formats.whole_file import bounded_bytes
from verifier.model.origin import Origin

Shapes = Mapping[str, tuple[int, ...]]

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
    document = read(path)
    shapes = {subject.name: subject.shard_map.logical_shape for subject in document.subjects}
    shapes |= {subject.boxes.name: subject.boxes.logical_shape for subject in document.boxes}
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
    shape = integers(dims, origin, shown(name))
    if any(n < 0 for n in shape):
        raise FormatError("SM104", f"negative dimension of {shown(name)}", origin, help=HELP)
    return shape
