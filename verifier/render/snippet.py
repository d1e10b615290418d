"""A quoted line with its label below, cut around the label where it does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.diagnostics.finding import Label
from verifier.diagnostics.wording import cells
from verifier.render.lines import Line, Role, Span, columns, inert, line, page_width, wrapped


@dataclass(frozen=True, slots=True)
class _Cut:
    """The part of a line to show, and where the label's stretch stands in it."""

    text: str
    start: int
    end: int


def snippet_lines(labels: tuple[Label, ...], gutter: int, primary: Role) -> list[Line]:
    """All labels of a finding between two empty gutters; ``gutter`` is the width of the line numbers."""
    if not labels:
        return []
    bar = Span(f"{' ' * gutter} |", "frame")
    lines: list[Line] = [line(bar)]
    for label in labels:
        lines += _label_lines(label, gutter, bar, primary)
    return [*lines, line(bar)]


def gutter_width(labels: tuple[Label, ...]) -> int:
    """Columns that the greatest line number needs, 1 at least."""
    return max([len(_number(label)) for label in labels], default=1)


def _number(label: Label) -> str:
    """The line number of a quoted line; nothing for a value written anew."""
    if not label.quoted or label.place is None or label.place.line is None:
        return " "
    return str(label.place.line)


def _label_lines(label: Label, gutter: int, bar: Span, primary: Role) -> list[Line]:
    width = page_width() - gutter - 3
    cut = _cut(label, width)
    mark, role = ("^", primary) if label.primary else ("-", "second")
    quoted = line(Span(f"{_number(label):>{gutter}} |", "frame"), f" {cut.text}")
    marks = Span(mark * (cut.end - cut.start), role)
    if cut.end + 1 + columns(label.text) <= width:
        return [quoted, line(bar, " " * (cut.start + 1), marks, Span(f" {label.text}", role))]
    below = wrapped(label.text, width)
    indent = max(0, min(cut.start, width - max(map(columns, below))))
    remarks = [line(bar, " " * (indent + 1), Span(text, role)) for text in below]
    return [quoted, line(bar, " " * (cut.start + 1), marks), *remarks]


def _cut(label: Label, width: int) -> _Cut:
    """The snippet, escaped, cut to ``width`` columns so that the stretch stays visible."""
    before = cells(inert(label.snippet[: label.start]))
    inside = cells(inert(label.snippet[label.start : label.end]) or " ")
    text = [*before, *inside, *cells(inert(label.snippet[label.end :]))]
    start, end = len(before), len(before) + len(inside)
    if len(text) <= width:
        return _Cut("".join(text), start, end)
    low = max(0, min(start - (width - min(len(inside), width)) // 2, len(text) - width))
    high = low + width
    shown = text[low:high]
    if low > 0:
        shown[:4] = [*"...", shown[3] or " "]  # of a wide character cut in two nothing is left
    if high < len(text):
        shown[-4:] = [shown[-4] if shown[-3] else " ", *"..."]
    return _Cut("".join(shown), max(0, start - low), min(end - low, width))
