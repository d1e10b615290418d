"""From a map to a report: judge it, word its faults, check its certificate, replay it in torch."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from verifier.audit.answering import Answering
from verifier.audit.execution import Execution
from verifier.audit.judge import Judgement, judge
from verifier.audit.proofs import Proofs
from verifier.budget import Budget
from verifier.certificates.check import Rejected, TooLarge, check_text
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.report import Obligations, Report, Subject, SubjectVerdict
from verifier.diagnostics.snippets import Locate
from verifier.diagnostics.wording import plural
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.verdicts import Proved, ProvedTiled, Refuted, Undecided, Verdict
from verifier.version import VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a map is checked.

    Attributes:
        engine: name of the engine, "auto" for the portfolio.
        budget: limits of each question.
        cross_check: put every question to every engine and report disagreements (TB101).
        self_check: hand every certificate to the independent checker (TB102).
        oracle: device to replay maps on in torch, None for no replay.
        repair: look for a verified edit of refuted maps.
        strict: canonical form is demanded, and warnings count as refutations.
    """

    engine: str = "auto"
    budget: Budget = field(default_factory=Budget)
    cross_check: bool = False
    self_check: bool = True
    oracle: str | None = None
    repair: bool = True
    strict: bool = False

    def answering(self) -> Answering:
        """The engine, budget and cross-check of these settings.

        Raises:
            ValueError: no engine has that name.
        """
        return Answering(engine_named(self.engine), self.budget, self.cross_check)


def check_map(
    shard_map: ShardMap,
    *,
    expectation: Expectation | None = None,
    engine: str = "auto",
    budget: Budget | None = None,
    cross_check: bool = False,
) -> Report:
    """Prove or refute one map. Never raises for findings.

    The certificate of a proof is at ``report.verdict.certificate``; ``shardproof audit`` also hands it to the
    independent checker, here that is left to the caller (``verifier.certificates.check.check_text``).

    Raises:
        ValueError: no engine has that name.
    """
    settings = Settings(engine=engine, budget=budget or Budget(), cross_check=cross_check, self_check=False)
    subject = check_subject(shard_map, expectation or Expectation(), settings, settings.answering())
    return Report(tool=tool_versions(), subjects=(subject,))


def tool_versions() -> dict[str, str]:
    """What ran."""
    return {"name": "shardproof", "version": VERSION, "python": platform.python_version()}


def check_subject(
    shard_map: ShardMap,
    expectation: Expectation,
    settings: Settings,
    answering: Answering,
    *,
    found: Sequence[Fault] = (),
    locate: Locate | None = None,
    proofs: Proofs | None = None,
) -> Subject:
    """One map as a subject of a report.

    ``found`` are faults its reader knows of from other descriptions; ``proofs`` what is proved already.
    """
    known = None if proofs is None or found else proofs.of(shard_map, expectation, answering)
    judged = known or judge(shard_map, expectation, answering, found=found)
    is_new = known is None and settings.self_check
    execution = _execution(shard_map, expectation, settings, judged)
    doubts = [*(_certificate_faults(judged.verdict) if is_new else ()), *execution.faults]
    if proofs is not None and is_new and not doubts:
        proofs.keep(shard_map, expectation, answering, judged)
    notes, helps = execution.notes, _repairs(shard_map, expectation, settings, judged, answering)
    # From here on there is one verdict: whatever is told or written is that of the judgement as it stands.
    judgement = judged.doubted(doubts)
    judgement = judgement.strictly() if settings.strict else judgement
    findings = findings_of(shard_map, expectation, judgement.faults, locate=locate, notes=notes, helps=helps)
    warnings = findings_of(shard_map, expectation, judgement.warnings, locate=locate)
    if settings.strict:
        warnings = tuple([replace(warning, severity="error") for warning in warnings])
    return Subject(
        name=shard_map.name,
        kind="map",
        verdict=verdict_word(judgement.verdict),
        outcome=judgement.verdict if proofs is None or proofs.outcomes else None,
        place=None if shard_map.origin is None else Place(shard_map.origin.file, shard_map.origin.pointer),
        obligations=Obligations(judgement.proved, judgement.refuted, judgement.undecided),
        families=judgement.families,
        answered_by=judgement.answered_by,
        contents=_contents(shard_map),
        findings=findings + warnings,
    )


def _contents(shard_map: ShardMap) -> dict[str, int]:
    """What a map consists of; holders of one block each are the blocks."""
    holders, pieces = len(shard_map.ranks), sum(len(shard.pieces) for shard in shard_map.ranks.values())
    if shard_map.holder != "rank" and holders == pieces:
        return {plural(shard_map.holder): holders}
    return {plural(shard_map.holder): holders, "pieces": pieces}


def findings_of(
    shard_map: ShardMap,
    expectation: Expectation,
    faults: Sequence[Fault],
    *,
    locate: Locate | None = None,
    notes: tuple[str, ...] = (),
    helps: tuple[str, ...] = (),
) -> tuple[Finding, ...]:
    """The faults in words; notes and helps go to the first of them."""
    if not faults:
        return ()
    from verifier.diagnostics.narrate import narrate  # a proof needs no words

    first = narrate(shard_map, faults[0], locate=locate, expectation=expectation, notes=notes, helps=helps)
    rest = [narrate(shard_map, fault, locate=locate, expectation=expectation) for fault in faults[1:]]
    return (first, *rest)


def verdict_word(verdict: Verdict | ProvedTiled) -> SubjectVerdict:
    """The word for a verdict in reports."""
    match verdict:
        case Proved() | ProvedTiled():
            return "proved"
        case Refuted():
            return "refuted"
        case Undecided():
            return "undecided"


def _certificate_faults(verdict: Verdict) -> list[Fault]:
    """Nothing when the independent checker accepts a proof; a bug of ours (TB102) when it does not.

    A proof that is too large for the checker is no proof to us (SM902).
    """
    if not isinstance(verdict, Proved):
        return []
    try:
        check_text(verdict.certificate.to_text())
    except TooLarge as large:
        values = {"obligation": "the certificate", "reason": f"the independent checker gave up: {large}"}
        return [Fault(code="SM902", side="map", values=values, undecided=True)]
    except Rejected as rejected:
        return [Fault(code="TB102", side="map", values={"reason": str(rejected)})]
    return []


def _execution(
    shard_map: ShardMap, expectation: Expectation, settings: Settings, judgement: Judgement
) -> Execution:
    if settings.oracle is None:
        return Execution()
    from verifier.audit.oracle_notes import execute  # starts processes; most runs do not

    return execute(shard_map, expectation, judgement.verdict, device=settings.oracle)


def _repairs(
    shard_map: ShardMap,
    expectation: Expectation,
    settings: Settings,
    judgement: Judgement,
    answering: Answering,
) -> tuple[str, ...]:
    if not settings.repair or not isinstance(judgement.verdict, Refuted) or len(judgement.faults) != 1:
        return ()
    from verifier.audit.repair import find_repair  # a proof needs no repair

    found = find_repair(shard_map, expectation, judgement.faults[0], answering)
    return () if found is None else (found,)
