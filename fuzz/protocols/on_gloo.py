"""Protocols on real process groups against the runs that define them.

Under each plan (one fault on one rank) every rank ends on gloo as in the run with the same decisions:
returned, raised, stranded or mismatched, with its state changed or not. What gloo shows over all plans is
part of what the search finds and may be less, since a rule may need more than one fault. A wait that ran out
may be that of a busy machine, so that a difference counts only if it is there with ten times the wait, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fuzz.protocols.walking import Decide, Question, walk
from verifier.contracts.protocols.language import Protocol
from verifier.oracle.collectives.judging import broken
from verifier.oracle.collectives.plans import Plan, plans
from verifier.oracle.collectives.running import Ended, run

PATIENCE = 10
"""By how much a wait is prolonged before a difference counts."""


@dataclass(frozen=True, slots=True)
class OnGloo:
    """What came of the plans of a protocol.

    Attributes:
        rules: that gloo showed, all plans together.
        runs: how many plans there were.
        difference: the first plan under which a rank ends otherwise than in the run; None where all agree.
    """

    rules: frozenset[str]
    runs: int
    difference: str | None = None


def gloo_against_walks(protocol: Protocol, ranks: int, *, wait_seconds: float) -> OnGloo:
    """Real process groups against the runs with the same decisions, plan by plan."""
    rules: set[str] = set()
    runs = 0
    for plan in plans(protocol, ranks):
        runs += 1
        defined = [(ended.how, ended.mutated) for ended in walk(protocol, ranks, decisions_of(plan))]
        ended = run(protocol, plan, ranks, wait_seconds=wait_seconds)
        if _ways(ended) != defined:
            ended = run(protocol, plan, ranks, wait_seconds=PATIENCE * wait_seconds)
        rules.update(broken(ended))
        if _ways(ended) != defined:
            words = f"{plan.told}: gloo shows {_ways(ended)}, the run {defined}: {protocol}"
            return OnGloo(frozenset(rules), runs, words)
    return OnGloo(frozenset(rules), runs)


def _ways(ended: Sequence[Ended]) -> list[tuple[str, bool]]:
    return [(found.how, found.mutated) for found in ended]


def decisions_of(plan: Plan) -> Decide:
    """What a run has to decide to follow a plan."""

    def decide(question: Question) -> bool:
        match question.kind:
            case "raises":
                return plan.fails == (question.rank, question.name)
            case "differs":
                return plan.differs == question.name
        if question.rank is None:
            return plan.uniform.get(question.name, False)
        return plan.taken == (question.rank, question.name)

    return decide
