"""One line per finding, for editors and ``grep``; never wrapped, because a line is the unit there."""

from __future__ import annotations

from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Report, Subject
from verifier.render.lines import Line, Span, line, paint
from verifier.render.summary import summary_lines
from verifier.render.text import heading_role, heading_word


def render_concise(report: Report, *, color: bool = False) -> str:
    """Every finding in one line, then the summary."""
    lines = [concise_line(subject, finding) for subject, finding in report.open_findings]
    return paint([*lines, *summary_lines(report)], color=color)


def concise_line(subject: Subject, finding: Finding) -> Line:
    """``maps/qkv.json:8:51: error[SM201] rank 0: pieces 0 and 1 both write shard address 1 (...)``."""
    head = f"{heading_word(finding)}[{finding.code}]"
    return line(
        Span(f"{_where(subject, finding)}: ", "strong"),
        Span(head, heading_role(finding)),
        f" {finding.concise}",
    )


def _where(subject: Subject, finding: Finding) -> str:
    place = finding.place
    if place is None:
        return subject.name
    if place.line is None:
        return f"{place.file}!{place.pointer}" if place.pointer else place.file
    return (
        f"{place.file}:{place.line}:{place.column}"
        if place.column is not None
        else f"{place.file}:{place.line}"
    )
