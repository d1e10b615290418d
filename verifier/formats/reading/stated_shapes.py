"""Full shapes that somebody else states, held against what is read: ``--expect-shapes``."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from verifier.formats.reading.document import BoxSubject, Document, Subject
from verifier.formats.reading.gathered import set_fault
from verifier.formats.reading.refusal import shown, some
from verifier.obligations.faults import Fault

Shapes = Mapping[str, tuple[int, ...]]

PLAIN = frozenset({"map", "case", "affine-json", "map+safetensors"})
"""Documents of maps that lie beside each other: what one does not have another may."""


def other_shape(
    name: str, shape: tuple[int, ...], shapes: Shapes | None, descriptor: str = "the file of expected shapes"
) -> list[Fault]:
    """SM507 where a parameter has another shape than the stated one."""
    stated = None if shapes is None else shapes.get(name)
    if stated is None or stated == shape:
        return []
    return [
        Fault(code="SM507", side="map", values={"descriptor": descriptor, "stated": stated, "found": shape})
    ]


def unstored_fault(shapes: Iterable[str] | None, stored: Container[str]) -> list[Fault]:
    """CK111 for the first parameter that should be there and is in no file; counts all."""
    absent = [name for name in shapes or () if name not in stored]
    if not absent:
        return []
    return [
        set_fault(
            "CK111",
            f"the tensor {shown(absent[0])}",
            "is in no file",
            stated="the expected shapes name it",
            number=len(absent),
        )
    ]


def with_stated_shapes(document: Document, shapes: Shapes) -> Document:
    """The document with each map and parameter expected to have its stated shape.

    Which of them are not there is for others to say of plain documents (``PLAIN``), which are taken together;
    of the rest nobody knows whether it should have a map of each.
    """
    document = replace(
        document,
        subjects=tuple([_expected(subject, shapes) for subject in document.subjects]),
        boxes=tuple([_shaped(subject, shapes) for subject in document.boxes]),
    )
    absent = [name for name in shapes if name not in document.names]
    if document.kind in PLAIN or not absent:
        return document
    note = f"expected parameters of which no map is here ({len(absent)}): {some(absent)}"
    return replace(document, unchecked=(*document.unchecked, note))


def _expected(subject: Subject, shapes: Shapes) -> Subject:
    faults = other_shape(subject.name, subject.shard_map.logical_shape, shapes)
    return replace(subject, faults=(*subject.faults, *faults)) if faults else subject


def _shaped(subject: BoxSubject, shapes: Shapes) -> BoxSubject:
    if not subject.is_parameter or subject.expected_shape is not None:
        return subject
    return replace(subject, expected_shape=shapes.get(subject.boxes.name))
