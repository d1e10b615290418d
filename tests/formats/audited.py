"""What an audit says of a checkpoint, as the tests of readers ask it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from verifier.audit.check import Settings
from verifier.audit.documents import audit_path
from verifier.audit.manifest import replay_entry
from verifier.formats import Request

__all__ = ["Said", "replay_entry", "said"]


@dataclass(frozen=True)
class Said:
    """Verdict of the worst subject, codes of errors and warnings, the sentences, the rest of the report."""

    verdict: str
    codes: tuple[str, ...]
    warnings: tuple[str, ...]
    sentences: tuple[str, ...]
    unchecked: tuple[str, ...]
    proved: tuple[str, ...]
    checks: Mapping[str, int]


def said(path: Path, **asked: object) -> Said:
    """The audit of a path."""
    audited = audit_path(path, Settings(repair=False), Request(**asked))  # type: ignore[arg-type]
    verdicts = [subject.verdict for subject in audited.subjects]
    order = ("unreadable", "refuted", "undecided", "unchecked", "proved")
    findings = [finding for subject in audited.subjects for finding in subject.findings]
    return Said(
        verdict=min(verdicts, key=order.index),
        codes=tuple(finding.code for finding in findings if finding.severity == "error"),
        warnings=tuple(finding.code for finding in findings if finding.severity == "warning"),
        sentences=tuple(
            finding.concise.replace(f"{path}/", "").replace(str(path), ".") for finding in findings
        ),
        unchecked=audited.unchecked,
        proved=tuple(subject.name for subject in audited.subjects if subject.verdict == "proved"),
        checks={} if audited.document is None else audited.document.checks,
    )


def _relative(text: str, path: Path) -> str:
    return text.replace(f"{path}/", "").replace(str(path), ".")
