"""The parts of a document, each judged by itself: a part is the unit of work that workers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from verifier.audit.answering import Answering
from verifier.audit.boxes import check_boxes
from verifier.audit.check import Settings, check_subject, findings_of
from verifier.audit.compare import witness_faults
from verifier.audit.proofs import Proofs
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Obligations, Subject, SubjectVerdict
from verifier.diagnostics.snippets import Span
from verifier.formats import BoxSubject, Document, Refusal, resolve
from verifier.formats import Subject as ReadSubject
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

Entry = ReadSubject | BoxSubject | Refusal
"""A part of a document."""


def entries_of(document: Document) -> tuple[Entry, ...]:
    """The parts of a document, in the order in which they are reported."""
    return (*document.subjects, *document.boxes, *document.refusals)


def weight(entry: Entry) -> int:
    """About how much work a part is, in pieces."""
    match entry:
        case BoxSubject():
            return 1 + entry.boxes.count
        case ReadSubject():
            return 1 + sum(len(shard.pieces) for shard in entry.shard_map.ranks.values())
        case Refusal():
            return 1


def batches(entries: Sequence[Entry], *, heaviest: int, longest: int) -> Iterator[tuple[Entry, ...]]:
    """The parts in order, in batches of about ``heaviest`` pieces and at most ``longest`` parts."""
    batch: list[Entry] = []
    total = 0
    for entry in entries:
        batch.append(entry)
        total += weight(entry)
        if total >= heaviest or len(batch) >= longest:
            yield tuple(batch)
            batch, total = [], 0
    if batch:
        yield tuple(batch)


def check_entry(entry: Entry, settings: Settings, answering: Answering, proofs: Proofs) -> Subject:
    """One part of a document as a subject of a report."""
    match entry:
        case Refusal():
            return refused(entry)
        case BoxSubject():
            return check_boxes(entry, settings, answering, locate=locate, proofs=proofs)
        case ReadSubject():
            found = [*entry.faults, *witness_faults(entry.shard_map, entry.witnesses, answering)]
            return check_subject(
                entry.shard_map,
                entry.expectation,
                settings,
                answering,
                found=found,
                locate=locate,
                proofs=proofs,
            )


def locate(origin: Origin) -> Span | None:
    """The lines of a value, for snippets."""
    return resolve(origin, Path())


def refused(refusal: Refusal, *, line: int | None = None, column: int | None = None) -> Subject:
    """A document, or one map in it, that could not be read. A broken map (SM1xx) is a wrong map."""
    span = locate(refusal.origin) if line is None else None
    if span is not None:
        line, column = span.line, span.column
    place = Place(refusal.origin.file, refusal.origin.pointer, line, column)
    verdict: Literal["unreadable", "refuted"] = "unreadable" if refusal.code.startswith("SM0") else "refuted"
    from verifier.diagnostics.narrate import refusal_finding  # most documents are not refused

    finding = refusal_finding(refusal.code, refusal.message, refusal.help, place, verdict=verdict)
    return Subject(name=refusal.name, kind="map", verdict=verdict, place=place, findings=(finding,))


def file_set(document: Document, settings: Settings) -> Subject | None:
    """What was found and what holds of the files together, as a subject of its own; None for nothing."""
    if not (document.faults or document.remarks or document.checks):
        return None
    nowhere = ShardMap(name=document.file, logical_shape=(), ranks={}, origin=Origin(document.file))
    findings = findings_of(nowhere, Expectation(), document.faults)
    remarks = findings_of(nowhere, Expectation(), document.remarks)
    unmet = len(document.faults)
    if settings.strict:
        unmet += len(remarks)
        remarks = tuple([replace(remark, severity="error") for remark in remarks])
    verdict: SubjectVerdict = "refuted" if unmet else "proved"
    return Subject(
        name=document.file,
        kind="checkpoint",
        verdict=verdict,
        place=Place(document.file),
        obligations=Obligations(proved=sum(document.checks.values()), refuted=unmet),
        contents=dict(document.checks),
        findings=findings + remarks,
    )
