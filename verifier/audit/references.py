"""Holding a checkpoint against another one, or a layout that was proved: same name, same function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from verifier.formats import BoxSubject, Document, Subject
from verifier.formats.reading.refusal import shown
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault, Value

NAMES_SHOWN = 4

Maps = Mapping[str, ShardMap]


def with_references(document: Document, references: Maps) -> Document:
    """The document with each map expected to be the function of the reference of its name (SM501).

    A map with a reference of its own keeps it. Where blocks have no ranks the reference only states the full
    shape. Parameters that one side does not have are faults (SM502).
    """
    subjects = tuple(_expected(subject, references) for subject in document.subjects)
    boxes = tuple(_shaped(subject, references) for subject in document.boxes)
    names = {subject.name for subject in subjects} | {subject.boxes.name for subject in boxes}
    lacking = [name for name in references if name not in names]
    return replace(
        document,
        subjects=subjects,
        boxes=boxes,
        faults=(*document.faults, *_lacking(lacking, "this document")),
    )


def _expected(subject: Subject, references: Maps) -> Subject:
    reference = references.get(subject.name)
    if reference is None:
        return replace(subject, faults=(*subject.faults, *_lacking([subject.name], "the reference")))
    if subject.expectation.reference is not None:
        return subject
    return replace(subject, expectation=replace(subject.expectation, reference=reference))


def _shaped(subject: BoxSubject, references: Maps) -> BoxSubject:
    if not subject.is_parameter:
        return subject
    reference = references.get(subject.boxes.name)
    if reference is None:
        faults = (*subject.faults, *_lacking([subject.boxes.name], "the reference"))
        return replace(subject, faults=faults)
    return replace(subject, faults=(*subject.faults, *_other_shape(subject, reference)))


def _other_shape(subject: BoxSubject, reference: ShardMap) -> list[Fault]:
    """SM501 for a parameter of another full shape."""
    here, there = subject.boxes.logical_shape, reference.logical_shape
    if here == there:
        return []
    values: dict[str, Value] = {
        "here": f"logical_shape {list(here)}",
        "there": f"logical_shape {list(there)}",
    }
    return [Fault(code="SM501", side="map", values=values)]


def _lacking(names: list[str], who: str) -> list[Fault]:
    if not names:
        return []
    some = ", ".join(shown(name) for name in names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    reason = f"{who} has no parameter {some}{more}"
    return [Fault(code="SM502", side="map", values={"reason": reason})]
