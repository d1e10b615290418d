"""What one run says: subjects with their verdicts and findings, and what was not checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from verifier.diagnostics.codes import find_code
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.wording import escaped
from verifier.verdicts import Proved, ProvedTiled, Refuted, Undecided, Verdict

SubjectVerdict = Literal["proved", "refuted", "undecided", "unreadable", "unchecked"]
"""``unchecked`` is a document that was read and holds nothing to check: no obligations, no findings."""

EXIT_PROVED = 0
EXIT_REFUTED = 1
EXIT_UNREADABLE = 2
EXIT_UNDECIDED = 3
EXIT_NOTHING_CHECKED = 4
EXIT_TOOL_BUG = 70


@dataclass(frozen=True, slots=True)
class Obligations:
    """How many obligations were answered, by answer."""

    proved: int = 0
    refuted: int = 0
    undecided: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.proved + self.refuted + self.undecided

    def __add__(self, other: Obligations) -> Obligations:
        return Obligations(
            self.proved + other.proved, self.refuted + other.refuted, self.undecided + other.undecided
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One thing that was checked.

    Attributes:
        name: what people call it, e.g. the parameter.
        kind: a countable noun: "map", "checkpoint", "document".
        place: where it was read; None when built in memory.
        families: the obligations by family, as codes have them; empty where nobody counted.
        answered_by: how many obligations each engine answered.
        contents: what it consists of, noun to number, e.g. {"ranks": 2, "pieces": 4}, in printing order.
        findings: one per cause, in a stable order.
        notes: what a reader should know whatever the verdict, one sentence each.
        outcome: the verdict with its certificate or witness; None for what could not be read, and for
            reports that were read back. Not part of the JSON.
    """

    name: str
    kind: str
    verdict: SubjectVerdict
    place: Place | None = None
    obligations: Obligations = field(default_factory=Obligations)
    families: Mapping[str, Obligations] = field(default_factory=dict)
    answered_by: Mapping[str, int] = field(default_factory=dict)
    contents: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    outcome: Verdict | ProvedTiled | None = field(default=None, compare=False, repr=False)

    @property
    def is_accepted(self) -> bool:
        """Whether it was refuted or left open, and nobody has to act on any of that."""
        if self.verdict not in ("refuted", "undecided"):
            return False
        errors = [finding for finding in self.findings if finding.severity == "error"]
        return bool(errors) and all(finding.accepted for finding in errors)


@dataclass(frozen=True, slots=True)
class Summary:
    """How many subjects got each verdict, how many obligations each answer, and what was not checked."""

    proved: int
    refuted: int
    undecided: int
    unreadable: int
    obligations: Obligations
    unchecked: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of one run.

    Attributes:
        tool: what ran, name to version; "name" and "version" are the tool itself, the rest what it used.
        subjects: in the order they are reported.
        unchecked: what was left out, one clause each, e.g. "2 checkpoints without a map".
    """

    tool: Mapping[str, str]
    subjects: tuple[Subject, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def summary(self) -> Summary:
        """The totals."""
        verdicts = Counter(subject.verdict for subject in self.subjects)
        return Summary(
            verdicts["proved"],
            verdicts["refuted"],
            verdicts["undecided"],
            verdicts["unreadable"],
            sum((subject.obligations for subject in self.subjects), Obligations()),
            self.unchecked,
        )

    @property
    def findings(self) -> tuple[tuple[Subject, Finding], ...]:
        """Every finding with its subject, in report order."""
        return tuple((subject, finding) for subject in self.subjects for finding in subject.findings)

    @property
    def open_findings(self) -> tuple[tuple[Subject, Finding], ...]:
        """Those that are not accepted."""
        return tuple([found for found in self.findings if not found[1].accepted])

    @property
    def verdict(self) -> Verdict | ProvedTiled | None:
        """The worst verdict of all subjects: refuted, else undecided, else proved; None without a map."""
        outcomes = [subject.outcome for subject in self.subjects if subject.outcome is not None]
        for kind in (Refuted, Undecided, Proved, ProvedTiled):
            for outcome in outcomes:
                if isinstance(outcome, kind):
                    return outcome
        return None

    @property
    def exit_code(self) -> int:
        """The worst of what happened, but for what is accepted: 70 > 2 > 1 > 3 > 4 > 0.

        Nothing was checked (4) also when a single path held nothing to check: a run must not pass because of
        its other paths.
        """
        if any(is_tool_bug(finding) for _, finding in self.findings):
            return EXIT_TOOL_BUG
        verdicts = {subject.verdict for subject in self.subjects if not subject.is_accepted}
        if "unreadable" in verdicts:
            return EXIT_UNREADABLE
        if "refuted" in verdicts:
            return EXIT_REFUTED
        if "undecided" in verdicts:
            return EXIT_UNDECIDED
        if not self.checked_anything or any(subject.verdict == "unchecked" for subject in self.subjects):
            return EXIT_NOTHING_CHECKED
        return EXIT_PROVED

    @property
    def checked_anything(self) -> bool:
        """Whether a single obligation was answered."""
        return any(subject.obligations.total for subject in self.subjects)

    def raise_if_not_proved(self) -> None:
        """Return when everything was proved.

        Raises:
            NotProved: something was refuted, undecided or unreadable, or nothing was checked.
        """
        if self.exit_code != EXIT_PROVED:
            raise NotProved(self)


class NotProved(Exception):  # noqa: N818 - it is the verdict, an undecided map is not an error
    """A report whose subjects were not all proved. Its text is one line per finding."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        return "\n".join(escaped(line) for line in _lines(self.report))


def _lines(report: Report) -> Iterable[str]:
    if report.exit_code == EXIT_NOTHING_CHECKED and not report.checked_anything:
        yield "nothing was checked"
    for subject in report.subjects:
        if subject.verdict != "proved" and not subject.findings:
            yield f"{subject.name}: {subject.verdict}"
    for subject, finding in report.open_findings:
        yield f"{_where(subject, finding)}: {finding.verdict}[{finding.code}] {finding.concise}"


def _where(subject: Subject, finding: Finding) -> str:
    place = finding.place
    if place is None:
        return subject.name
    parts = (place.file, place.line, place.column)
    return ":".join(str(part) for part in parts if part is not None)


def is_tool_bug(finding: Finding) -> bool:
    """Whether a finding is about shardproof itself and not about its subject."""
    code = find_code(finding.code)
    return code is not None and code.family == "tool bug"
