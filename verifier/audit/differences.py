"""Maps of two documents compared as functions, matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, findings_of, tool_versions, verdict_word
from verifier.audit.compare import compare
from verifier.audit.entries import locate
from verifier.audit.references import counterparts
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.verdicts import Proved, Refuted, Undecided

A, B = "A", "B"
"""What the two documents are called, as in the usage of the command: findings hold no names of files."""


def diff_documents(here: Sequence[ShardMap], there: Sequence[ShardMap]) -> Report:
    """Maps compared as functions, matched by name; single maps are compared whatever their names.

    A name that only one side has is a refutation (SM502).
    """
    answering = Settings().answering()
    others = {shard_map.name: shard_map for shard_map in there}
    pairs = counterparts([m.name for m in here], [m.name for m in there])
    subjects = [_compared(m.name, m, others[pairs[m.name]], answering) for m in here if m.name in pairs]
    subjects += [_unmatched(m, B) for m in here if m.name not in pairs]
    subjects += [_unmatched(m, A) for m in there if m.name not in pairs.values()]
    return Report(tool=tool_versions(), subjects=tuple(subjects))


def _compared(name: str, here: ShardMap, there: ShardMap, answering: Answering) -> Subject:
    verdict = compare(here, there, answering)
    faults = () if isinstance(verdict, Proved) else verdict.faults
    named = [replace(fault, values={**fault.values, "between": (A, B)}) for fault in faults]
    return Subject(
        name=name,
        kind="pair",
        verdict=verdict_word(verdict),
        outcome=verdict,
        place=None if here.origin is None else Place(here.origin.file, here.origin.pointer),
        obligations=Obligations(
            proved=int(isinstance(verdict, Proved)),
            refuted=int(isinstance(verdict, Refuted)),
            undecided=int(isinstance(verdict, Undecided)),
        ),
        findings=findings_of(here, Expectation(reference=there), named, locate=locate),
    )


def _unmatched(shard_map: ShardMap, lacking: str) -> Subject:
    """A map of one document, whose name the other one does not have."""
    has = B if lacking == A else A
    reason = f"{lacking} has no map of this name, {has} has one"
    fault = Fault(code="SM502", side="map", values={"reason": reason})
    return Subject(
        name=shard_map.name,
        kind="pair",
        verdict="refuted",
        obligations=Obligations(refuted=1),
        findings=findings_of(shard_map, Expectation(), (fault,), locate=locate),
    )
