"""Holding a checkpoint against another one, or a layout that was proved: same name, same function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from verifier.formats import BoxSubject, Document, Subject
from verifier.formats.reading.refusal import shown
from verifier.formats.reading.stated_shapes import PLAIN
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault, Value

NAMES_SHOWN = 4
NO_REFERENCE = "whether it is the intended layout (no --reference)"
"""What a proof without a reference leaves open: a perfect tiling can be the wrong function."""
NOT_THERE = "the reference has no parameter"

Maps = Mapping[str, ShardMap]


def counterparts(here: Sequence[str], there: Sequence[str]) -> dict[str, str]:
    """Which name of one side goes with which of the other: equal names, and single maps whatever their names.

    A map that is alone in its file is often named after it.
    """
    if len(here) == len(there) == 1:
        return {here[0]: there[0]}
    others = frozenset(there)
    return {name: name for name in here if name in others}


def matched(document: Document, references: Maps) -> dict[str, str]:
    """The reference, by name, that each map of a document has."""
    boxes = [subject.boxes.name for subject in document.boxes if subject.is_parameter]
    return counterparts([*(subject.name for subject in document.subjects), *boxes], list(references))


def left_open(document: Document, references: Maps | None) -> tuple[str, ...]:
    """What is not checked of a document with proved maps.

    A checkpoint states its layout; the map is all that a plain document has.
    """
    plain = document.kind in PLAIN and references is None
    intended = all(subject.expectation.reference is not None for subject in document.subjects)
    return (*document.unchecked, NO_REFERENCE) if plain and not intended else document.unchecked


def with_references(document: Document, references: Maps) -> Document:
    """The document with each map expected to be the function of its reference (SM501).

    A map with a reference of its own keeps it. Where blocks have no ranks the reference only states the full
    shape. Parameters that one side does not have are faults (SM502); plain documents are asked for what they
    do not have together (``Together``).
    """
    pairs = matched(document, references)
    subjects = tuple(_expected(subject, references, pairs) for subject in document.subjects)
    boxes = tuple(_shaped(subject, references, pairs) for subject in document.boxes)
    absent = [name for name in references if name not in pairs.values()] if document.kind not in PLAIN else []
    return replace(
        document,
        subjects=subjects,
        boxes=boxes,
        faults=(*document.faults, *lacking(absent, "this document has no parameter")),
    )


def _expected(subject: Subject, references: Maps, pairs: Mapping[str, str]) -> Subject:
    if subject.name not in pairs:
        return replace(subject, faults=(*subject.faults, *lacking([subject.name], NOT_THERE)))
    if subject.expectation.reference is not None:
        return subject
    reference = references[pairs[subject.name]]
    return replace(subject, expectation=replace(subject.expectation, reference=reference))


def _shaped(subject: BoxSubject, references: Maps, pairs: Mapping[str, str]) -> BoxSubject:
    if not subject.is_parameter:
        return subject
    name = subject.boxes.name
    if name not in pairs:
        return replace(subject, faults=(*subject.faults, *lacking([name], NOT_THERE)))
    return replace(subject, faults=(*subject.faults, *_other_shape(subject, references[pairs[name]])))


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


def lacking(names: Sequence[str], who: str) -> list[Fault]:
    """SM502 for parameters that one side lacks; ``who`` begins: "this document has no parameter"."""
    if not names:
        return []
    some = ", ".join(shown(name) for name in names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return [Fault(code="SM502", side="map", values={"reason": f"{who} {some}{more}"})]
