"""The last line of every run: what was checked, what came out, and what was not checked."""

from __future__ import annotations

from collections import Counter

from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import EXIT_NOTHING_CHECKED, EXIT_PROVED, Report, Subject, is_tool_bug
from verifier.diagnostics.wording import counted, singular
from verifier.render.lines import Line, Role, Span, again_wrapped, columns, line, page_width, wrapped


def summary_lines(report: Report) -> list[Line]:
    """The summary, on one line where it fits; else each item that was not checked has lines of its own."""
    outcome = outcome_text(report)
    said = f"{outcome}{_unchecked(report)}"
    if not report.unchecked or (len(report.unchecked) == 1 and columns(said) <= page_width()):
        return _paragraph(report, said)
    items = [one for item in report.unchecked for one in _item(item)]
    return [*_paragraph(report, f"{outcome}; not checked:"), *items]


def _paragraph(report: Report, text: str) -> list[Line]:
    first, *rest = wrapped(text, page_width())
    head, separator, tail = first.partition(" ")
    role: Role = "proved" if report.exit_code == EXIT_PROVED else "strong"
    return [
        line(Span(head, role), separator + tail),
        *[line(f"    {more}") for more in again_wrapped(rest, page_width() - 4)],
    ]


def _item(text: str) -> list[Line]:
    """One thing that was not checked; its further lines stand further in, so that each item is seen."""
    first, *rest = wrapped(text, page_width() - 4)
    return [line(f"    {first}"), *[line(f"      {more}") for more in again_wrapped(rest, page_width() - 6)]]


def summary_text(report: Report) -> str:
    """The summary without line breaks."""
    return f"{outcome_text(report)}{_unchecked(report)}"


def _unchecked(report: Report) -> str:
    if report.unchecked:
        return f"; not checked: {'; '.join(report.unchecked)}"
    settled = all(subject.verdict in ("proved", "refuted") for subject in report.subjects)
    bugs = any(is_tool_bug(finding) for _, finding in report.findings)
    whole = settled and not bugs and report.checked_anything
    return "; nothing left unchecked" if whole else ""


def outcome_text(report: Report) -> str:
    """What was checked and what came out, without what was not checked."""
    if report.exit_code == EXIT_NOTHING_CHECKED and not report.checked_anything:
        return "nothing was checked"
    if not any(_looked_into(subject) for subject in report.subjects):
        return f"nothing was checked, {report.summary.unreadable} unreadable"
    rest = f"{_warnings(report)}{_accepted(report)}"
    if report.exit_code != EXIT_PROVED:
        return f"checked {_subjects(report)}: {_answers(report)}{rest}"
    if report.summary.refuted or report.summary.undecided:
        return f"nothing new: {_subjects(report)}, {_answers(report)}{rest}"
    return f"proved: {_subjects(report)}, {_proofs(report)}{rest}"


def _looked_into(subject: Subject) -> bool:
    """Whether anything was asked of it; of what cannot be read nothing is, but for what was read before."""
    return subject.verdict not in ("unchecked", "unreadable") or subject.obligations.total > 0


def _subjects(report: Report) -> str:
    """``1 map, 2 ranks, 4 pieces``: subjects by kind, then what they consist of."""
    looked_into = [subject for subject in report.subjects if _looked_into(subject)]
    kinds = Counter(subject.kind for subject in looked_into)
    contents: Counter[str] = Counter()
    for subject in looked_into:
        contents.update(dict(subject.contents))
    parts = [counted(number, kind) for kind, number in sorted(kinds.items())]
    parts += [counted(number, singular(noun)) for noun, number in contents.items()]
    return ", ".join(parts)


def _proofs(report: Report) -> str:
    engines: Counter[str] = Counter()
    for subject in report.subjects:
        engines.update(dict(subject.answered_by))
    by = ", ".join(f"{number} by {engine}" for engine, number in sorted(engines.items()))
    total = counted(report.summary.obligations.proved, "obligation")
    return f"{total} ({by})" if by else total


def _answers(report: Report) -> str:
    answers = report.summary.obligations
    causes = sum(_is_cause(finding) for _, finding in report.findings)
    folded = f" (by {counted(causes, 'cause')})" if 0 < causes < answers.refuted else ""
    unreadable = report.summary.unreadable
    return (
        f"{counted(answers.proved, 'obligation')} proved, {answers.refuted} refuted{folded}, "
        f"{answers.undecided} undecided" + (f", {unreadable} unreadable" if unreadable else "")
    )


def _is_cause(finding: Finding) -> bool:
    """Whether a finding reports refuted obligations; it may stand for several of them."""
    return finding.verdict == "refuted" and finding.severity == "error" and not is_tool_bug(finding)


def _accepted(report: Report) -> str:
    accepted = len(report.findings) - len(report.open_findings)
    return f", {counted(accepted, 'finding')} accepted" if accepted else ""


def _warnings(report: Report) -> str:
    warnings = sum(finding.severity == "warning" for _, finding in report.open_findings)
    return f", {counted(warnings, 'warning')}" if warnings else ""
