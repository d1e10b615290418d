"""What a reader hands on: the maps of one document, what was refused in it, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from verifier.formats.reading.refusal import FormatError
from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault

CaseVerdict = Literal["proved", "refuted", "undecided", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One map to check.

    Attributes:
        name: parameter name, case name or file stem.
        origin: place of the map in its document.
        shard_map: the map itself.
        expectation: demands beyond soundness that came with it.
        faults: what the reader found by comparing the map with its surroundings: SM507 for a descriptor that
            disagrees, SM204 for a stored tensor of another size.
        witnesses: (label, map) of independent descriptions of the same parameter; each must be the same
            function as ``shard_map``. Their ``locations`` are derived, not read.
    """

    name: str
    origin: Origin
    shard_map: ShardMap
    expectation: Expectation
    faults: tuple[Fault, ...] = ()
    witnesses: tuple[tuple[str, ShardMap], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSubject:
    """One parameter that is stored as boxes.

    Attributes:
        boxes: the boxes; each must be inside the parameter, and together they must be all of it, once.
        faults: what the reader found by comparing them with their surroundings.
        expected_shape: the full shape that somebody else stated for the parameter; None when nobody did.
        is_parameter: False for other addresses that are cut into ranges, such as the bytes of a file.
    """

    boxes: BoxMap
    faults: tuple[Fault, ...] = ()
    expected_shape: tuple[int, ...] | None = None
    is_parameter: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One part of a document that could not be read; the other parts are not hidden by it."""

    name: str
    origin: Origin
    code: str
    message: str
    help: str

    @classmethod
    def of(cls, name: str, error: FormatError) -> Refusal:
        """The refusal that an error amounts to."""
        return cls(name=name, origin=error.origin, code=error.code, message=error.message, help=error.help)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseExpect:
    """The right answer to a case.

    Attributes:
        verdict: the answer.
        codes: the primary finding has one of these codes; empty when proved.
        structural_verdict: the answer without the case's expectation, None when the case does not say.
    """

    verdict: CaseVerdict
    codes: tuple[str, ...]
    structural_verdict: CaseVerdict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything read from one file or checkpoint directory.

    Attributes:
        file: the path as people typed it.
        kind: name of its format.
        subjects: the maps, in the order of the document.
        boxes: the parameters stored as boxes, in the order of the document.
        refusals: the parts that could not be read.
        faults: faults of the file set as a whole: CK101 for a missing file, SM507 for files that disagree.
        remarks: faults that are only warnings (CK2xx).
        checks: how many statements about the file set hold, by a plural noun, e.g. {"byte ranges": 12}.
        unchecked: what a reader might expect to be covered and is not, one line each.
        expect: the right answer, for case files.
    """

    file: str
    kind: str
    subjects: tuple[Subject, ...] = ()
    boxes: tuple[BoxSubject, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    faults: tuple[Fault, ...] = ()
    remarks: tuple[Fault, ...] = ()
    checks: Mapping[str, int] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    expect: CaseExpect | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names of its parameters, those of parts that could not be read among them."""
        return frozenset(
            [
                *[subject.name for subject in self.subjects],
                *[subject.boxes.name for subject in self.boxes if subject.is_parameter],
                *[refusal.name for refusal in self.refusals],
            ]
        )

    @property
    def maps(self) -> tuple[ShardMap, ...]:
        """The map of every parameter, those of boxes with one holder for each box."""
        return (
            *[subject.shard_map for subject in self.subjects],
            *[subject.boxes.to_shard_map() for subject in self.boxes if subject.is_parameter],
        )
