"""Everything that is asked of one case.

The questions of the map go to the engines, the map to the judge, its certificate to the checker; on samples
z3, isl and torch are asked too. What each says is held against a walk of every address.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fuzz.agreement import disagreements, flattened
from fuzz.asking import Asked, ask
from fuzz.cases import KINDS, Case
from fuzz.certified import accepted_though_wrong, refusal, tampered, with_evidence
from fuzz.second_opinion import is_installed, isl_says
from fuzz.walk import Walk, walk
from verifier.answers import Holds
from verifier.audit.answering import Answering
from verifier.audit.judge import Judgement, judge
from verifier.budget import Budget
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Form
from verifier.engine import Engine
from verifier.engines.registry import engine_named
from verifier.obligations.catalogue import obligations
from verifier.obligations.obligation import Unposed
from verifier.obligations.questions import Question
from verifier.verdicts import Proved

ALWAYS = ("cancel", "boxes", "search", "enumerate", "fingerprint")
BUDGET = Budget(z3_rlimit=2_000_000)


@dataclass(frozen=True, slots=True)
class Plan:
    """How often the slow ones are asked: one case of every so many, spread over all kinds; 0 is never."""

    smt_every: int = 0
    oracle_every: int = 0
    tamper_every: int = 1
    engines: tuple[Engine, ...] = field(default_factory=lambda: tuple(map(engine_named, ALWAYS)))
    judging: Engine = field(default_factory=lambda: engine_named("auto"))


@dataclass(slots=True)
class Outcome:
    """What came of one case; ``counts`` are summed over a campaign, ``disagreements`` are in words."""

    case: Case
    counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)


def due(index: int, every: int) -> bool:
    """Whether a case belongs to a sample of one in ``every``, by whole rounds: every kind has its share."""
    return every > 0 and index // len(KINDS) % every == 0


def run(case: Case, plan: Plan) -> Outcome:
    """Everything asked of one case."""
    outcome = Outcome(case)
    walked = walk(case.shard_map, case.expectation)
    outcome.counts["map", "right" if walked.ok else "wrong"] += 1
    outcome.counts["kind", case.kind, "right" if walked.ok else "wrong"] += 1
    outcome.counts["mutant", case.mutant or "none", "right" if walked.ok else "wrong"] += 1
    if case.mutant is None and not walked.ok:
        outcome.disagreements.append(f"layout {case.kind} is wrong: {walked.violations[0]}")
    judgement = judge(case.shard_map, case.expectation, Answering(plan.judging, BUDGET))
    outcome.counts["verdict", type(judgement.verdict).__name__.lower()] += 1
    outcome.disagreements += [
        f"judge: {words}" for words in disagreements(walked, judgement, case.shard_map, case.expectation)
    ]
    asked = _put_questions(case, plan, outcome)
    if isinstance(judgement.verdict, Proved):
        _check_certificates(case, plan, judgement.verdict.certificate, asked, outcome)
    if due(case.index, plan.oracle_every):
        _ask_torch(case, walked, judgement, outcome)
    return outcome


def _put_questions(case: Case, plan: Plan, outcome: Outcome) -> list[tuple[str, Asked]]:
    """Each obligation's question to the engines, equal questions once."""
    sampled = due(case.index, plan.smt_every)
    engines: Sequence[Engine] = (*plan.engines, engine_named("smt")) if sampled else plan.engines
    known: dict[Question, Asked] = {}
    found: list[tuple[str, Asked]] = []
    for obligation in obligations(case.shard_map, case.expectation):
        question = obligation.question
        if isinstance(question, Unposed):
            outcome.counts["question", "unposed", ""] += 1
            continue
        asked = known.get(question)
        if asked is None:
            asked = known[question] = ask(question, engines, BUDGET)
            _count_question(question, asked, outcome)
            if sampled and is_installed():
                _ask_isl(question, asked, outcome)
        found.append((obligation.name, asked))
    return found


def _count_question(question: Question, asked: Asked, outcome: Outcome) -> None:
    word = {None: "without meaning", True: "holds", False: "fails"}[asked.holds]
    outcome.counts["question", type(question).__name__, word] += 1
    for (engine, answer), count in asked.tally().items():
        outcome.counts["engine", engine, answer] += count
    outcome.disagreements += [f"{words}; {question}" for words in asked.disagreements]


def _ask_isl(question: Question, asked: Asked, outcome: Outcome) -> None:
    said = isl_says(question)
    if said is None:
        return
    outcome.counts["engine", "islpy", "holds" if said else "fails"] += 1
    if said != asked.holds:
        outcome.disagreements.append(f"islpy says {said}, the count {asked.holds}; {question}")


def _check_certificates(
    case: Case, plan: Plan, certificate: Certificate, asked: Sequence[tuple[str, Asked]], outcome: Outcome
) -> None:
    """The certificate is accepted, with the evidence of another engine too; with a wrong number it is not."""
    rng = random.Random(f"{case.name}:certificates")
    versions = [("auto", certificate)]
    evidence: dict[str, dict[str, Form]] = {}
    for name, one in asked:
        for engine, answer in one.answers.items():
            if isinstance(answer, Holds):
                evidence.setdefault(engine, {})[name] = answer.form
    if evidence:
        engine = rng.choice(sorted(evidence))
        versions.append((engine, with_evidence(certificate, evidence[engine])))
    for engine, version in versions:
        outcome.counts["certificate", engine, "checked"] += 1
        reason = refusal(version)
        if reason is not None:
            outcome.disagreements.append(f"certificate with evidence of {engine} refused: {reason}")
    if due(case.index, plan.tamper_every):
        engine, version = rng.choice(versions)
        document = tampered(rng, version)
        if document is not None:
            outcome.counts["certificate", engine, "tampered"] += 1
            if accepted_though_wrong(document):
                outcome.disagreements.append(f"tampered certificate accepted ({engine}): {document['map']}")


def _ask_torch(case: Case, walked: Walk, judgement: Judgement, outcome: Outcome) -> None:
    """Replays of the map by torch, alone and against its reference."""
    from verifier.oracle.agreement import contradiction
    from verifier.oracle.replay import replay

    codes = {f.code for f in flattened(judgement.faults) if not f.undecided and f.side != "map"}
    proved = isinstance(judgement.verdict, Proved)
    found = replay(case.shard_map, expectation=case.expectation)
    outcome.counts["oracle", case.kind, found.outcome] += 1
    words = contradiction(found, proved=proved, codes=codes)
    if words is not None:
        outcome.disagreements.append(f"torch: {words}")
    if not walked.ok or case.expectation.reference is None:
        return
    against = replay(case.shard_map, reference=case.expectation.reference, expectation=case.expectation)
    outcome.counts["oracle", case.kind, f"{against.outcome} against the reference"] += 1
    words = contradiction(against, proved=proved)
    if words is not None:
        outcome.disagreements.append(f"torch, against the reference: {words}")
