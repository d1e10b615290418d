"""Are two maps the same function, however their pieces are cut?

Theory: T5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verifier.answers import Holds
from verifier.audit.answering import Answering
from verifier.budget import Budget
from verifier.certificates.encode import Certificate
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap
from verifier.obligations.expectations import function_obligations, same_frame
from verifier.obligations.faults import Fault
from verifier.verdicts import Proved, Refuted, Undecided, Verdict


def compare(here: ShardMap, there: ShardMap, answering: Answering) -> Verdict:
    """Proved when both cut the parameter alike; Refuted with the first element they treat differently.

    Whether either map is sound by itself is not asked.
    """
    frame = same_frame(here, there)
    if frame is not None:
        return Refuted(frame, (frame,))
    expectation = Expectation(reference=there)
    answered = list(answering.answer_all(function_obligations(here, there)))
    failed = [item for item in answered if not isinstance(item.answer, Holds) or item.disagreements]
    faults: list[Fault] = []
    if failed:
        from verifier.audit.diagnose import Diagnosis  # a proof needs no diagnosis

        diagnosis = Diagnosis(here, expectation)
        faults += [fault for item in failed for fault in diagnosis.faults(item)]
    evidence = {item.obligation.name: item.answer.form for item in answered if isinstance(item.answer, Holds)}
    refuted = [fault for fault in faults if not fault.undecided]
    if refuted:
        return Refuted(refuted[0], tuple(faults))
    if faults:
        return Undecided(str(faults[0].values["reason"]), tuple(faults))
    return Proved(Certificate(here, expectation, evidence))


def same_function(here: ShardMap, there: ShardMap) -> Verdict:
    """``compare`` with the portfolio of engines and the default budget."""
    return compare(here, there, Answering(engine_named("auto"), Budget()))


def witness_faults(
    shard_map: ShardMap, witnesses: Sequence[tuple[str, ShardMap]], answering: Answering
) -> list[Fault]:
    """Independent descriptions of the same parameter that are another function (SM507).

    They know nothing of scales, so these are left out of the comparison.
    """
    faults: list[Fault] = []
    for label, witness in witnesses:
        verdict = compare(_unscaled(shard_map), witness, answering)
        if isinstance(verdict, Refuted):
            found = verdict.witness
            values = {
                "descriptor": label,
                "stated": str(found.values.get("there", "")),
                "found": str(found.values.get("here", "")),
            }
            faults.append(replace(found, code="SM507", values=values))
        elif isinstance(verdict, Undecided):
            faults += verdict.faults
    return faults


def _unscaled(shard_map: ShardMap) -> ShardMap:
    return replace(
        shard_map,
        ranks={
            rank: replace(shard, pieces=tuple([replace(piece, scale=ONE) for piece in shard.pieces]))
            for rank, shard in shard_map.ranks.items()
        },
    )
