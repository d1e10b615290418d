"""Engines that are wrong, to see whether anybody notices."""

from dataclasses import dataclass, replace

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation
from verifier.engine import Engine
from verifier.engines.enumerate import EnumerateEngine
from verifier.obligations.questions import Question, SameAddresses, Tiling


@dataclass(frozen=True)
class Believer:
    """Proves whatever it is asked."""

    name: str = "believer"

    def decide(self, question: Question, budget: Budget) -> Answer:
        return Holds(Cancellation(), self.name)


@dataclass(frozen=True)
class Doubter:
    """Refutes one kind of question that holds."""

    name: str = "doubter"

    def decide(self, question: Question, budget: Budget) -> Answer:
        answer = EnumerateEngine().decide(question, budget)
        if isinstance(question, SameAddresses) and isinstance(answer, Holds):
            return Fails(Defect((0,), 1, least=True), self.name)
        return answer


@dataclass(frozen=True)
class Misplacer:
    """Right, but names the second least wrong address of a tiling as the least."""

    name: str = "misplacer"

    def decide(self, question: Question, budget: Budget) -> Answer:
        answer = EnumerateEngine().decide(question, budget)
        if isinstance(question, Tiling) and isinstance(answer, Fails) and answer.defect.place is not None:
            moved = replace(answer.defect, place=(answer.defect.place[0] + 1,))
            return Fails(moved, self.name)
        return answer


@dataclass(frozen=True)
class Miscounter:
    """Right but for the excess."""

    name: str = "miscounter"

    def decide(self, question: Question, budget: Budget) -> Answer:
        answer = EnumerateEngine().decide(question, budget)
        if isinstance(answer, Fails) and answer.defect.excess is not None:
            return Fails(replace(answer.defect, excess=answer.defect.excess + 1), self.name)
        return answer


@dataclass(frozen=True)
class Silent:
    """Has no answer to anything, under the name of an engine that has one to everything."""

    name: str = "enumerate"

    def decide(self, question: Question, budget: Budget) -> Answer:
        return Unknown("SM902", "silence", self.name)


LIARS: tuple[Engine, ...] = (Believer(), Doubter(), Misplacer(), Miscounter())
