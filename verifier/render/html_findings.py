"""The findings of a page: the worst in full, more in a line each, and how many are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Report, Subject, is_tool_bug
from verifier.diagnostics.wording import counted, escaped, shown_name
from verifier.render.html_pictures import Drawn, drawn_pictures, readout
from verifier.render.lines import Line, Role, Span, visible
from verifier.render.matrix import cut
from verifier.render.text import finding_lines, heading_role

MOST_IN_FULL = 1_500_000
"""Characters for findings in full; a page has to open quickly whatever it reports."""
MOST_OF_ONE = 150_000
"""Characters of one of them."""
MOST_IN_BRIEF = 300_000
"""Characters for findings in one line each."""
_MOST_TEXT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One finding as a template needs it."""

    number: int
    subject: str
    role: Role
    code: str
    name: str
    accepted: str
    lines: tuple[Line, ...]
    pictures: tuple[Drawn, ...]
    readout: str


@dataclass(frozen=True, slots=True)
class Brief:
    """One finding in a line."""

    role: Role
    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All of them.

    Attributes:
        count: how many there are.
        articles: those in full, as markup.
        in_full: their numbers in report order.
        brief: those in one line.
        shown: the sentence that says how many are shown.
    """

    count: int
    articles: tuple[Markup, ...]
    in_full: frozenset[int]
    brief: tuple[Brief, ...]
    shown: str

    def link(self, number: int) -> str:
        """Where a finding is on the page."""
        return f"#finding-{number}" if number in self.in_full else "#more"


def findings_of(report: Report, markup: Callable[[Article], Markup]) -> Findings:
    """The findings of a report, the worst first; ``markup`` writes one of them."""
    order = sorted(enumerate(report.findings), key=lambda item: _weight(item[1][1]))
    articles: dict[int, Markup] = {}
    room = MOST_IN_FULL
    rest: list[tuple[Subject, Finding]] = []
    for number, (subject, finding) in order:
        text = markup(_article(number, subject, finding)) if room > 0 else Markup("")
        if 0 < len(text) <= min(room, MOST_OF_ONE):
            articles[number] = text
            room -= len(text)
        else:
            rest.append((subject, finding))
            room = room if len(text) > MOST_OF_ONE else 0
    brief = _briefs(rest)
    return Findings(
        count=len(order),
        articles=tuple(articles.values()),
        in_full=frozenset(articles),
        brief=brief,
        shown=_shown(len(order), len(articles), len(brief)),
    )


def _weight(finding: Finding) -> tuple[bool, bool, int]:
    """What is shown first has the least: bugs of ours, unreadable, refuted, undecided, warnings, accepted."""
    verdict = -1 if is_tool_bug(finding) else ("unreadable", "refuted", "undecided").index(finding.verdict)
    return bool(finding.accepted), finding.severity == "warning", verdict


def _article(number: int, subject: Subject, finding: Finding) -> Article:
    return Article(
        number=number,
        subject=shown_name(subject.name),
        role=heading_role(finding),
        code=finding.code,
        name=finding.name,
        accepted=finding.accepted,
        lines=tuple([tuple(filter(_has_text, visible(line))) for line in finding_lines(finding)]),
        pictures=drawn_pictures(finding),
        readout=readout(finding),
    )


def _has_text(span: Span) -> bool:
    return bool(span.text)


def _briefs(rest: Sequence[tuple[Subject, Finding]]) -> tuple[Brief, ...]:
    found: list[Brief] = []
    room = MOST_IN_BRIEF
    for subject, finding in rest:
        text = cut(f"{shown_name(subject.name)}: {finding.concise}", _MOST_TEXT)
        room -= len(text) + len("<li><span></span></li>")
        if room < 0:
            break
        found.append(Brief(heading_role(finding), escaped(finding.code[:16]), text))
    return tuple(found)


def _shown(count: int, in_full: int, brief: int) -> str:
    """An honest line on what is not on the page."""
    if in_full == count:
        return f"{'The' if count == 1 else 'All'} {counted(count, 'finding')} {_is(count)} shown in full."
    said = f"{in_full} of {counted(count, 'finding')} {_is(in_full)} shown in full, {brief} in one line each"
    left = count - in_full - brief
    if not left:
        return f"{said}."
    return f"{said}; {left} {_is(left)} left out of this page: the JSON report (--json-output) has all."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
