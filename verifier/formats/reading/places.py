"""Line and column of a value in JSON text. Run only when something has to be shown.

The text was parsed before, so the scanner trusts its syntax; on other text it finds nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from verifier.diagnostics.snippets import Span

TOKEN = re.compile(
    r'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")|(?P<open>[\[{])|(?P<close>[\]}])|(?P<colon>:)|(?P<comma>,)'
    r"|(?P<scalar>[^\s\[\]{}:,\"]++)",
    re.DOTALL,
)
_PLAIN = r'[^\[\]{}"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NESTED = 5
"""Levels of nesting that one match skips: a rank with its pieces has five. Others are counted."""


def _balanced(levels: int) -> str:
    """What leaves the nesting as it is: text outside of brackets, or a bracketed group of so many levels."""
    if levels == 0:
        return _PLAIN
    inner = _balanced(levels - 1)
    return rf"{_PLAIN}|\[(?:{inner})*+\]|\{{(?:{inner})*+\}}"


@cache
def _run_or_bracket() -> re.Pattern[str]:
    """A run of balanced text, or one bracket. Possessive: a group that turns out too deep is read again one
    level lower, so every character is read ``_NESTED`` times at most.
    """
    return re.compile(rf"(?P<run>(?:{_balanced(_NESTED)})++)|(?P<open>[\[{{])|(?P<close>[\]}}])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Located:
    """Character offsets of a value in a text: ``start`` to ``end``, one past its last character.

    ``key`` are the offsets of the key before it, quotes included; None for list items and for the root.
    """

    start: int
    end: int
    key: tuple[int, int] | None


def line_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of a character offset; only a line feed ends a line."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def locate(text: str, pointer: str) -> Located | None:
    """The value that an RFC 6901 pointer names, None when the text has no such value.

    Of several equal keys the first is found: a text that has them was refused.
    """
    start, key = _skip_space(text, 0), None
    for step in _steps(pointer):
        found = _member(text, start, step)
        if found is None:
            return None
        key, start = found
    end = _value_end(text, start)
    return None if end is None else Located(start, end, key)


def span_of(text: str, located: Located) -> Span:
    """The line a value begins on; a value of several lines ends with its first."""
    line, column = line_column(text, located.start)
    first = located.start - column + 1
    line_end = text.find("\n", located.start)
    if line_end < 0:
        line_end = len(text)
    end_column = min(located.end, line_end) - first + 1
    return Span(line, column, end_column, text[first:line_end].rstrip("\r"))


def _steps(pointer: str) -> list[str]:
    if not pointer:
        return []
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _member(text: str, start: int, step: str) -> tuple[tuple[int, int] | None, int] | None:
    """(key span or None, value start) of one member of the container at ``start``."""
    if start >= len(text) or text[start] not in "[{":
        return None
    is_object = text[start] == "{"
    position = 0
    at = _skip_space(text, start + 1)
    while at < len(text) and text[at] not in "]}":
        key = None
        name = str(position)
        if is_object:
            end = _value_end(text, at)
            if end is None or text[at] != '"':
                return None
            key, name = (at, end), _unquoted(text[at:end])
            at = _skip_space(text, _skip_space(text, end) + 1)
        if name == step:
            return key, at
        end = _value_end(text, at)
        if end is None:
            return None
        at = _skip_space(text, end)
        if at < len(text) and text[at] == ",":
            at = _skip_space(text, at + 1)
        position += 1
    return None


def _value_end(text: str, start: int) -> int | None:
    """One past the end of the value at ``start``; brackets are counted, nothing else in it is looked at."""
    if start >= len(text) or text[start] not in "[{":
        match = TOKEN.match(text, start)
        return match.end() if match else None
    run_or_bracket = _run_or_bracket()
    depth, at = 1, start + 1
    while depth:
        match = run_or_bracket.match(text, at)
        if match is None:
            return None
        at = match.end()
        depth += {"open": 1, "close": -1}.get(match.lastgroup or "", 0)
    return at


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _unquoted(literal: str) -> str:
    """The text a JSON string literal stands for."""
    inner = literal[1:-1]
    if "\\" not in inner:
        return inner
    plain = _ESCAPE.sub(lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 5 else _SHORT.get(m[1], m[1]), inner)
    # Surrogate pairs arrive as two characters; a lone one stays as it is, as in the parser.
    return (
        plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") if _paired(plain) else plain
    )


def _paired(text: str) -> bool:
    return re.search("[\ud800-\udbff][\udc00-\udfff]", text) is not None


@dataclass(slots=True)
class _Open:
    """An object or list that the scanner is inside of."""

    is_object: bool
    keys: set[str] = field(default_factory=set)
    step: str | int = 0


def repeated_key(text: str) -> tuple[tuple[str | int, ...], str, int] | None:
    """The first key that its object already has: (path of the object, key, offset of the second key)."""
    stack: list[_Open] = []
    at_key = False
    for kind, match in _tokens(text):
        if kind == "open":
            stack.append(_Open(match[0] == "{"))
            at_key = match[0] == "{"
        elif kind == "close":
            stack.pop()
            at_key = False
        elif kind == "comma":
            at_key = stack[-1].is_object
            if not at_key:
                stack[-1].step = int(stack[-1].step) + 1
        elif kind == "string" and at_key:
            key = _unquoted(match[0])
            if key in stack[-1].keys:
                return tuple(frame.step for frame in stack[:-1]), key, match.start()
            stack[-1].keys.add(key)
            stack[-1].step = key
            at_key = False
    return None


def number_overflow(text: str) -> int | None:
    """The offset of the first number that no double holds: NaN, an infinity, or something like 1e999."""
    for kind, match in _tokens(text):
        if kind == "scalar" and match[0] not in ("true", "false", "null"):
            word = match[0]
            integer = word.lstrip("-").isdecimal()
            if not integer and not math.isfinite(float(word)):
                return match.start()
    return None


def _tokens(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    for match in TOKEN.finditer(text):
        if match.lastgroup is not None:
            yield match.lastgroup, match
