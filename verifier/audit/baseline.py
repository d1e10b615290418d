"""A baseline: the findings a project had when it began to check, each by its exact fingerprint.

What is in it is accepted; everything new is not. It can only shrink: an entry whose finding is gone from a
document that was audited is taken out. Layout: ``{"schema": "shardproof.baseline/1", "findings": [{"code",
"fingerprint", "name", "file"}]}``, sorted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verifier.audit.suppressions import with_remarks
from verifier.diagnostics.coded import coded
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.report import Report, Subject, is_tool_bug

SCHEMA = "shardproof.baseline/1"
MEMBERS = ("code", "fingerprint", "name", "file")
ACCEPTED = "in the baseline"


class BaselineError(Exception):
    """The file is no baseline, or cannot be written; the text says why."""


@dataclass(frozen=True, slots=True, order=True)
class Known:
    """One finding of a baseline: its code and fingerprint, and for people the subject and the file."""

    code: str
    fingerprint: str
    name: str
    file: str


def known_in(report: Report) -> list[Known]:
    """What a baseline of this report holds: its errors, but bugs of ours and what could not be read."""
    return sorted(
        {
            _known(subject, finding)
            for subject, finding in report.findings
            if finding.severity == "error" and subject.verdict != "unreadable" and not is_tool_bug(finding)
        }
    )


def read_baseline(path: Path) -> list[Known]:
    """The findings of a baseline.

    Raises:
        BaselineError: it cannot be read, or is malformed.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BaselineError(f"{path}: {error}") from error
    match document:
        case {"schema": str(schema), "findings": list(findings)} if schema == SCHEMA:
            return [_entry(path, position, finding) for position, finding in enumerate(findings)]
    raise BaselineError(f"{path}: this is no baseline; write one with: shardproof baseline write")


def write_baseline(path: Path, known: Iterable[Known]) -> None:
    """Write a baseline, sorted.

    Raises:
        BaselineError: the file cannot be written.
    """
    findings = [{member: getattr(found, member) for member in MEMBERS} for found in sorted(known)]
    text = json.dumps({"schema": SCHEMA, "findings": findings}, indent=1) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}") from error


def accepted(report: Report, baseline: Sequence[Known]) -> Report:
    """The report with the findings accepted that are in the baseline."""
    known = {(found.code, found.fingerprint) for found in baseline}
    subjects = [
        replace(subject, findings=tuple([_accepted(finding, known) for finding in subject.findings]))
        for subject in report.subjects
    ]
    return replace(report, subjects=tuple(subjects))


def stale_in(report: Report, baseline: Sequence[Known]) -> list[Known]:
    """Entries whose document was audited and whose finding is gone."""
    found = {(finding.code, finding.fingerprint) for _, finding in report.findings}
    files = {file for subject in report.subjects for file in _files(subject)}
    return [
        known for known in baseline if known.file in files and (known.code, known.fingerprint) not in found
    ]


def with_stale(report: Report, file: str, stale: Sequence[Known]) -> Report:
    """The report with a remark for each entry that is gone."""
    return with_remarks(report, file, [_remark(file, known) for known in stale])


def _accepted(finding: Finding, known: set[tuple[str, str]]) -> Finding:
    if finding.accepted or (finding.code, finding.fingerprint) not in known:
        return finding
    return replace(finding, accepted=ACCEPTED)


def _files(subject: Subject) -> set[str]:
    places = [subject.place, *[finding.place for finding in subject.findings]]
    return {place.file for place in places if place is not None}


def _known(subject: Subject, finding: Finding) -> Known:
    place = finding.place or subject.place
    return Known(finding.code, finding.fingerprint, subject.name, "" if place is None else place.file)


def _entry(path: Path, position: int, value: object) -> Known:
    if isinstance(value, dict) and value.keys() == set(MEMBERS):
        texts = [value[member] for member in MEMBERS]
        if all(isinstance(text, str) for text in texts):
            return Known(*texts)
    raise BaselineError(f"{path}: entry {position} needs the texts {', '.join(MEMBERS)} and nothing else")


def _remark(file: str, known: Known) -> Finding:
    gone = f"{known.code} of {known.name} ({known.fingerprint}) is gone"
    helps = ("take it out with: shardproof baseline prune",)
    return replace(coded("HK103", known.fingerprint, gone), place=Place(file), helps=helps)
