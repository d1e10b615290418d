"""JUnit XML: one suite per run, one case per subject, with the full text of its findings.

Undecided is a failure: a service that only counts passes must not take it for one. A document that cannot
be read and a bug of ours are errors, one that holds nothing to check is skipped.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal
from xml.etree import ElementTree

from verifier.diagnostics.report import Report, Subject, is_tool_bug
from verifier.diagnostics.wording import counted, escaped
from verifier.render.brief import brief_lines
from verifier.render.lines import Page, line, paint, written_on
from verifier.render.text import subject_lines

Outcome = Literal["failure", "error", "skipped"]
_COUNTS: dict[str, Outcome] = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render_junit(report: Report) -> str:
    """The report as XML text, without times: equal runs give equal files."""
    outcomes = [_outcome(subject) for subject in report.subjects]
    number = Counter(outcomes)
    totals = {name: str(number[outcome]) for name, outcome in _COUNTS.items()}
    counts = {"tests": str(len(outcomes)), **totals}
    root = ElementTree.Element("testsuites", {"name": "shardproof", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "shardproof", **counts})
    _add_properties(suite, report)
    for subject, outcome in zip(report.subjects, outcomes, strict=True):
        _add_case(suite, subject, outcome)
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="us-ascii").decode()  # whatever the stream has: references
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _outcome(subject: Subject) -> Outcome | None:
    """What becomes of a case; None where it passes."""
    if any(is_tool_bug(finding) for finding in subject.findings):
        return "error"
    if subject.is_accepted:
        return "skipped"
    match subject.verdict:
        case "unreadable":
            return "error"
        case "refuted" | "undecided":
            return "failure"
        case "unchecked":
            return "skipped"
        case "proved":
            return None


def _add_properties(suite: ElementTree.Element, report: Report) -> None:
    """What ran, what was left unchecked, and the exit code, which no other element tells."""
    listed = [
        *sorted(report.tool.items()),
        *[("unchecked", clause) for clause in report.unchecked],
        ("findings", str(len(report.findings))),
        ("exit-code", str(report.exit_code)),
    ]
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in listed:
        ElementTree.SubElement(properties, "property", {"name": escaped(name), "value": escaped(value)})


def _add_case(suite: ElementTree.Element, subject: Subject, outcome: Outcome | None) -> None:
    place = {} if subject.place is None else {"file": escaped(subject.place.file)}
    names = {"classname": place.get("file", escaped(subject.kind)), "name": escaped(subject.name)}
    case = ElementTree.SubElement(suite, "testcase", names | place)
    if outcome is not None:
        said = ElementTree.SubElement(case, outcome, _said(subject))
        said.text = "\n".join(text for finding in subject.findings for text in brief_lines(finding)) or None
    if subject.findings or subject.notes:
        ElementTree.SubElement(case, "system-out").text = _full_text(subject)


def _said(subject: Subject) -> dict[str, str]:
    """The type and message of a case that does not pass: its worst finding, and how many more there are."""
    if not subject.findings:
        return {"type": subject.verdict, "message": f"{escaped(subject.name)}: {subject.verdict}"}
    worst = min(subject.findings, key=lambda finding: (not is_tool_bug(finding), finding.severity))
    undecided = subject.verdict == "undecided" and not is_tool_bug(worst)
    rest = len(subject.findings) - 1
    more = f" (and {counted(rest, 'more finding')})" if rest else ""
    return {
        "type": "undecided" if undecided else escaped(worst.code),
        "message": f"{escaped(worst.concise)}{more}",
    }


def _full_text(subject: Subject) -> str:
    """The findings and notes as on a terminal, of no terminal's width: the file is the same everywhere."""
    with written_on(Page()):
        return paint([line(), *subject_lines(subject)], color=False)
