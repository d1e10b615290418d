"""Lines of text with roles, and the one place where they become characters on a terminal.

Colour only repeats what the characters already say. Whatever a document contains is escaped here, so that no
name can move the cursor or hide a line, and measured in columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from verifier.diagnostics.wording import cells, escaped

WIDTH = 100
"""No line of a report is longer."""
LEAST_WIDTH = 60
"""A narrower terminal breaks lines itself: nothing could be drawn in them."""

Role = Literal["plain", "error", "warning", "undecided", "proved", "frame", "second", "strong", "faint"]

ColorMode = Literal["auto", "always", "never"]

_SGR: dict[Role, str] = {
    "plain": "",
    "error": "1;31",
    "warning": "1;33",
    "undecided": "1;35",
    "proved": "1;32",
    "frame": "34",
    "second": "36",
    "strong": "1",
    "faint": "2",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What text is written on: its columns, and the encoding whose characters it has."""

    width: int = WIDTH
    encoding: str = "utf-8"


_FULL = Page()
_PAGE: ContextVar[Page] = ContextVar("page", default=_FULL)


@contextmanager
def written_on(page: Page) -> Iterator[None]:
    """Text is laid out for ``page`` meanwhile. A command knows where it prints, the layout does not."""
    token = _PAGE.set(page)
    try:
        yield
    finally:
        _PAGE.reset(token)


def page_width() -> int:
    """No line of text is longer."""
    return _PAGE.get().width


def inert(text: str) -> str:
    """``text``, escaped for the page."""
    return escaped(text, _PAGE.get().encoding)


def columns(text: str) -> int:
    """How many columns a text takes, once escaped."""
    return len(cells(inert(text)))


def filled(text: str, width: int) -> str:
    """``text``, escaped, with blanks up to so many columns."""
    return inert(text) + " " * (width - columns(text))


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text with one role."""

    text: str
    role: Role = "plain"


Line = tuple[Span, ...]


def line(*parts: Span | str) -> Line:
    """A line of spans; bare texts are plain."""
    return tuple([Span(part) if isinstance(part, str) else part for part in parts])


def paint(lines: Iterable[Line], *, color: bool) -> str:
    """The lines as text, each ended by a line feed, without trailing blanks."""
    return "".join(f"{_painted(spans, color)}\n" for spans in lines)


def visible(spans: Line) -> Line:
    """What of a line is seen: escaped, without trailing blanks."""
    seen = [Span(inert(span.text), span.role) for span in spans]
    while seen and not seen[-1].text.rstrip():
        seen.pop()
    if seen:
        seen[-1] = Span(seen[-1].text.rstrip(), seen[-1].role)
    return tuple(seen)


def _painted(spans: Line, color: bool) -> str:
    return "".join(_colored(span) if color else span.text for span in visible(spans))


def _colored(span: Span) -> str:
    return f"\x1b[{_SGR[span.role]}m{span.text}\x1b[0m" if span.text and _SGR[span.role] else span.text


def wants_color(mode: ColorMode, environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Whether to paint: FORCE_COLOR before the option, the option before NO_COLOR, then the kind of stream.

    A variable counts when it is not empty; ``FORCE_COLOR=0`` forces black and white, as elsewhere.
    """
    forced = environment.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    if mode != "auto":
        return mode == "always"
    return is_terminal and not environment.get("NO_COLOR", "")


def wrapped(text: str, width: int) -> list[str]:
    """``text``, escaped, in lines of at most ``width``; words are kept whole where they fit on a line.

    Runs of blanks are kept as they are: they are part of what is quoted. A width below 1 counts as 1.
    """
    width = max(width, 1)
    lines = [""]
    for word in inert(text).split(" "):
        glued = f"{lines[-1]} {word}" if lines[-1] else word
        if len(cells(glued)) <= width:
            lines[-1] = glued
            continue
        if not lines[-1]:
            lines.pop()
        lines += _broken(word, width)
    return lines


def again_wrapped(lines: list[str], width: int) -> list[str]:
    """Lines that turn out to have less room, wrapped anew as one text: each apart would end short."""
    return wrapped(" ".join(lines), width) if lines else []


def _broken(word: str, width: int) -> list[str]:
    """A word in parts of at most ``width`` columns; no character is torn, should it take more than that."""
    parts, rest = [], cells(word)
    while len(rest) > width:
        at = width if rest[width] else max(1, width - 1)
        parts.append("".join(rest[:at]))
        rest = rest[at:]
    return [*parts, "".join(rest)]


def hanging(head: Line, text: str, *, width: int | None = None) -> list[Line]:
    """``text`` after ``head``, continued below itself; as wide as the page unless told otherwise."""
    indent = sum(columns(span.text) for span in head)
    first, *rest = wrapped(text, max(20, (page_width() if width is None else width) - indent))
    return [(*head, Span(first)), *[line(" " * indent + more) for more in rest]]
