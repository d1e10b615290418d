"""What a reader makes of a changed document: it refuses, reads the same as before, or reads another map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.engines.registry import engine_named
from verifier.formats import Document, FormatError, Limits
from verifier.formats.maps.map_json import read_json
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

Outcome = Literal["refused", "equal", "judged"]
HERE = Origin("document.json")
BUDGET = Budget(search_nodes=20_000, addresses=100_000, isl_operations=3_000, z3_rlimit=100_000)
"""Small: what is looked for is a reader or judge that fails, not an answer."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal: its code and where."""

    code: str
    origin: Origin
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a document.

    Attributes:
        outcome: "refused" where any part of it was refused; "equal" where it says what the original says;
            "judged" where it says something else, which was judged without an accident.
        refused: every refusal, in the order of the document.
    """

    outcome: Outcome
    refused: tuple[Refused, ...] = ()


def reading(data: bytes, original: bytes) -> Reading:
    """What a reader makes of ``data``, compared with what it makes of ``original``."""
    try:
        document = read_json(data, "document", HERE, Limits())
    except FormatError as error:
        return Reading("refused", (Refused(error.code, error.origin, error.line),))
    refused = tuple([Refused(refusal.code, refusal.origin) for refusal in document.refusals])
    if _content(document) == _content(read_json(original, "document", HERE, Limits())):
        return Reading("equal")
    answering = Answering(engine_named("auto"), BUDGET)
    for subject in document.subjects:
        judge(subject.shard_map, subject.expectation, answering, found=subject.faults)
    return Reading("refused" if refused else "judged", refused)


def _content(document: Document) -> object:
    """What a document says, wherever it stands in the text."""
    subjects = [(s.name, _placeless(s.shard_map), _demands(s.expectation)) for s in document.subjects]
    return document.kind, subjects, document.refusals, document.expect


def _placeless(shard_map: ShardMap) -> ShardMap:
    return replace(shard_map, origin=None)


def _demands(expectation: Expectation) -> Expectation:
    reference = expectation.reference
    return expectation if reference is None else replace(expectation, reference=_placeless(reference))
