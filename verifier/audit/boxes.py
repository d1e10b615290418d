"""A parameter that is stored as boxes, judged: each box inside it in every dimension, all of it covered once.

Few boxes go through the prover of shard maps, which knows least elements and draws pictures; many go through
the engine for columns, and come back here only where something is wrong. Theory: T2, T3.
"""

from __future__ import annotations

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject, findings_of
from verifier.audit.families import EXPECTED, PIECES
from verifier.audit.proofs import Proofs
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Obligations, Subject
from verifier.diagnostics.snippets import Locate
from verifier.diagnostics.wording import plural
from verifier.formats import BoxSubject
from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.obligations.faults import Count, Fault, Value

FEW = 64
"""Up to as many boxes are judged one object each."""
MOST_TOLD = 2048
"""Up to as many boxes are told about one object each, where something is wrong."""

SOUND = Expectation()


def check_boxes(
    subject: BoxSubject,
    settings: Settings,
    answering: Answering,
    *,
    locate: Locate | None = None,
    proofs: Proofs | None = None,
) -> Subject:
    """One parameter that is stored as boxes, as a subject of a report."""
    boxes = subject.boxes
    found = [*subject.faults, *_other_shape(subject)]
    if boxes.count > FEW:
        from verifier.audit.many_boxes import check_many  # imports numpy

        judged = check_many(boxes, found, settings, proofs)
        if judged.verdict == "proved" or boxes.count > MOST_TOLD:
            return judged
    outside = _outside(boxes)
    if outside is None:
        return check_subject(
            boxes.to_shard_map(), SOUND, settings, answering, found=found, locate=locate, proofs=proofs
        )
    faults = [outside, *found]
    families = {PIECES: Obligations(refuted=1), EXPECTED: Obligations(refuted=len(found))}
    return Subject(
        name=boxes.name,
        kind="map",
        verdict="refuted",
        place=None if boxes.origin is None else Place(boxes.origin.file, boxes.origin.pointer),
        obligations=Obligations(refuted=len(faults)),
        families=families,
        contents={plural(boxes.holder): boxes.count},
        findings=findings_of(boxes.to_shard_map(), SOUND, faults, locate=locate),
    )


def _outside(boxes: BoxMap) -> Fault | None:
    """CK108 for the first box that leaves the parameter along a dimension; counts all of them.

    An empty box must not begin past the end either: no writer puts it there.
    """
    wrong = [position for position in range(boxes.count) if _leaves(boxes, position) is not None]
    if not wrong:
        return None
    return outside_fault(boxes, wrong[0], _leaves(boxes, wrong[0]) or 0, len(wrong))


def outside_fault(boxes: BoxMap, position: int, axis: int, count: int) -> Fault:
    """CK108: a box leaves the parameter along ``axis``; ``count`` boxes do."""
    offsets, sizes = boxes.box(position)
    return Fault(
        code="CK108",
        side="map",
        rank=position,
        pieces=((position, 0),),
        count=Count(count, exact=True),
        values={
            "what": f"{boxes.holder} {position} at {list(offsets)} of size {list(sizes)}",
            "found": f"reaches {offsets[axis]} to {offsets[axis] + sizes[axis]} in dimension {axis}",
            "stated": f"the tensor ends at {boxes.logical_shape[axis]}",
            "axis": axis,
        },
    )


def _leaves(boxes: BoxMap, position: int) -> int | None:
    """The first dimension along which a box is not inside, None when it is inside."""
    offsets, sizes = boxes.box(position)
    for axis, (offset, size, extent) in enumerate(zip(offsets, sizes, boxes.logical_shape, strict=True)):
        if offset < 0 or offset + size > extent:
            return axis
    return None


def _other_shape(subject: BoxSubject) -> list[Fault]:
    stated = subject.expected_shape
    if stated is None or stated == subject.boxes.logical_shape:
        return []
    values: dict[str, Value] = {
        "descriptor": "the file of expected shapes",
        "stated": stated,
        "found": subject.boxes.logical_shape,
    }
    return [Fault(code="SM507", side="map", values=values)]
