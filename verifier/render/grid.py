"""A picture as characters, its legend beside it where that fits."""

from __future__ import annotations

from itertools import zip_longest

from verifier.diagnostics.finding import Picture
from verifier.render.lines import Line, Role, Span, columns, line, page_width

_INDENT = 6
_MARK_ROLES: dict[str, Role] = {"X": "error", "!": "error", "?": "undecided", ".": "faint", "-": "faint"}


def picture_lines(picture: Picture) -> list[Line]:
    """The picture with its title and legend."""
    grid = _grid(picture)
    legend = _legend(picture)
    left = max(map(_width, grid))
    right = max(map(_width, legend), default=0)
    gap = 6
    if left + gap + right > page_width():
        return [*grid, *[line("  ", *entry) for entry in legend]]
    return [
        (*drawn, Span(" " * (left + gap - _width(drawn))), *entry) if entry else drawn
        for drawn, entry in zip_longest(grid, legend, fillvalue=())
    ]


def _grid(picture: Picture) -> list[Line]:
    """Title, heads, rows. ``...`` stands where the tensor goes on."""
    above, below, left, right = picture.cut
    head = max(len(row.head) for row in picture.rows)
    cell = max(map(len, picture.columns))
    before, after = ("... " if left else ""), (" ..." if right else "")
    margin = " " * (_INDENT + head + (2 if head else 0))
    heads = " ".join(f"{column:>{cell}}" for column in picture.columns)
    lines: list[Line] = [
        line(f"  {picture.title}"),
        line(Span(f"{margin}{' ' * len(before)}{heads}", "faint")),
    ]
    if above:
        lines.append(line(Span(f"{margin}{' ' * len(before)}...", "faint")))
    for k, row in enumerate(picture.rows):
        spans = [Span(f"{' ' * _INDENT}{row.head:>{head}}{'  ' if head else ''}{before}", "faint")]
        for j, mark in enumerate(row.cells):
            spans.append(Span(" " * (cell - len(mark) + (1 if j else 0))))
            spans.append(Span(mark, _role(mark, picture.witness == (k, j))))
        lines.append((*spans, Span(after, "faint")))
    if below:
        lines.append(line(Span(f"{margin}{' ' * len(before)}...", "faint")))
    return lines


def _legend(picture: Picture) -> list[Line]:
    key = max((len(mark) for mark, _ in picture.legend), default=0)
    return [
        line(Span(f"{mark:<{key}}", _role(mark, False)), f"  {meaning}") for mark, meaning in picture.legend
    ]


def _role(mark: str, is_witness: bool) -> Role:
    return "error" if is_witness else _MARK_ROLES.get(mark, "plain")


def _width(spans: Line) -> int:
    return sum(columns(span.text) for span in spans)
