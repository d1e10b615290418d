"""Records of tensors inside a nested value, and the names they have by the path to them."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.formats.pickles.records import Call
from verifier.formats.pickles.torch_zip import PARAMETER
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.refusal import FormatError, below
from verifier.model.origin import Origin

MOST_NAME = 4096
"""Characters of the path to a tensor."""


def records_in(value: object, origin: Origin) -> Iterator[tuple[str, Origin, Call]]:
    """The records in nested mappings and lists, with the path to each, cut where it is too long."""
    stack: list[tuple[object, str, Origin]] = [(value, "", origin)]
    while stack:
        value, name, place = stack.pop()
        if isinstance(value, Call):
            if value.function == PARAMETER and value.args:
                stack.append((value.args[0], name, place))
            else:
                yield name, place, value
            continue
        items: Iterator[tuple[object, object]] = iter(())
        if isinstance(value, dict):
            items = iter(value.items())
        elif isinstance(value, list | tuple):
            items = iter(enumerate(value))
        inner = [
            (part, _joined(name, str(key)), below(place, key))
            for key, part in items
            if isinstance(part, dict | list | tuple | Call) and isinstance(key, str | int)
        ]
        stack.extend(reversed(inner))


def _joined(name: str, key: str) -> str:
    return (f"{name}.{key}" if name else key)[: MOST_NAME + 1]


def tensor_name(name: str, place: Origin) -> str:
    """The name of a tensor.

    Raises:
        FormatError: SM006 when it is too long, SM002 when it cannot be shown.
    """
    if len(name) > MOST_NAME:
        raise FormatError(
            "SM006", f"a name of over {MOST_NAME} characters", place, help="shorten the name of the tensor"
        )
    if not name.isprintable():
        raise malformed("a name with characters that cannot be shown", place, "rename the tensor")
    return name
