"""One question put to every engine, and held against a count of all visits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fuzz.recount import Place, wrong_places
from fuzz.walk import addresses
from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.engine import Engine
from verifier.obligations.questions import Question, UnitBoundaries

ALWAYS_DECIDES = frozenset({"enumerate"})
"""Engines that have an answer to every question of this size; their silence is a fault."""


@dataclass(slots=True)
class Asked:
    """What came of one question.

    Attributes:
        holds: what the count says; None where the question has no meaning.
        answers: by engine name.
        disagreements: in words.
    """

    holds: bool | None
    answers: dict[str, Answer] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)

    def tally(self) -> Counter[tuple[str, str]]:
        """(engine, "holds" | "fails" | "unknown") -> 1 for each answer."""
        return Counter((name, type(answer).__name__.lower()) for name, answer in self.answers.items())


def ask(question: Question, engines: Iterable[Engine], budget: Budget) -> Asked:
    """The answers of all engines, and where one is wrong."""
    if isinstance(question, UnitBoundaries) and not _is_set(question):
        return Asked(None)
    wrong = wrong_places(question)
    asked = Asked(not wrong)
    for engine in engines:
        answer = asked.answers[engine.name] = engine.decide(question, budget)
        if isinstance(answer, Unknown) and engine.name in ALWAYS_DECIDES:
            asked.disagreements.append(f"{engine.name}: does not decide a {type(question).__name__}")
        asked.disagreements += [f"{engine.name}: {words}" for words in _wrong_answer(answer, wrong)]
    return asked


def _is_set(question: UnitBoundaries) -> bool:
    """Boundaries of a multiset have no meaning, nor beyond the tensor."""
    visits = Counter(a for view in question.views for a in addresses(view))
    return all(n == 1 and 0 <= a < question.size for a, n in visits.items())


def _wrong_answer(answer: Answer, wrong: Mapping[Place, int]) -> Iterator[str]:
    match answer:
        case Holds() if wrong:
            place = min(wrong)
            yield f"holds, but the count at {place} is off by {wrong[place]}"
        case Fails() if not wrong:
            yield f"fails at {answer.defect.place}, but every count is right"
        case Fails(defect):
            yield from _wrong_defect(defect, wrong)
        case Holds() | Unknown():
            pass


def _wrong_defect(defect: Defect, wrong: Mapping[Place, int]) -> Iterator[str]:
    place = defect.place
    if place is None:
        if defect.least:
            yield "claims the least place without naming one"
        return
    if place not in wrong:
        yield f"fails at {place}, but the count there is right"
    elif defect.excess is not None and defect.excess != wrong[place]:
        yield f"excess {defect.excess} at {place}, but it is {wrong[place]}"
    if defect.least and place != min(wrong):
        yield f"least place {place}, but {min(wrong)} is wrong too"
