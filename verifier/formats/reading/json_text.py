"""Strict JSON: one meaning per text, bounded cost.

Python's parser keeps the last of several equal keys, reads NaN, Infinity and 1e999, and recurses as deep as
the text says. A map read that way may not be the map another reader sees: here these are flaws or refusals.
"""

from __future__ import annotations

import functools
import json
import math
import re
from dataclasses import dataclass

from verifier.formats.reading.limits import Limits
from verifier.formats.reading.places import line_column, number_overflow, repeated_key
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.model.origin import Origin

# Possessive, and with an optional end quote, so that every text is matched in one linear pass.
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
NOT_A_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value, and why it must not be trusted: repeated keys (SM003), numbers beyond a double (SM005).

    Where a key is repeated ``value`` holds the last one. With flaws it is good only for finding out what the
    document is.
    """

    value: object
    flaws: tuple[FormatError, ...]


def parse(data: bytes, origin: Origin, limits: Limits) -> Parsed:
    """Parse UTF-8 JSON text.

    Raises:
        FormatError: SM001 for text that is no JSON, with line and column; SM006 over a limit.
    """
    _within_limits(data, origin, limits)
    text = _decoded(data, origin)
    repeated: list[str] = []
    inexact: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(items)
        if len(value) < len(items):
            repeated.append("")
        return value

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            inexact.append(digits)
        return value

    def constant(word: str) -> float:
        inexact.append(word)
        return float(word)

    try:
        value: object = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise FormatError(
            "SM001",
            f"not valid JSON: {error.msg}",
            origin,
            line=error.lineno,
            column=error.colno,
            help="repair the text at this place, or write the file again with json.dump",
        ) from None
    flaws: list[FormatError] = []
    if repeated:
        flaws.append(_repeated_key(text, origin))
    if inexact:
        flaws.append(_inexact(text, inexact[0], origin))
    return Parsed(value, tuple(flaws))


def _within_limits(data: bytes, origin: Origin, limits: Limits) -> None:
    if len(data) > limits.json_bytes:
        raise over_limit(f"{len(data)} bytes of JSON", limits.json_bytes, "bytes", origin)
    bare = STRING.sub(b"", data)
    # Each value but the first stands behind a comma or an opening bracket.
    values = 1 + bare.count(b",") + bare.count(b"[") + bare.count(b"{")
    if values > limits.nodes:
        raise over_limit(f"about {values} values", limits.nodes, "values", origin)
    if re.search(rb"[0-9]{%d}" % (limits.integer_digits + 1), bare):
        raise over_limit("a number with more digits", limits.integer_digits, "digits", origin)
    depth = 0
    for bracket in bare.translate(None, NOT_A_BRACKET):
        if bracket in b"[{":
            depth += 1
            if depth > limits.depth:
                raise over_limit("deeper nesting", limits.depth, "levels", origin)
        else:
            depth -= 1


def over_limit(found: str, limit: int, unit: str, origin: Origin) -> FormatError:
    """The refusal (SM006) of a document that asks for more than a limit."""
    return FormatError(
        "SM006",
        f"{found} than the limit of {limit} {unit}"
        if "more" in found or "deeper" in found
        else f"{found}, over the limit of {limit} {unit}",
        origin,
        help="split the document, or raise the limit where Limits is made, if you trust its source",
    )


def _decoded(data: bytes, origin: Origin) -> str:
    if data.startswith(BYTE_ORDER_MARKS):
        raise FormatError(
            "SM001",
            "the file begins with a byte order mark",
            origin,
            line=1,
            column=1,
            help="write it as UTF-8 without a mark",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = line_column(before, len(before))
        raise FormatError(
            "SM001",
            f"byte 0x{data[error.start]:02x} is not valid UTF-8",
            origin,
            line=line,
            column=column,
            help="write the file as UTF-8",
        ) from None


def _repeated_key(text: str, origin: Origin) -> FormatError:
    found = repeated_key(text)
    if found is None:
        raise RuntimeError("the parser saw a repeated key that the scanner does not see")
    path, key, offset = found
    line, column = line_column(text, offset)
    return FormatError(
        "SM003",
        f"the key {shown(key)} appears twice in one object",
        below(functools.reduce(below, path, origin), key),
        line=line,
        column=column,
        help="keep one of them; readers disagree on which one counts",
    )


def _inexact(text: str, digits: str, origin: Origin) -> FormatError:
    offset = number_overflow(text)
    line, column = (None, None) if offset is None else line_column(text, offset)
    return FormatError(
        "SM005",
        f"{digits[:40]} is not a finite number",
        origin,
        line=line,
        column=column,
        help="JSON has no infinities and no NaN; write the number that was meant",
    )
