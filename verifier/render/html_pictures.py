"""Pictures of a finding for a page: cells with classes, the elements they hold, and what is outlined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_letters, digits

from verifier.diagnostics.finding import Finding, Picture
from verifier.diagnostics.wording import joined

SEPARATOR = "|"
"""Stands between the elements of one cell in its attribute; no element has it."""

_MARKS = {
    "X": "several",
    "!": "outside",
    ".": "nobody",
    "-": "nobody",
    "_": "free",
    "?": "undecided",
    "#": "h9",
    "+": "h2",
}
_COLOURS = 10


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """One cell: its mark, the classes that style it, its elements, and whether the keyboard enters here."""

    mark: str
    classes: str
    elements: str
    is_first: bool


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """One row with its head."""

    head: str
    cells: tuple[DrawnCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A picture as a template needs it. See ``Picture`` for the meaning of its parts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[DrawnRow, ...]
    legend: tuple[tuple[str, str], ...]
    cut: tuple[bool, bool, bool, bool]


def drawn_pictures(finding: Finding) -> tuple[Drawn, ...]:
    """The picture of a finding and its counterpart; cells that hold what the witness holds are outlined."""
    if finding.picture is None:
        return ()
    wanted = frozenset(_elements(finding.picture, finding.picture.witness))
    shown = _drawn(finding.picture, wanted, finding.picture.witness)
    beside = () if finding.counterpart is None else (_drawn(finding.counterpart, wanted, None),)
    return (shown, *beside)


def readout(finding: Finding) -> str:
    """What the outlined cells are, for those who cannot point at them."""
    picture = finding.picture
    if picture is None or picture.witness is None or not any(row.elements for row in picture.rows):
        return ""
    found = _elements(picture, picture.witness)
    if not found:
        return "The marked cell holds no element of the parameter."
    same = "" if finding.counterpart is None else ", outlined in both pictures where it is in sight"
    return f"The marked cell: {joined(found)} of the parameter{same}."


def _elements(picture: Picture, place: tuple[int, int] | None) -> tuple[str, ...]:
    if place is None or place[0] >= len(picture.rows):
        return ()
    elements = picture.rows[place[0]].elements
    return elements[place[1]] if place[1] < len(elements) else ()


def _drawn(picture: Picture, wanted: frozenset[str], witness: tuple[int, int] | None) -> Drawn:
    same = {place for place in _places(picture) if wanted & {*_elements(picture, place)}}
    first = witness or min(same, default=(0, 0))
    return Drawn(
        title=picture.title,
        columns=picture.columns,
        rows=tuple(
            [
                DrawnRow(
                    row.head,
                    tuple(
                        [
                            _cell(picture, (k, j), mark, same, witness, first)
                            for j, mark in enumerate(row.cells)
                        ]
                    ),
                )
                for k, row in enumerate(picture.rows)
            ]
        ),
        legend=picture.legend,
        cut=picture.cut,
    )


def _places(picture: Picture) -> Iterator[tuple[int, int]]:
    return ((k, j) for k, row in enumerate(picture.rows) for j in range(len(row.cells)))


def _cell(
    picture: Picture,
    place: tuple[int, int],
    mark: str,
    same: set[tuple[int, int]],
    witness: tuple[int, int] | None,
    first: tuple[int, int],
) -> DrawnCell:
    classes = [_style(mark)]
    if place == witness:
        classes.append("witness")
    elif place in same:
        classes.append("same")
    elements = SEPARATOR.join(_elements(picture, place))
    return DrawnCell(mark, " ".join(filter(None, classes)), elements, place == first)


def _style(mark: str) -> str:
    """The class of a mark: digits and letters take the colours in turn."""
    if len(mark) == 1 and mark in digits:
        return f"h{mark}"
    if mark in _MARKS:
        return _MARKS[mark]
    return f"h{ascii_letters.index(mark) % _COLOURS}" if len(mark) == 1 and mark in ascii_letters else ""
