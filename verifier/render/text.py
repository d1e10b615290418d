"""The full text of a report, in the order of a reader's questions: what, where, the lines, the numbers, the
picture, what else, and what do I do.
"""

from __future__ import annotations

from verifier.diagnostics.finding import Equation, Finding
from verifier.diagnostics.report import Report, Subject
from verifier.render.grid import picture_lines
from verifier.render.lines import (
    Line,
    Role,
    Span,
    again_wrapped,
    columns,
    filled,
    hanging,
    line,
    page_width,
    paint,
    wrapped,
)
from verifier.render.snippet import gutter_width, snippet_lines
from verifier.render.summary import summary_lines

_BLANK: Line = ()


def render_text(report: Report, *, color: bool = False) -> str:
    """Every finding that is not accepted in full, notes on what was checked, then one summary line."""
    lines: list[Line] = []
    for subject in report.subjects:
        lines += subject_lines(subject)
    return paint([*lines, *summary_lines(report)], color=color)


def subject_lines(subject: Subject) -> list[Line]:
    """The findings about one subject, and the notes on it."""
    lines: list[Line] = []
    for finding in subject.findings:
        if not finding.accepted:
            lines += [*finding_lines(finding), _BLANK]
    for note in subject.notes:
        lines += hanging(line(Span("note", "strong"), ": "), f"{subject.name}: {note}")
    return [*lines, _BLANK] if subject.notes else lines


def finding_lines(finding: Finding) -> list[Line]:
    """One finding."""
    role = heading_role(finding)
    gutter = gutter_width(finding.labels)
    lines = _heading(finding, role)
    lines += _place(finding, gutter)
    lines += snippet_lines(finding.labels, gutter, role)
    if finding.about:
        lines += hanging(line(Span(f"{' ' * gutter} = ", "frame")), finding.about)
    lines += _steps(finding)
    if finding.picture is not None:
        lines += [_BLANK, *picture_lines(finding.picture), _BLANK]
    elif finding.claim or finding.equations or finding.tally:
        lines.append(_BLANK)
    return lines + _footer(finding, gutter)


def heading_word(finding: Finding) -> str:
    """``error``, ``warning`` or ``undecided``: the first word of every view of a finding."""
    if finding.verdict == "undecided":
        return "undecided"
    return finding.severity


def heading_role(finding: Finding) -> Role:
    """The role of that word."""
    match heading_word(finding):
        case "undecided":
            return "undecided"
        case "warning":
            return "warning"
        case _:
            return "error"


def _heading(finding: Finding, role: Role) -> list[Line]:
    head = f"{heading_word(finding)}[{finding.code}] {finding.name}: "
    width = page_width()
    first, *rest = wrapped(head + finding.headline, width)
    return [
        line(Span(first[: len(head)], role), Span(first[len(head) :], "strong")),
        *[line(Span(f"    {more}", "strong")) for more in again_wrapped(rest, width - 4)],
    ]


def _place(finding: Finding, gutter: int) -> list[Line]:
    place = finding.place
    if place is None:
        return []
    parts = [place.file, *[str(n) for n in (place.line, place.column) if n is not None]]
    where = ":".join(parts) + (f"  ({place.pointer})" if place.pointer else "")
    return hanging(line(Span(f"{' ' * gutter}--> ", "frame")), where)


def _steps(finding: Finding) -> list[Line]:
    """The claim, the equations in columns, the tally."""
    lines: list[Line] = []
    if finding.claim:
        lines += hanging(line("  "), finding.claim)
    lines += _equations(finding.equations)
    if finding.tally:
        lines += hanging(line("  "), finding.tally)
    return [_BLANK, *lines] if lines else []


def _equations(equations: tuple[Equation, ...]) -> list[Line]:
    """One line each in columns, or one below the other where the columns do not fit."""
    who = max((columns(e.who) for e in equations), default=0) + 1
    total = max((columns(e.sum) for e in equations), default=0)
    so = max((columns(e.so) for e in equations), default=0)
    lines: list[Line] = []
    for equation in equations:
        if 4 + who + 3 + total + 4 + so <= page_width():
            head = f"    {filled(equation.who + ':', who)}   {filled(equation.sum, total)}"
            lines.append(line(head, f"    {equation.so}" if equation.so else ""))
        else:
            lines += hanging(line("    "), f"{equation.who}:")
            for text in filter(None, (equation.sum, equation.so)):
                lines += hanging(line("      "), text)
    return lines


def _footer(finding: Finding, gutter: int) -> list[Line]:
    lines: list[Line] = []
    for word, texts in (("note", finding.notes), ("help", finding.helps)):
        for text in texts:
            role: Role = "proved" if word == "help" else "strong"
            lines += hanging(line(Span(f"{' ' * gutter} = ", "frame"), Span(word, role), ": "), text)
    more = f"shardproof explain {finding.code}    id: {finding.fingerprint}"
    return lines + [line(Span(f"{' ' * gutter} = ", "frame"), Span("more", "strong"), f": {more}")]
