"""A finding: one refuted or undecided demand, as data. Text, JSON and every other format are views of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from verifier.diagnostics.codes import Severity

FindingVerdict = Literal["refuted", "undecided", "unreadable"]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""What a JSON document can hold."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is written.

    ``file`` is shown as given on the command line, never made absolute; ``pointer`` is an RFC 6901 JSON
    pointer. ``line`` and ``column`` count from 1, and are None where the document has no text (pickles) or
    the text was not looked at.
    """

    file: str
    pointer: str = ""
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A remark under a stretch of text.

    Attributes:
        place: where the stretch begins; None for a map built in memory.
        snippet: the text shown, possibly shortened by ``...`` on either side of the stretch.
        quoted: True when ``snippet`` is the line of the document at ``place``, False when it is the value
            written anew: the piece in the affine form.
        start: first character of the stretch inside ``snippet``, from 0.
        end: one past its last character.
        text: the remark.
        primary: True for the culprit, False for what it collides with.
    """

    place: Place | None
    snippet: str
    quoted: bool
    start: int
    end: int
    text: str
    primary: bool


@dataclass(frozen=True, slots=True)
class Equation:
    """One line a reader can redo by hand: who, the sum, and what follows.

    Example: ``("piece 0 at index (0, 1)", "0 + 0*4 + 1*1 = 1", "carries parameter element [0, 1]")``.
    """

    who: str
    sum: str
    so: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a picture: its head, a mark per cell, and which elements of the parameter each cell holds.

    Elements are written as everywhere, ``[0, 1]``, or ``address 9`` for what is no element; cells of two
    pictures that name the same one are the same datum. Empty in reports of versions that did not say.
    """

    head: str
    cells: tuple[str, ...]
    elements: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A window of a grid of addresses, and who touches each of them.

    Attributes:
        title: what is drawn, with the leading axes that were fixed.
        columns: one head per column.
        rows: one row for a ruler (1-d), several for a grid.
        legend: (mark, meaning), in the order to print.
        cut: whether the grid goes on (above, below, left, right) of the window.
        witness: (row, column) of the witness inside the window, None when it is not there.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    legend: tuple[tuple[str, str], ...]
    cut: tuple[bool, bool, bool, bool] = (False, False, False, False)
    witness: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One cause, with everything that is shown about it.

    Attributes:
        code: e.g. "SM201"; ``name`` and ``severity`` are those of the code.
        verdict: what is said of the demand.
        headline: the fault in one sentence that stands alone.
        concise: the fault with its numbers in one line, without place and code.
        place: the place of the culprit; None for a map built in memory.
        about: which parameter and shard this is about, with their shapes.
        labels: the lines of the document at fault, in document order.
        claim: what the equations show, one line.
        equations: how the pieces reach the witness.
        tally: how many addresses share the fault.
        picture: the neighbourhood of the witness.
        counterpart: the same seen from the other side: a part of the parameter for a picture of a shard, a
            part of a shard for one of the parameter; None where nothing near the witness has another side.
        notes: consequences and remarks.
        helps: what certainly repairs it, or where to look.
        consequences: codes of the faults with the same cause, not reported by themselves.
        witness: the counterexample as JSON: rank, pieces, indices, addresses, elements.
        fingerprint: 16 hexadecimal digits that depend on the geometry only, not on files or lines.
        accepted: why nobody has to act on it (a suppression, a baseline), in words; empty when somebody has.
    """

    code: str
    name: str
    severity: Severity
    verdict: FindingVerdict
    headline: str
    concise: str
    place: Place | None = None
    about: str = ""
    labels: tuple[Label, ...] = ()
    claim: str = ""
    equations: tuple[Equation, ...] = ()
    tally: str = ""
    picture: Picture | None = None
    counterpart: Picture | None = None
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()
    witness: Mapping[str, Json] = field(default_factory=dict)
    fingerprint: str
    accepted: str = ""
