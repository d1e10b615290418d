"""One page: a file that opens from a disk, asks the network for nothing, and reads without a script.

Whatever a document contains is made inert and escaped by the template. A content policy in the
page lets nothing run or load but the style and script that stand in it, known by their digests. Pictures are
tables; the script only lights up cells, and those of the witness are outlined without it, too.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from verifier.diagnostics.report import (
    EXIT_NOTHING_CHECKED,
    EXIT_PROVED,
    EXIT_REFUTED,
    EXIT_TOOL_BUG,
    EXIT_UNDECIDED,
    EXIT_UNREADABLE,
    Report,
)
from verifier.diagnostics.wording import counted, escaped, shown_name
from verifier.render.html_findings import Findings, findings_of
from verifier.render.matrix import UNASKED, Cell, Row, columns, cut, rows
from verifier.render.summary import outcome_text

MOST_ROWS = 400
MOST_CLAUSES = 200
_MOST_CLAUSE = 500

_WORDS = {
    EXIT_PROVED: ("proved", "proved"),
    EXIT_REFUTED: ("refuted", "refuted"),
    EXIT_UNREADABLE: ("unreadable", "not everything could be read"),
    EXIT_UNDECIDED: ("undecided", "undecided, which is not a pass"),
    EXIT_NOTHING_CHECKED: ("unchecked", "nothing was checked, in all or on one path"),
    EXIT_TOOL_BUG: ("bug", "a bug of shardproof"),
}
"""Class and headline of an exit code."""

_VERDICTS = ("proved", "refuted", "undecided", "unreadable", "unchecked")


@dataclass(frozen=True, slots=True)
class _Part:
    """A style or script that stands in the page, and the digest by which its policy knows it."""

    text: Markup
    digest: str


@dataclass(frozen=True, slots=True)
class _Total:
    word: str
    role: str
    subjects: int
    obligations: str


@dataclass(frozen=True, slots=True)
class _Bar:
    role: str
    start: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    word: str
    role: str
    summary: str
    exit_code: int
    tool: str
    bars: list[_Bar]
    bar_label: str
    totals: list[_Total]


@dataclass(frozen=True, slots=True)
class _CellText:
    state: str
    text: str
    link: str


@dataclass(frozen=True, slots=True)
class _RowText:
    kind: str
    name: str
    count: str
    verdict: str
    cells: list[_CellText]


@dataclass(frozen=True, slots=True)
class _Group:
    file: str
    rows: list[_RowText]


@dataclass(frozen=True, slots=True)
class _Matrix:
    headings: list[str]
    groups: list[_Group]
    left: str


def render_html(report: Report) -> str:
    """The report as one HTML document, in ASCII: other characters are references, whatever the stream has."""
    macros = _macros()
    findings = findings_of(report, macros.article)
    page = macros.page(
        css=_part("report.css"),
        js=_part("report.js"),
        head=_head(report),
        unchecked=_unchecked(report),
        matrix=_matrix(report, findings),
        findings=findings,
    )
    return str(page).lstrip("\n").encode("ascii", "xmlcharrefreplace").decode("ascii")


@cache
def _macros() -> Any:
    """The macros of the template."""
    environment = Environment(
        loader=DictLoader({"page": _resource("report.html")}),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page").module


def _printable(value: object) -> object:
    """Everything a template prints, made inert; autoescape then does the rest."""
    return value if isinstance(value, Markup) else escaped(str(value))


def _resource(name: str) -> str:
    return files("verifier.render").joinpath("page", name).read_text(encoding="ascii")


@cache
def _part(name: str) -> _Part:
    text = _resource(name)
    digest = b64encode(sha256(text.encode("ascii")).digest()).decode("ascii")
    return _Part(Markup(text), f"sha256-{digest}")  # noqa: S704 - a file of this package


def _head(report: Report) -> _Head:
    role, word = _WORDS[report.exit_code]
    summary = report.summary
    if report.exit_code == EXIT_PROVED and (summary.refuted or summary.undecided):
        word = "nothing new"
    subjects = Counter[str](subject.verdict for subject in report.subjects)
    answers = summary.obligations
    obligations = {"proved": answers.proved, "refuted": answers.refuted, "undecided": answers.undecided}
    totals = [
        _Total(verdict, verdict, subjects[verdict], str(obligations.get(verdict, "")))
        for verdict in _VERDICTS
        if subjects[verdict] or verdict in obligations
    ]
    return _Head(
        word=word,
        role=role,
        summary=cut(outcome_text(report), 4 * _MOST_CLAUSE),
        exit_code=report.exit_code,
        tool=_tool(report.tool),
        bars=_bars(subjects),
        bar_label=", ".join(f"{total.subjects} {total.word}" for total in totals),
        totals=totals,
    )


def _tool(versions: Mapping[str, str]) -> str:
    """What ran, as ``shardproof 0.1.0, python 3.11.2``."""
    used = {name: version for name, version in sorted(versions.items()) if name not in ("name", "version")}
    itself = " ".join(versions[key] for key in ("name", "version") if key in versions)
    return cut(", ".join(filter(None, [itself, *[" ".join(item) for item in used.items()]])), _MOST_CLAUSE)


def _bars(subjects: Counter[str]) -> list[_Bar]:
    """The share of each verdict, in hundredths."""
    bars: list[_Bar] = []
    start = 0.0
    for verdict in _VERDICTS:
        width = 100 * subjects[verdict] / max(1, subjects.total())
        if width:
            bars.append(_Bar(verdict, f"{start:.3f}", f"{width:.3f}"))
        start += width
    return bars


def _unchecked(report: Report) -> list[str]:
    """What nobody should believe was checked, what was accepted, and remarks on what was."""
    clauses = [*report.unchecked]
    clauses += [
        f"accepted: {finding.code} {shown_name(subject.name)}: {finding.accepted}"
        for subject, finding in report.findings
        if finding.accepted
    ]
    clauses += [
        f"{shown_name(subject.name)}: {note}" for subject in report.subjects for note in subject.notes
    ]
    shown = [cut(clause, _MOST_CLAUSE) for clause in clauses[:MOST_CLAUSES]]
    return shown + _more(len(clauses) - len(shown), "clause")


def _more(number: int, noun: str) -> list[str]:
    return [f"and {counted(number, f'more {noun}')}"] if number > 0 else []


def _matrix(report: Report, findings: Findings) -> _Matrix:
    table = rows(report.subjects)
    families = columns(table)
    shown = sorted(table, key=lambda row: row.verdict == "proved")[:MOST_ROWS]
    by_file: dict[str, list[Row]] = {row.file: [] for row in table}
    for row in shown:
        by_file[row.file].append(row)
    left = len(table) - len(shown)
    groups = [
        _Group(cut(file, 200), [_row_text(row, families, findings) for row in found])
        for file, found in by_file.items()
        if found
    ]
    said = f"{len(shown)} of {len(table)} rows are shown, those that are not proved first."
    return _Matrix([*families.values()], groups, said if left else "")


def _row_text(row: Row, families: Iterable[str], findings: Findings) -> _RowText:
    count = str(row.count) if row.count == row.slots else f"{row.count} of {row.slots}"
    cells = [_cell_text(row.cells.get(family, UNASKED), findings) for family in families]
    return _RowText(row.kind, row.name, count if row.slots > 1 else str(row.count), row.verdict, cells)


def _cell_text(cell: Cell, findings: Findings) -> _CellText:
    if cell.state == "unasked":
        return _CellText("unasked", ".", "")
    text = " ".join([cell.state, *[code[:16] for code in cell.codes]])
    return _CellText(cell.state, text, "" if cell.finding is None else findings.link(cell.finding))
