"""Findings that a project has decided to live with for a while: ``[[tool.shardproof.suppress]]``.

    [[tool.shardproof.suppress]]
    code = "SM204"
    name = "layers.*.w"
    reason = "padded by the exporter until the next release"
    until = 2027-03-01

``code`` (a code or its name), ``reason`` and ``until`` are required; ``name`` and ``file`` are patterns as in
a shell, ``fingerprint`` is exact. A suppression that is past its date or matches nothing is a finding itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from verifier.diagnostics.coded import coded
from verifier.diagnostics.codes import find_code
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.report import Report, Subject

FILE = "pyproject.toml"
PATTERNS = ("name", "file", "fingerprint")


class ConfigurationError(Exception):
    """The project's configuration is malformed; the text says where and what to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """One decision.

    Attributes:
        position: in the file, from 0.
        code: of the findings.
        reason: why nobody acts on them.
        until: the last day on which it holds.
        name: pattern of the subject's name.
        file: pattern of the file of the finding.
        fingerprint: of the one finding, None for any.
    """

    position: int
    code: str
    reason: str
    until: date
    name: str = "*"
    file: str = "*"
    fingerprint: str | None = None

    def matches(self, subject: Subject, finding: Finding) -> bool:
        """Whether it is about this finding."""
        place = finding.place or subject.place
        return (
            finding.code == self.code
            and fnmatchcase(subject.name, self.name)
            and fnmatchcase("" if place is None else place.file, self.file)
            and self.fingerprint in (None, finding.fingerprint)
        )


def project_file(start: Path) -> Path | None:
    """The nearest pyproject.toml at or above a folder."""
    folder = start.resolve()
    return next((f / FILE for f in (folder, *folder.parents) if (f / FILE).is_file()), None)


def read_suppressions(path: Path) -> list[Suppression]:
    """The suppressions of a pyproject.toml.

    Raises:
        ConfigurationError: the file cannot be read, or one of them is malformed.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path.name}: {error}") from error
    tables = document.get("tool", {}).get("shardproof", {}).get("suppress", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigurationError(f"{path.name}: write each suppression as [[tool.shardproof.suppress]]")
    return [_suppression(position, table) for position, table in enumerate(tables)]


def _suppression(position: int, table: Mapping[str, Any]) -> Suppression:
    where = f"{FILE}: suppression {position + 1}"
    unknown = sorted(table.keys() - {"code", "reason", "until", *PATTERNS})
    if unknown:
        raise ConfigurationError(f"{where} has the unknown key {unknown[0]!r}")
    texts = {key: table[key] for key in ("code", "reason", *PATTERNS) if key in table}
    for key, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise ConfigurationError(f"{where}: {key} is no text")
    for key in ("code", "reason", "until"):
        if key not in table:
            raise ConfigurationError(f"{where} has no {key}; a suppression needs code, reason and until")
    if type(table["until"]) is not date:
        raise ConfigurationError(f"{where}: until is no date; write one such as 2027-03-01, without quotes")
    code = find_code(texts["code"])
    if code is None:
        raise ConfigurationError(f"{where}: no diagnostic is called {texts['code']!r}")
    if code.family == "tool bug":
        raise ConfigurationError(f"{where}: {code.code} is a bug of shardproof and cannot be suppressed")
    return Suppression(position=position, until=table["until"], **{**texts, "code": code.code})


def suppressed(report: Report, suppressions: Sequence[Suppression], today: date) -> Report:
    """The report with findings accepted that a suppression is about, and what is wrong with suppressions."""
    if not suppressions:
        return report
    holding = [found for found in suppressions if found.until >= today]
    used: set[int] = set()
    subjects: list[Subject] = []
    for subject in report.subjects:
        findings: list[Finding] = []
        for finding in subject.findings:
            by = next((found for found in holding if found.matches(subject, finding)), None)
            if by is None or finding.accepted:
                findings.append(finding)
                continue
            used.add(by.position)
            findings.append(replace(finding, accepted=f"suppressed until {by.until}: {by.reason}"))
        subjects.append(replace(subject, findings=tuple(findings)))
    remarks = [_remark(found, "HK102") for found in suppressions if found.until < today]
    remarks += [_remark(found, "HK101") for found in holding if found.position not in used]
    return with_remarks(replace(report, subjects=tuple(subjects)), FILE, remarks)


def with_remarks(report: Report, file: str, remarks: Sequence[Finding]) -> Report:
    """The report with findings about the project's own files, as a subject of their own."""
    if not remarks:
        return report
    about = Subject(name=file, kind="document", verdict="proved", place=Place(file), findings=tuple(remarks))
    return replace(report, subjects=(*report.subjects, about))


def _remark(found: Suppression, word: str) -> Finding:
    which = f"suppression {found.position + 1} ({found.code}, {found.name})"
    said = "matched nothing in this run" if word == "HK101" else f"ended on {found.until}"
    return replace(
        coded(word, which, said),
        concise=f"{which} {said}",
        claim=f"{which} {said}: {found.reason}",
        place=Place(FILE, f"/tool/shardproof/suppress/{found.position}"),
        helps=("take it out, or give it a later date and say why",),
    )
