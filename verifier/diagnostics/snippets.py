"""The lines of a document at fault, with the stretch to underline; the affine form where it has no lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from verifier.diagnostics.finding import Label, Place
from verifier.diagnostics.wording import number, scale_text
from verifier.geometry.strided import StridedView
from verifier.model.origin import Origin
from verifier.model.piece import ONE, Piece

Member = Literal["shape", "source", "dest", "locations", "scale"]

_CONTEXT = 120
"""Characters kept on either side of the underlined stretch: a minified document is one long line."""
_LOCATIONS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands in the text of a document.

    ``line`` and ``column`` count from 1; ``end_column`` is one past the last character of the value on that
    line; ``text`` is the whole line without its end. A value of several lines ends with its first line.
    """

    line: int
    column: int
    end_column: int
    text: str


Locate = Callable[[Origin], Span | None]
"""Finds the text of a value; None when the document has none."""


def value_label(
    origin: Origin | None, locate: Locate | None, *, fallback: str, text: str, primary: bool
) -> Label:
    """A label on the value at ``origin``, ``fallback`` being the text to show when no line shows it all."""
    span = _span(origin, locate)
    if origin is not None and span is not None and _is_whole(span):
        return _on_line(origin, span, text, primary)
    return Label(
        place=_place(origin, span),
        snippet=fallback,
        quoted=False,
        start=0,
        end=len(fallback),
        text=text,
        primary=primary,
    )


def piece_label(
    origin: Origin | None,
    locate: Locate | None,
    *,
    piece: Piece,
    member: Member | None,
    text: str,
    primary: bool,
) -> Label:
    """A label on a member of the piece at ``origin``, or on all of it; the pointer is always the piece's.

    A member spread over several lines is shown in the affine form; a member left out is shown by its piece.
    """
    span = None if origin is None or member is None else _span(origin.child(member), locate)
    if span is None:
        span = _span(origin, locate)
    if origin is not None and span is not None and _is_whole(span):
        return _on_line(origin, span, text, primary)
    snippet, start, end = affine_text(piece, member)
    return Label(
        place=_place(origin, span),
        snippet=snippet,
        quoted=False,
        start=start,
        end=end,
        text=text,
        primary=primary,
    )


def affine_text(piece: Piece, member: Member | None = None) -> tuple[str, int, int]:
    """The piece in the affine form, and where ``member`` stands in it (all of it when absent)."""
    members = {
        "shape": _numbers(piece.shape),
        "source": _view(piece.source),
        "dest": _view(piece.dest),
        "locations": _numbers(piece.locations, _LOCATIONS_SHOWN),
    }
    if piece.scale != ONE:
        members["scale"] = scale_text(piece.scale)
    text = "{ "
    start, end = 0, 0
    for position, (name, value) in enumerate(members.items()):
        text += ", " if position else ""
        if name == member:
            start, end = len(text), len(text) + len(f'"{name}": {value}')
        text += f'"{name}": {value}'
    text += " }"
    return text, start, end or len(text)


def _span(origin: Origin | None, locate: Locate | None) -> Span | None:
    return None if origin is None or locate is None else locate(origin)


def _is_whole(span: Span) -> bool:
    """Whether the value ends on the line it begins on."""
    value = span.text[span.column - 1 : span.end_column - 1]
    return bool(value) and value.count("[") == value.count("]") and value.count("{") == value.count("}")


def _place(origin: Origin | None, span: Span | None) -> Place | None:
    if origin is None:
        return None
    if span is None:
        return Place(origin.file, origin.pointer)
    return Place(origin.file, origin.pointer, span.line, _start_of_key(span.text, span.column - 1) + 1)


def _on_line(origin: Origin, span: Span, text: str, primary: bool) -> Label:
    start = _start_of_key(span.text, span.column - 1)
    end = max(span.end_column - 1, start + 1)
    snippet, shift = _clipped(span.text, start, end)
    return Label(
        place=_place(origin, span),
        snippet=snippet,
        quoted=True,
        start=start - shift,
        end=end - shift,
        text=text,
        primary=primary,
    )


def _start_of_key(text: str, start: int) -> int:
    """Where the key of the value at ``start`` begins, if it stands directly before it."""
    key = re.search(r'"[A-Za-z_]{1,32}"\s*:\s*$', text[max(0, start - 64) : start])
    return start if key is None else max(0, start - 64) + key.start()


def _clipped(text: str, start: int, end: int) -> tuple[str, int]:
    """The text near the stretch, and by how much positions shift to the left."""
    low = len(text) - len(text.lstrip())
    if start - low > _CONTEXT:
        low = start - _CONTEXT
        head = "..."
    else:
        low = min(low, start)
        head = ""
    used = len(text.rstrip())
    high = max(end, min(used, end + _CONTEXT))
    return head + text[low:high] + ("..." if high < used else ""), low - len(head)


def _numbers(values: tuple[int, ...], most: int = 16) -> str:
    shown = [number(value) for value in values[:most]]
    if len(values) > most:
        shown.append(f"... {len(values) - most} more")
    return f"[{', '.join(shown)}]"


def _view(view: StridedView) -> str:
    return f"[{number(view.offset)}, {_numbers(view.strides)}]"
