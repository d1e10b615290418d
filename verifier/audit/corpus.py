"""Replaying a corpus: every case file is audited and compared with the answer it states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from verifier.audit.check import Settings
from verifier.audit.documents import Audited, audit_each
from verifier.diagnostics.report import Subject
from verifier.formats import CaseExpect


@dataclass(frozen=True, slots=True)
class Replayed:
    """One case: what it states, what we say, and whether that agrees.

    ``expected`` and ``got`` are words such as "refuted (SM201, SM203)"; ``subjects`` carry the findings.
    """

    file: str
    agrees: bool
    expected: str
    got: str
    subjects: tuple[Subject, ...]


def case_files(directory: Path) -> list[Path]:
    """Every JSON file below a directory that is a map case, sorted; a single file stands for itself."""
    if directory.is_file():
        return [directory]
    return sorted(path for path in directory.rglob("*.json") if path.name != "manifest.json")


def replay(paths: Sequence[Path], settings: Settings, *, jobs: int = 1) -> Iterator[Replayed]:
    """Each case with its outcome, in order."""
    for path, audited in zip(paths, audit_each(paths, settings, jobs=jobs), strict=True):
        yield _replayed(str(path), audited)


def _replayed(file: str, audited: Audited) -> Replayed:
    expect = audited.document.expect if audited.document is not None else None
    got = _answer(audited.subjects)
    if expect is None:
        return Replayed(file, False, "a case file with an expected verdict", _words(*got), audited.subjects)
    return Replayed(
        file, _agrees(expect, *got), _words(expect.verdict, expect.codes), _words(*got), audited.subjects
    )


def _answer(subjects: Sequence[Subject]) -> tuple[str, tuple[str, ...]]:
    """Our verdict on a case and the code of its primary finding."""
    if not subjects:
        return "nothing", ()
    first = subjects[0]
    errors = [finding for finding in first.findings if finding.severity == "error"]
    return first.verdict, tuple(finding.code for finding in errors[:1])


def _agrees(expect: CaseExpect, verdict: str, codes: tuple[str, ...]) -> bool:
    """Refuted and unreadable agree with each other where the stated codes are those of a document."""
    if expect.verdict == "proved" or verdict == "proved":
        return expect.verdict == verdict and not codes
    same = expect.verdict == verdict or {expect.verdict, verdict} == {"refuted", "unreadable"}
    return same and (not expect.codes or bool(set(codes) & set(expect.codes)))


def _words(verdict: str, codes: Sequence[str]) -> str:
    return f"{verdict} ({', '.join(codes)})" if codes else verdict
