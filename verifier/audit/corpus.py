"""Replaying a corpus: every case file is audited and compared with the answer it states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from verifier.audit.check import Settings, verdict_word
from verifier.audit.documents import Audited, audit_path, each_path
from verifier.audit.judge import judge
from verifier.diagnostics.report import Subject, is_tool_bug
from verifier.formats import CaseExpect
from verifier.model.expectation import Expectation


@dataclass(frozen=True, slots=True)
class Replayed:
    """One case: what it states, what we say, and whether that agrees.

    ``expected`` and ``got`` are words such as "refuted (SM201, SM203)"; ``subjects`` carry the findings.
    ``tool_bug`` is True when one of them is about shardproof itself: then agreement means nothing.
    """

    file: str
    agrees: bool
    expected: str
    got: str
    subjects: tuple[Subject, ...]

    @property
    def tool_bug(self) -> bool:
        """Whether a finding says that shardproof contradicts itself."""
        return any(is_tool_bug(finding) for subject in self.subjects for finding in subject.findings)


def case_files(directory: Path) -> list[Path]:
    """Every JSON file below a directory that is a map case, sorted; a single file stands for itself."""
    if directory.is_file():
        return [directory]
    return sorted(path for path in directory.rglob("*.json") if path.name != "manifest.json")


def replay(paths: Sequence[Path], settings: Settings, *, jobs: int = 1) -> Iterator[Replayed]:
    """Each case with its outcome, in order."""
    yield from each_path(partial(replay_path, settings=settings), paths, jobs=jobs)


def replay_path(path: Path, settings: Settings) -> Replayed:
    """One case. A file that cannot be read states nothing, so it differs from whatever was expected."""
    audited = audit_path(path, settings)
    expect = audited.document.expect if audited.document is not None else None
    verdict, codes = _answer(audited.subjects)
    if expect is None:
        expected = "a case file with an expected verdict"
        return Replayed(str(path), False, expected, _words(verdict, codes), audited.subjects)
    agrees = _agrees(expect, verdict, codes)
    expected, got = _words(expect.verdict, expect.codes), _words(verdict, codes)
    if expect.structural_verdict is not None:
        structural = _structural(audited, settings, verdict)
        if not _same(expect.structural_verdict, structural):
            agrees = False
            expected += f", {expect.structural_verdict} without its demands"
            got += f", {structural} without them"
    return Replayed(str(path), agrees, expected, got, audited.subjects)


def _structural(audited: Audited, settings: Settings, verdict: str) -> str:
    """The verdict on the map of a case with the waivers of its expectation and none of its demands.

    Padding that is declared is part of the map; ``verdict`` stands where there is no map.
    """
    document = audited.document
    if document is None or not document.subjects:
        return verdict
    subject = document.subjects[0]
    stated = subject.expectation
    waivers = Expectation(
        holes=stated.holes, gaps=stated.gaps, cover=stated.cover, lookup=stated.lookup, partial=stated.partial
    )
    return verdict_word(judge(subject.shard_map, waivers, settings.answering()).verdict)


def _answer(subjects: Sequence[Subject]) -> tuple[str, tuple[str, ...]]:
    """Our verdict on a case and the code of its primary finding."""
    first = subjects[0]  # every path has a subject
    errors = [finding for finding in first.findings if finding.severity == "error"]
    return first.verdict, tuple(finding.code for finding in errors[:1])


def _agrees(expect: CaseExpect, verdict: str, codes: tuple[str, ...]) -> bool:
    if expect.verdict == "proved" or verdict == "proved":
        return expect.verdict == verdict and not codes
    return _same(expect.verdict, verdict) and (not expect.codes or bool(set(codes) & set(expect.codes)))


def _same(expected: str, verdict: str) -> bool:
    """Refuted and unreadable agree with each other: whether a broken map can be read depends on the form."""
    return expected == verdict or {expected, verdict} == {"refuted", "unreadable"}


def _words(verdict: str, codes: Sequence[str]) -> str:
    return f"{verdict} ({', '.join(codes)})" if codes else verdict
