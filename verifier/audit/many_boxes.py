"""A parameter of very many boxes, judged in columns; what is wrong with it is told on the few boxes around.

Theory: T23.
"""

from __future__ import annotations

from collections.abc import Sequence

from verifier.audit.boxes import outside_fault
from verifier.audit.check import Settings, findings_of, verdict_word
from verifier.audit.families import EXPECTED, PIECES
from verifier.audit.judge import refutes
from verifier.audit.proofs import Proofs
from verifier.certificates.check_boxes import Rejected, TooLarge, check_tiled
from verifier.certificates.encode_boxes import BoxCertificate
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Obligations, Subject, SubjectVerdict
from verifier.diagnostics.wording import plural
from verifier.engines.bulk import (
    BoxAnswer,
    Outside,
    Overlap,
    Tiled,
    Uncovered,
    decide_boxes,
)
from verifier.engines.bulk import Undecided as Unsettled
from verifier.geometry.strided import row_major
from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.obligations.faults import Fault, Visit
from verifier.verdicts import ProvedTiled, Refuted, Undecided, Verdict

ENGINE = "bulk"
PARAMETER = "parameter side"
AROUND = 8
"""Elements on each side of the witness whose boxes are told about."""
MOST_TOLD = 64


def check_many(
    boxes: BoxMap, found: Sequence[Fault], settings: Settings, proofs: Proofs | None = None
) -> Subject:
    """One parameter of many boxes, as a subject of a report. ``found`` are faults its reader knows of."""
    is_known = proofs is not None and proofs.is_tiled(boxes)
    answer: BoxAnswer = Tiled(BoxCertificate(boxes)) if is_known else decide_boxes(boxes, settings.budget)
    told: tuple[int, ...] = ()
    faults: list[Fault] = []
    match answer:
        case Tiled():
            faults += _unconfirmed(boxes) if settings.self_check and not is_known else []
            if proofs is not None and settings.self_check and not faults:
                proofs.keep_tiled(boxes)
        case Outside(box, axis, count, _):
            faults.append(outside_fault(boxes, box, axis, count))
            told = (box,)
        case Overlap() | Uncovered():
            faults.append(_misplaced(boxes, answer))
            told = _around(boxes, faults[0])
        case Unsettled(code, reason):
            values = {"obligation": "parameter", "reason": reason}
            faults.append(Fault(code=code, side="map", values=values, undecided=True))
    everything = (*faults, *found)
    outcome = _outcome(answer, everything)
    verdict = verdict_word(outcome)
    families = _families(verdict, answer, len(found))
    return Subject(
        name=boxes.name,
        kind="map",
        verdict=verdict,
        place=None if boxes.origin is None else Place(boxes.origin.file, boxes.origin.pointer),
        obligations=sum(families.values(), Obligations()),
        families=families,
        answered_by={ENGINE: 1},
        contents={plural(boxes.holder): boxes.count},
        findings=findings_of(boxes.to_shard_map(told), Expectation(), everything),
        outcome=outcome if proofs is None or proofs.outcomes else None,
    )


def _outcome(answer: BoxAnswer, faults: tuple[Fault, ...]) -> Verdict | ProvedTiled:
    """Proved only without any fault: also one of the reader, of the checker or of a budget is in the way."""
    witness = next(filter(refutes, faults), None)
    if witness is not None:
        return Refuted(witness, faults)
    if isinstance(answer, Tiled) and not faults:
        return ProvedTiled(answer.evidence)
    return Undecided(str(faults[0].values.get("reason", "")), faults)


def _misplaced(boxes: BoxMap, answer: Overlap | Uncovered) -> Fault:
    strides = row_major(boxes.logical_shape)
    if answer.element is None:
        reason = f"{ENGINE} refutes it without a place: elements are left over"
        return Fault(code="SM301", side="map", values={"obligation": "parameter", "reason": reason})
    address = sum(i * s for i, s in zip(answer.element, strides, strict=True))
    if isinstance(answer, Uncovered):
        return Fault(code="SM301", side="parameter", address=address, count=answer.count)
    visits = [
        Visit(box, 0, tuple(i - o for i, o in zip(answer.element, boxes.box(box)[0], strict=True)))
        for box in (answer.first, answer.second)
    ]
    also = answer.uncovered
    return Fault(
        code="SM403",
        side="parameter",
        pieces=((answer.first, 0), (answer.second, 0)),
        address=address,
        visits=tuple(visits),
        count=answer.count,
        values={"declared": (answer.first,), "holders": (answer.first, answer.second)},
        consequences=() if also is None else (_misplaced(boxes, also),),
    )


def _around(boxes: BoxMap, fault: Fault) -> tuple[int, ...]:
    """The boxes of a fault, and those that hold elements near it."""
    if fault.address is None:
        return ()
    named = [rank for rank, _ in fault.pieces]
    element: list[int] = []
    rest = fault.address
    for stride in row_major(boxes.logical_shape):
        element.append(rest // stride if stride else 0)
        rest %= stride or 1
    near: list[int] = []
    for position in range(boxes.count):
        offsets, sizes = boxes.box(position)
        if all(
            o - AROUND <= e < o + s + AROUND and s for e, o, s in zip(element, offsets, sizes, strict=True)
        ):
            near.append(position)
            if len(near) == MOST_TOLD:
                break
    return tuple(dict.fromkeys([*named, *near]))


def _unconfirmed(boxes: BoxMap) -> list[Fault]:
    """Nothing when the independent checker accepts; a bug of ours (TB102) when it does not."""
    try:
        check_tiled(boxes.logical_shape, boxes.count, boxes.offsets, boxes.sizes)
    except TooLarge as large:
        reason = f"the independent checker gave up: {large}"
        return [
            Fault(
                code="SM902",
                side="map",
                values={"obligation": "the certificate", "reason": reason},
                undecided=True,
            )
        ]
    except Rejected as rejected:
        return [Fault(code="TB102", side="map", values={"reason": str(rejected)})]
    return []


def _families(verdict: SubjectVerdict, answer: BoxAnswer, known: int) -> dict[str, Obligations]:
    """Inside in each dimension, and each element once; and the faults that were known before."""
    found: dict[str, Obligations] = {}
    match verdict:
        case "proved":
            found = {PIECES: Obligations(proved=1), PARAMETER: Obligations(proved=1)}
        case "refuted" if isinstance(answer, Outside):
            found = {PIECES: Obligations(refuted=1)}
        case "refuted" if isinstance(answer, Tiled):
            found = {PIECES: Obligations(proved=1), PARAMETER: Obligations(proved=1)}
        case "refuted":
            found = {PIECES: Obligations(proved=1), PARAMETER: Obligations(refuted=1)}
        case _:
            found = {PARAMETER: Obligations(undecided=1)}
    return found | ({EXPECTED: Obligations(refuted=known)} if known else {})
