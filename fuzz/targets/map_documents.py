"""The target ``map_documents``: a document is refused by name, or its maps are judged and drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import NamedTemporaryFile

from fuzz.agreement import disagreements
from fuzz.cases import Case
from fuzz.documents.forms import map_document
from fuzz.targets.bytes_random import BytesRandom
from fuzz.targets.documents import document_from
from fuzz.targets.fault import Fault, demand
from fuzz.walk import walk
from verifier.audit.check import Settings, tool_versions
from verifier.audit.documents import Audited, audit_path
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.diagnostics.codes import find_code
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Report, Subject, is_tool_bug
from verifier.formats import Subject as ReadSubject
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.render.concise import render_concise
from verifier.render.json_hub import render_json
from verifier.render.json_reading import read_report
from verifier.render.text import render_text

SETTINGS = Settings(budget=Budget().scaled(1 / 50))
MOST_WALKED = 2_000
"""Elements, cells and visits of maps that are walked."""


def one_input(data: bytes) -> None:
    """Read, judge and draw one document.

    Raises:
        Fault: a message that is not as it should be, or an answer that the walk contradicts. Whatever else
            comes out of the verifier is a fault, too.
    """
    document = document_from(BytesRandom(data))
    with stored(document.data, ".json") as path:
        audited = audit_path(path, SETTINGS)
    demand(audited.subjects, "no word on a document")
    _check_drawings(audited)
    for subject in audited.subjects:
        for found in subject.findings:
            _check_finding(found)
    if document.case is not None:
        _check_reading(document.case, audited)
    if audited.document is not None:
        for read, subject in zip(audited.document.subjects, audited.subjects, strict=False):
            _check_answer(read, subject)


@contextmanager
def stored(data: bytes, suffix: str) -> Iterator[Path]:
    """The bytes as a file; each under a name of its own, for texts of files are remembered by name."""
    with NamedTemporaryFile(suffix=suffix) as file:
        file.write(data)
        file.flush()
        yield Path(file.name)


def _check_reading(case: Case, audited: Audited) -> None:
    """A document that was not edited is read as the map it was written from."""
    if not all(isinstance(piece.scale, Fraction) for _, _, piece in case.shard_map.pieces()):
        return  # JSON has no infinite scales
    read = () if audited.document is None else audited.document.subjects
    written = map_document(case.shard_map)
    demand(written in [map_document(subject.shard_map) for subject in read], "read otherwise: {}", written)


def _check_drawings(audited: Audited) -> None:
    report = Report(tool=tool_versions(), subjects=audited.subjects, unchecked=audited.unchecked)
    text, concise, hub = render_text(report), render_concise(report), render_json(report)
    demand(
        all(line.isprintable() for line in (text + concise + hub).split("\n")),
        "a message that is not printable",
    )
    demand(render_text(read_report(hub)) == text, "the text of the stored report is another")


def _check_finding(found: Finding) -> None:
    """A code that is explained and no bug of ours, in words, with a place."""
    demand(find_code(found.code) and not is_tool_bug(found), "{}: {}", found.code, found.headline)
    demand(
        found.headline.isprintable() and found.concise.isprintable(), "{}: {!a}", found.code, found.headline
    )
    demand(found.place is not None, "{} without a place: {}", found.code, found.headline)


def _check_answer(read: ReadSubject, subject: Subject) -> None:
    """The verdict, and all that is said of addresses, is what a walk of the map finds."""
    shard_map, expectation = read.shard_map, read.expectation
    if not is_small(shard_map, expectation):
        return
    judgement = judge(shard_map, expectation, SETTINGS.answering())
    demand(judgement.verdict == subject.outcome, "two verdicts on {}", shard_map)
    for words in disagreements(walk(shard_map, expectation), judgement, shard_map, expectation):
        raise Fault(f"{words}; {shard_map}, {expectation}")


def is_small(shard_map: ShardMap, expectation: Expectation) -> bool:
    """Whether a walk of the map, and of its reference, is quick."""
    maps = [shard_map] if expectation.reference is None else [shard_map, expectation.reference]
    sizes = [m.logical_shape for m in maps] + [s.shard_shape for m in maps for s in m.ranks.values()]
    sizes += [piece.shape for m in maps for _, _, piece in m.pieces()]
    return sum(map(math.prod, sizes)) <= MOST_WALKED
