"""Auditing paths: every document read, every map in it judged, one report for all.

One unreadable file does not hide the findings of the others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject, findings_of, tool_versions, verdict_word
from verifier.audit.compare import compare, witness_faults
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.diagnostics.snippets import Span
from verifier.formats import Document, FormatError, Refusal, read, resolve
from verifier.formats import Subject as ReadSubject
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.verdicts import Proved, Refuted, Undecided

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Audited:
    """What one path came to.

    ``document`` is None when nothing in it could be read.
    """

    subjects: tuple[Subject, ...]
    unchecked: tuple[str, ...]
    document: Document | None


def audit_paths(
    paths: Sequence[Path],
    settings: Settings,
    *,
    jobs: int = 1,
    done: Callable[[Path], None] = lambda path: None,
) -> Report:
    """One report on all paths, in the given order; ``jobs`` processes change nothing in it.

    ``done`` is called after each path.
    """
    subjects: list[Subject] = []
    unchecked: dict[str, None] = {}
    for path, audited in zip(paths, audit_each(paths, settings, jobs=jobs), strict=True):
        subjects += audited.subjects
        unchecked.update(dict.fromkeys(audited.unchecked))
        done(path)
    return Report(tool=tool_versions(), subjects=tuple(subjects), unchecked=tuple(unchecked))


def audit_each(paths: Sequence[Path], settings: Settings, *, jobs: int = 1) -> Iterator[Audited]:
    """Each path audited, in the given order."""
    yield from each_path(partial(audit_path, settings=settings), paths, jobs=jobs)


def each_path(work: Callable[[Path], T], paths: Sequence[Path], *, jobs: int = 1) -> Iterator[T]:
    """What ``work`` makes of each path, in the given order, by worker processes that are started afresh."""
    if min(jobs, len(paths)) <= 1:
        yield from map(work, paths)
        return
    from concurrent.futures import ProcessPoolExecutor  # costs start-up time that one process need not pay
    from multiprocessing import get_context

    with ProcessPoolExecutor(min(jobs, len(paths)), mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, paths, chunksize=8)


def audit_path(path: Path, settings: Settings) -> Audited:
    """One file or checkpoint directory."""
    try:
        document = read(path)
    except FormatError as error:
        refusal = Refusal.of(path.name, error)
        return Audited((_refused(refusal, line=error.line, column=error.column),), (), None)
    answering = settings.answering()
    subjects = [_checked(subject, settings, answering) for subject in document.subjects]
    subjects += [_refused(refusal) for refusal in document.refusals]
    if document.faults:
        subjects.append(_file_set(document))
    if not subjects:
        return Audited((_unchecked(path),), (*document.unchecked, f"{path} (no map found)"), document)
    return Audited(tuple(subjects), document.unchecked, document)


def locate(origin: Origin) -> Span | None:
    """The lines of a value, for snippets."""
    return resolve(origin, Path())


def _unchecked(path: Path) -> Subject:
    """A document without a map: it must not pass because of what other documents hold."""
    return Subject(name=str(path), kind="document", verdict="unchecked", place=Place(str(path)))


def _checked(subject: ReadSubject, settings: Settings, answering: Answering) -> Subject:
    found = [*subject.faults, *witness_faults(subject.shard_map, subject.witnesses, answering)]
    return check_subject(
        subject.shard_map, subject.expectation, settings, answering, found=found, locate=locate
    )


def _refused(refusal: Refusal, *, line: int | None = None, column: int | None = None) -> Subject:
    """A document, or one map in it, that could not be read. A broken map (SM1xx) is a wrong map."""
    span = locate(refusal.origin) if line is None else None
    if span is not None:
        line, column = span.line, span.column
    place = Place(refusal.origin.file, refusal.origin.pointer, line, column)
    verdict: Literal["unreadable", "refuted"] = "unreadable" if refusal.code.startswith("SM0") else "refuted"
    from verifier.diagnostics.narrate import refusal_finding  # most documents are not refused

    finding = refusal_finding(refusal.code, refusal.message, refusal.help, place, verdict=verdict)
    return Subject(name=refusal.name, kind="map", verdict=verdict, place=place, findings=(finding,))


def _file_set(document: Document) -> Subject:
    """Faults of the files together, as a subject of its own."""
    nowhere = ShardMap(name=document.file, logical_shape=(), ranks={}, origin=Origin(document.file))
    return Subject(
        name=document.file,
        kind="checkpoint",
        verdict="refuted",
        place=Place(document.file),
        findings=findings_of(nowhere, Expectation(), document.faults),
    )


def diff_documents(here: Sequence[ShardMap], there: Sequence[ShardMap]) -> Report:
    """Maps compared as functions, matched by name; single maps are compared whatever their names.

    A name that only one side has is a refutation (SM502).
    """
    answering = Settings().answering()
    if len(here) == len(there) == 1:
        pairs = [(here[0].name, here[0], there[0])]
    else:
        others = {shard_map.name: shard_map for shard_map in there}
        pairs = [(m.name, m, others[m.name]) for m in here if m.name in others]
    subjects = [_compared(name, left, right, answering) for name, left, right in pairs]
    matched = {name for name, _, _ in pairs}
    if len(here) != 1 or len(there) != 1:
        subjects += [_unmatched(m, "the second") for m in here if m.name not in matched]
        subjects += [_unmatched(m, "the first") for m in there if m.name not in matched]
    return Report(tool=tool_versions(), subjects=tuple(subjects))


def _compared(name: str, here: ShardMap, there: ShardMap, answering: Answering) -> Subject:
    verdict = compare(here, there, answering)
    faults = () if isinstance(verdict, Proved) else verdict.faults
    expectation = Expectation(reference=there)
    return Subject(
        name=name,
        kind="pair",
        verdict=verdict_word(verdict),
        outcome=verdict,
        place=None if here.origin is None else Place(here.origin.file, here.origin.pointer),
        obligations=Obligations(
            proved=int(isinstance(verdict, Proved)),
            refuted=int(isinstance(verdict, Refuted)),
            undecided=int(isinstance(verdict, Undecided)),
        ),
        findings=findings_of(here, expectation, faults, locate=locate),
    )


def _unmatched(shard_map: ShardMap, side: str) -> Subject:
    fault = Fault(code="SM502", side="map", values={"reason": f"{side} document has no map of this name"})
    return Subject(
        name=shard_map.name,
        kind="pair",
        verdict="refuted",
        obligations=Obligations(refuted=1),
        findings=findings_of(shard_map, Expectation(), (fault,), locate=locate),
    )


def write_certificates(report: Report, directory: Path) -> int:
    """Write the certificate of every proved map to ``directory``; how many there were.

    The file name is made of the map's name and a digest of the certificate, so equal runs write equal files.

    Raises:
        OSError: the directory cannot be made or written to.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written = 0
    for subject in report.subjects:
        if isinstance(subject.outcome, Proved):
            text = subject.outcome.certificate.to_text()
            stem = re.sub(r"[^A-Za-z0-9._-]+", "_", subject.name)[:80].strip("._") or "map"
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            (directory / f"{stem}-{digest}.cert.json").write_text(text + "\n", encoding="utf-8")
            written += 1
    return written
