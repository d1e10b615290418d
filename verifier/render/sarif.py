"""SARIF 2.1.0, for code scanning services.

Every finding about a map is a result; what could not be read, bugs of ours and what was left unchecked are
notifications of the run: they say that the results are not the whole story. Undecided results are warnings:
the kind the standard has for them would hide them.

References: OASIS, Static Analysis Results Interchange Format 2.1.0 with Errata 01, sections 3.11 (messages),
3.20 (invocation), 3.27 (result), 3.28 (location), 3.49 (rule).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote

from verifier.diagnostics.codes import find_code
from verifier.diagnostics.finding import Finding, Json, Label, Place
from verifier.diagnostics.pages import page_of
from verifier.diagnostics.report import (
    EXIT_NOTHING_CHECKED,
    EXIT_PROVED,
    EXIT_REFUTED,
    EXIT_TOOL_BUG,
    EXIT_UNDECIDED,
    EXIT_UNREADABLE,
    Report,
    Subject,
    is_tool_bug,
)
from verifier.diagnostics.wording import escaped
from verifier.render.brief import brief_lines
from verifier.render.checkout import Checkout
from verifier.render.text import heading_word

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "shardproofGeometry/v1"
SOURCE_ROOT = "%SRCROOT%"
_EXITS = {
    EXIT_PROVED: "all proved",
    EXIT_REFUTED: "something was refuted",
    EXIT_UNREADABLE: "something could not be read",
    EXIT_UNDECIDED: "something was left undecided",
    EXIT_NOTHING_CHECKED: "nothing was checked, in all or on one path",
    EXIT_TOOL_BUG: "a bug of shardproof",
}
_Found = tuple[Subject, Finding]
_Object = dict[str, Json]


def render_sarif(report: Report, checkout: Checkout | None = None) -> str:
    """The report as SARIF text; ``checkout`` says which files lie in the repository."""
    run = _Run(report, checkout or Checkout())
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run.to_json()]}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


class _Run:
    """One run: its results and notifications refer to rules by their position."""

    def __init__(self, report: Report, checkout: Checkout) -> None:
        self._report = report
        self._checkout = checkout
        self._results = [found for found in report.findings if not _is_about_the_run(found[1])]
        self._failures = [found for found in report.findings if _is_about_the_run(found[1])]
        self._rules = _codes(self._results)
        self._notifications = _codes(self._failures)

    def to_json(self) -> _Object:
        """The run object."""
        driver: _Object = {
            "name": escaped(self._report.tool.get("name", "shardproof")),
            "version": escaped(self._report.tool.get("version", "unknown")),
            "rules": [_rule(finding) for finding in self._rules.values()],
            "notifications": [_rule(finding) for finding in self._notifications.values()],
        }
        used = {k: escaped(v) for k, v in sorted(self._report.tool.items()) if k not in ("name", "version")}
        if used:
            driver["properties"] = {escaped(name): version for name, version in used.items()}
        return {
            "tool": {"driver": driver},
            "invocations": [self._invocation()],
            "columnKind": "unicodeCodePoints",
            "results": [self._result(*found) for found in self._results],
        }

    def _invocation(self) -> _Object:
        """How the run ended. By the standard it failed as soon as one notification is an error."""
        code = self._report.exit_code
        notifications: list[Json] = [self._failure(*found) for found in self._failures]
        unchecked = [escaped(clause) for clause in self._report.unchecked]
        notes = [f"{subject.name}: {note}" for subject in self._report.subjects for note in subject.notes]
        notifications += [{"level": "note", "message": _message([escaped(note)])} for note in notes]
        level = "warning" if code == EXIT_NOTHING_CHECKED else "note"
        notifications += [
            {"level": level, "message": _message([f"not checked: {clause}"])} for clause in unchecked
        ]
        return {
            "executionSuccessful": code not in (EXIT_UNREADABLE, EXIT_TOOL_BUG),
            "exitCode": code,
            "exitCodeDescription": _EXITS[code],
            "toolExecutionNotifications": notifications,
        }

    def _failure(self, subject: Subject, finding: Finding) -> _Object:
        """A notification."""
        return {
            "level": "error",
            "descriptor": _reference(finding, self._notifications),
            "message": _message(brief_lines(finding)),
            "locations": [self._location(subject, finding)],
            "properties": {"subject": escaped(subject.name), "fingerprint": escaped(finding.fingerprint)},
        }

    def _result(self, subject: Subject, finding: Finding) -> _Object:
        rule = _reference(finding, self._rules)
        result: _Object = {
            "ruleId": rule["id"],
            "ruleIndex": rule["index"],
            "kind": "fail",
            "level": _level(finding),
            "message": _message(brief_lines(finding)),
            "locations": [self._location(subject, finding)],
            "partialFingerprints": {FINGERPRINT: escaped(finding.fingerprint)},
            "properties": {"verdict": finding.verdict, "subject": escaped(subject.name)},
        }
        if finding.accepted:
            result["suppressions"] = [{"kind": "external", "justification": escaped(finding.accepted)}]
        related = self._related(finding)
        if related:
            result["relatedLocations"] = related
        return result

    def _location(self, subject: Subject, finding: Finding) -> _Object:
        """Where the culprit is: in its file where there is one, and by its JSON pointer."""
        place = finding.place
        if place is None:
            return {"logicalLocations": [_logical(subject.name)]}
        return self._physical(place, _width(finding))

    def _related(self, finding: Finding) -> list[Json]:
        """The other lines of the message."""
        others = [label for label in finding.labels if not label.primary and label.place is not None]
        return [
            self._physical(label.place, _marked(label))
            | {"id": number, "message": _message([escaped(label.text)])}
            for number, label in enumerate(others, 1)
            if label.place is not None
        ]

    def _physical(self, place: Place, width: int) -> _Object:
        physical: _Object = {"artifactLocation": self._artifact(place.file)}
        if place.line is not None:
            physical["region"] = _region(place.line, place.column, width)
        location: _Object = {"physicalLocation": physical}
        if place.pointer:
            location["logicalLocations"] = [_logical(place.pointer)]
        return location

    def _artifact(self, file: str) -> _Object:
        path = self._checkout.path(file)
        if path is not None:
            return {"uri": _uri(path), "uriBaseId": SOURCE_ROOT}
        return {"uri": f"file://{_uri(file)}" if file.startswith("/") else _uri(file)}


def _is_about_the_run(finding: Finding) -> bool:
    return finding.verdict == "unreadable" or is_tool_bug(finding)


def _codes(found: Iterable[_Found]) -> dict[str, Finding]:
    """Every code once, in order, with the first finding that has it."""
    first: dict[str, Finding] = {}
    for _, finding in found:
        first.setdefault(finding.code, finding)
    return dict(sorted(first.items()))


def _reference(finding: Finding, codes: dict[str, Finding]) -> _Object:
    return {"id": escaped(finding.code), "index": list(codes).index(finding.code)}


def _rule(finding: Finding) -> _Object:
    """What a code means: its summary and its explain page. A code of a later release has only its name."""
    code = find_code(finding.code)
    if code is None:
        return {"id": escaped(finding.code), "name": escaped(finding.name)}
    page = page_of(code)
    rule: _Object = {
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": code.summary},
        "fullDescription": {"text": code.summary},
        "help": {"text": code.summary} if page is None else {"text": page, "markdown": page},
        "defaultConfiguration": {"level": code.severity},
        "properties": {
            "tags": [code.family, *code.theory],
            "precision": "very-high",
            "problem.severity": code.severity,
        },
    }
    return rule


def _level(finding: Finding) -> str:
    return "error" if heading_word(finding) == "error" else "warning"


def _message(lines: list[str]) -> _Object:
    """A message of escaped lines. Braces are doubled, as the standard asks; brackets never begin a link."""
    text = "\n".join(lines).replace("{", "{{").replace("}", "}}").replace("](", "] (")
    return {"text": text or "(no text)"}


def _logical(name: str) -> _Object:
    return {"fullyQualifiedName": escaped(name)}


def _region(line: int, column: int | None, width: int) -> _Object:
    region: _Object = {"startLine": max(1, line)}
    if column is not None:
        region["startColumn"] = max(1, column)
        if width:
            region["endColumn"] = max(1, column) + width
    return region


def _width(finding: Finding) -> int:
    """Characters of the culprit, 0 where they are not known."""
    for label in finding.labels:
        if label.primary and label.place == finding.place:
            return _marked(label)
    return 0


def _marked(label: Label) -> int:
    return label.end - label.start if label.quoted else 0


def _uri(path: str) -> str:
    """A path as a relative reference; what is no Unicode text is kept byte by byte."""
    return quote(path.encode("utf-8", "surrogatepass"))
