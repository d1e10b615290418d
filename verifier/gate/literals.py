"""Arguments as Python text: literals, and dataclasses by their fields."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from verifier.diagnostics.finding import Json

_MOST_SHOWN = 300


class NoLiteralError(ValueError):
    """A value that cannot be written down as an expression."""


def literal(value: object, imports: set[tuple[str, str]]) -> str:
    """An expression that makes the value; ``imports`` gains the (module, name) pairs that it needs.

    Raises:
        NoLiteralError: there is none.
    """
    match value:
        case None | bool() | str():
            return repr(value)
        case int() if type(value) is int:
            return repr(value)
        case float() if math.isfinite(value):
            return repr(value)
        case range() if type(value) is range:
            return repr(value)
    if type(value) is list:
        return f"[{', '.join([literal(one, imports) for one in value])}]"
    if type(value) is tuple:
        inner = [literal(one, imports) for one in value]
        return f"({inner[0]},)" if len(inner) == 1 else f"({', '.join(inner)})"
    if type(value) is dict:
        return f"{{{', '.join([f'{literal(k, imports)}: {literal(v, imports)}' for k, v in value.items()])}}}"
    if is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value, imports)
    raise NoLiteralError(f"a {type(value).__name__}")


def shown(value: object) -> str:
    """A value for people, the same on every run: its literal, or its type where it has none."""
    try:
        text = literal(value, set())
    except NoLiteralError:
        text = f"<{type(value).__name__}>"
        if isinstance(value, float | int):
            text = str(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def call_text(arguments: Mapping[str, object]) -> str:
    """``rows=5, widths=[1, 2]``."""
    return ", ".join([f"{name}={shown(value)}" for name, value in arguments.items()])


def as_json(value: object) -> Json:
    """The value in JSON; as text where JSON has no such value."""
    match value:
        case None | bool() | str():
            return value
        case int() if type(value) is int and abs(value) < 2**63:
            return value
        case list() | tuple():
            return [as_json(one) for one in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: as_json(one) for key, one in value.items()}
    return shown(value)


def _dataclass(value: object, imports: set[tuple[str, str]]) -> str:
    """A call of the class with all of its fields by name."""
    kind = type(value)
    if getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is not kind:
        raise NoLiteralError(f"a {kind.__name__}, which its module does not name")
    if not all(one.init for one in fields(value)):  # type: ignore[arg-type]
        raise NoLiteralError(f"a {kind.__name__} with a field that it does not take")
    found = [f"{one.name}={literal(getattr(value, one.name), imports)}" for one in fields(value)]  # type: ignore[arg-type]
    imports.add((kind.__module__, kind.__qualname__))
    return f"{kind.__name__}({', '.join(found)})"
