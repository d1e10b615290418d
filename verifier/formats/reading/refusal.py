"""Why a document, or one map in it, could not be read."""

from __future__ import annotations

import json
from collections.abc import Sequence

from verifier.model.origin import Origin

SHOWN_CHARS = 60
NAMES_SHOWN = 4


class FormatError(Exception):
    """A value that is refused rather than guessed at.

    Attributes:
        code: SM0xx, or SM103, SM104, SM108 for a map that breaks the form.
        message: one line saying what was found.
        origin: where it was found.
        line: 1-based line in a text file, None when not known yet (see ``places.resolve``).
        column: 1-based column in that line.
        help: one line saying what to do next.
    """

    def __init__(
        self,
        code: str,
        message: str,
        origin: Origin,
        *,
        help: str,  # noqa: A002 - the word of the message it becomes
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.origin = origin
        self.help = help
        self.line = line
        self.column = column
        super().__init__(code, message, origin)

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.code} {self.origin}: {self.message}"
        return f"{self.code} {self.origin.file}:{self.line}:{self.column}: {self.message}"


class NoMapError(FormatError):
    """What was read is a document without fault, and of none of the forms that are known."""


def below(origin: Origin, key: object) -> Origin:
    """The place of a member whose key may be anything: the object itself when the key cannot be shown."""
    if isinstance(key, int) or (isinstance(key, str) and len(key) <= 1024 and key.isprintable()):
        return origin.child(key)
    return origin


def shown(value: object) -> str:
    """A short one-line rendering of a value from a file, safe to print: ASCII only, no control characters."""
    match value:
        case None:
            return "null"
        case bool() | str():
            text = json.dumps(value[: SHOWN_CHARS + 1] if isinstance(value, str) else value)
        case int():
            text = str(value) if value.bit_length() < 512 else "a very large integer"
        case float():
            text = repr(value)
        case bytes():
            text = f"{len(value)} bytes"
        case list() | tuple():
            text = f"a list of {len(value)}"
        case dict():
            text = "an object"
        case _:
            text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 3] + "..."


def some(names: Sequence[object]) -> str:
    """The first few names or numbers, safe to print; "..." stands for more."""
    return ", ".join([*map(shown, names[:NAMES_SHOWN]), *(("...",) if len(names) > NAMES_SHOWN else ())])
