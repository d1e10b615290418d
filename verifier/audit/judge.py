"""The verdict on one map: direct rules, questions to the engines, faults by cause, and the certificate.

Theory: T10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from verifier.answers import Fails, Holds
from verifier.audit.answering import Answered, Answering
from verifier.audit.causes import by_cause
from verifier.audit.families import EXPECTED, by_family
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Form, SolverClaim
from verifier.diagnostics.report import Obligations
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.catalogue import basic_obligations
from verifier.obligations.expectations import (
    same_frame,
    scale_faults,
    unit_obligations,
    writer_faults,
)
from verifier.obligations.faults import Fault
from verifier.obligations.lints import lints
from verifier.obligations.piece_rules import RULES, misplaced_reference, piece_faults
from verifier.verdicts import Proved, Refuted, Undecided, Verdict

_EXPECTED_FAMILIES = frozenset({"reference", "unit"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a map with what led to it.

    Attributes:
        verdict: Proved, Refuted or Undecided.
        faults: by cause, in the order of the catalogue; empty when proved.
        warnings: lints; only of maps that were not refuted.
        proved: obligations that hold, the direct rules counted one each.
        refuted: obligations that fail.
        undecided: obligations left open.
        answered_by: obligations per engine.
        families: the obligations by family.
    """

    verdict: Verdict
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    proved: int
    refuted: int
    undecided: int
    answered_by: dict[str, int]
    families: Mapping[str, Obligations] = field(default_factory=dict)

    def doubted(self, doubts: Sequence[Fault]) -> Judgement:
        """The same after ``doubts``: faults of the tool, or a checker's limit, that leave it unconfirmed.

        Of a proof nothing stands then: every obligation is open. A refutation rests on its witness.
        """
        if not doubts:
            return self
        faults = (*self.faults, *doubts)
        if not isinstance(self.verdict, Proved):
            return replace(self, faults=faults)
        return replace(
            self,
            verdict=_undecided(faults),
            faults=faults,
            proved=0,
            undecided=self.proved,
            families={name: Obligations(undecided=one.total) for name, one in self.families.items()},
        )

    def strictly(self) -> Judgement:
        """The same where canonical form is demanded: each lint is a demand that is not met."""
        if not self.warnings:
            return self
        unmet = Obligations(refuted=len(self.warnings))
        return replace(
            self,
            verdict=Refuted(self.warnings[0], (*self.faults, *self.warnings)),
            refuted=self.refuted + unmet.refuted,
            families={**self.families, EXPECTED: self.families.get(EXPECTED, Obligations()) + unmet},
        )


def judge(
    shard_map: ShardMap, expectation: Expectation, answering: Answering, *, found: Sequence[Fault] = ()
) -> Judgement:
    """Decide every obligation of a map.

    ``found`` are faults that its reader knows of because other parts of the document say something else.
    """
    direct = list(piece_faults(shard_map, expectation))
    asked = [*found, *_expected_directly(shard_map, expectation)]
    answered = list(answering.answer_all(basic_obligations(shard_map, expectation)))
    if not direct and all(isinstance(item.answer, Holds) for item in answered):
        answered += answering.answer_all(unit_obligations(shard_map, expectation))
    failed = [item for item in answered if not isinstance(item.answer, Holds) or item.disagreements]
    structural, expected = _diagnosed(shard_map, expectation, failed)
    faults = by_cause(direct, structural, [*asked, *expected])
    verdict = _verdict(shard_map, expectation, answered, faults)
    # What fails is open where nothing is refuted: a unit with one writer that is not written as a whole.
    families = _families(answered, direct, asked, left_open=isinstance(verdict, Undecided))
    counts = sum(families.values(), Obligations())
    return Judgement(
        verdict,
        faults,
        () if isinstance(verdict, Refuted) else tuple(lints(shard_map)),
        proved=counts.proved,
        refuted=counts.refuted,
        undecided=counts.undecided,
        answered_by=dict(sorted(Counter(a.answer.engine for a in answered).items())),
        families=families,
    )


def _families(
    answered: Sequence[Answered], direct: Sequence[Fault], asked: Sequence[Fault], *, left_open: bool
) -> dict[str, Obligations]:
    """The obligations by family. ``left_open``: what fails is undecided, because nothing is refuted."""
    wrong = {fault.code for fault in direct if not fault.undecided}
    unmet = {fault.code for fault in asked if not fault.undecided} - wrong
    broken = min(len(wrong) + len(unmet), len(RULES))
    return by_family(
        [(item.obligation.family, _counted(item, left_open)) for item in answered],
        pieces=Obligations(proved=len(RULES) - broken, refuted=len(wrong)),
        expected=Obligations(refuted=broken - len(wrong), undecided=sum(fault.undecided for fault in asked)),
    )


def _counted(item: Answered, left_open: bool) -> Obligations:
    match item.answer:
        case Holds() if not item.disagreements:
            return Obligations(proved=1)
        case Fails() if not left_open:
            return Obligations(refuted=1)
        case _:
            return Obligations(undecided=1)


def _diagnosed(
    shard_map: ShardMap, expectation: Expectation, failed: Sequence[Answered]
) -> tuple[list[Fault], list[Fault]]:
    """The faults of failed obligations: those of the map itself, and those of what is expected of it."""
    structural: list[Fault] = []
    expected: list[Fault] = []
    if failed:
        from verifier.audit.diagnose import Diagnosis  # a proof needs no diagnosis

        diagnosis = Diagnosis(shard_map, expectation)
        for item in failed:
            target = expected if item.obligation.family in _EXPECTED_FAMILIES else structural
            target += diagnosis.faults(item)
    return structural, expected


def _expected_directly(shard_map: ShardMap, expectation: Expectation) -> list[Fault]:
    """Demands of the expectation that need no engine."""
    faults = [*scale_faults(shard_map, expectation), *writer_faults(shard_map, expectation)]
    if expectation.reference is not None:
        frame = same_frame(shard_map, expectation.reference)
        faults += [frame] if frame is not None else misplaced_reference(expectation.reference)
    return faults


def _verdict(
    shard_map: ShardMap, expectation: Expectation, answered: Sequence[Answered], faults: tuple[Fault, ...]
) -> Verdict:
    witness = next(filter(refutes, faults), None)
    if witness is not None:
        return Refuted(witness, faults)
    if faults:
        return _undecided(faults)
    evidence: dict[str, Form] = {}
    for item in answered:
        if not isinstance(item.answer, Holds):
            raise RuntimeError(f"{item.obligation.name} did not hold and left no fault")
        if not isinstance(evidence.get(item.obligation.name), SolverClaim):  # one name, several scales
            evidence[item.obligation.name] = item.answer.form
    return Proved(Certificate(shard_map, expectation, evidence))


def refutes(fault: Fault) -> bool:
    """Whether a fault is certain, and one of its subject: bugs of ours (TB1xx) say nothing of subjects."""
    return not fault.undecided and not fault.code.startswith("TB")


def _undecided(faults: tuple[Fault, ...]) -> Undecided:
    return Undecided(str(faults[0].values.get("reason", "")), faults)
