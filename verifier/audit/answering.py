"""Putting obligations to an engine, and to every other engine for a cross-check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from verifier.answers import Answer, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.engine import Engine
from verifier.engines.registry import ENGINES, engine_named
from verifier.obligations.obligation import Obligation, Unposed
from verifier.obligations.questions import Question


class Answered(NamedTuple):
    """An obligation with the answer, and what other engines said against it."""

    obligation: Obligation
    answer: Answer
    disagreements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answering:
    """An engine with a budget, and whether the others are asked as well."""

    engine: Engine
    budget: Budget
    cross_check: bool = False

    def answer_all(self, obligations: Iterable[Obligation]) -> Iterator[Answered]:
        """Each obligation with its answer, in order."""
        for obligation in obligations:
            question = obligation.question
            if isinstance(question, Unposed):
                yield Answered(obligation, Unknown("SM902", question.reason, self.engine.name))
                continue
            yield Answered(obligation, *self._decide(question))

    def _decide(self, question: Question) -> tuple[Answer, tuple[str, ...]]:
        answer = self.engine.decide(question, self.budget)
        if not self.cross_check:
            return answer, ()
        others = [engine_named(name) for name in ENGINES if name not in ("auto", answer.engine)]
        answers = [answer, *[other.decide(question, self.budget) for other in others]]
        disagreements = [
            f"{first.engine} {_words(first)}, {second.engine} {_words(second)}"
            for first, second in combinations(answers, 2)
            if _contradict(first, second)
        ]
        return answer, tuple(disagreements)


def _contradict(first: Answer, second: Answer) -> bool:
    match first, second:
        case (Holds(), Fails()) | (Fails(), Holds()):
            return True
        case Fails(a), Fails(b):
            counted = a.excess is not None and b.excess is not None
            return a.least and b.least and (a.place != b.place or (counted and a.excess != b.excess))
        case _:
            return False


def _words(answer: Answer) -> str:
    match answer:
        case Holds():
            return "proves it"
        case Fails(defect):
            return f"refutes it at {defect.place} by {defect.excess}"
        case Unknown():
            return "cannot tell"
