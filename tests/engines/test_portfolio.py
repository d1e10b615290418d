"""The portfolio against engines that are wrong; what it does with right ones is in the conformance suite."""

from __future__ import annotations

import pytest

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation
from verifier.engines import portfolio
from verifier.engines.portfolio import Portfolio
from verifier.obligations.questions import Question, Tiling

QUESTION = Tiling(0, ())


class Says:
    """An engine with one answer."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.name = answer.engine

    def decide(self, question: Question, budget: Budget) -> Answer:
        return self.answer


def unsure(engine: str) -> Unknown:
    return Unknown("SM902", "did not try", engine)


def refutes(engine: str, *place: int, least: bool = False) -> Fails:
    return Fails(Defect(place or None, None, least=least), engine)


def proves(engine: str) -> Holds:
    return Holds(Cancellation(), engine)


def decided(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> Answer:
    """What the portfolio makes of these answers, in this order."""
    engines = {answer.engine: Says(answer) for answer in answers}
    monkeypatch.setattr(portfolio, "ORDER", tuple(engines))
    monkeypatch.setattr(portfolio, "engine_named", engines.__getitem__)
    return Portfolio().decide(QUESTION, Budget())


@pytest.mark.parametrize("place", [(), (7,)])
def test_a_proof_of_what_was_refuted_is_a_disagreement(
    place: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = decided(monkeypatch, refutes("a", *place), unsure("b"), proves("c"))
    assert said == Unknown("TB101", "a refutes it, c proves it", "auto")


def test_a_refutation_without_the_least_place_is_kept_while_others_look_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert decided(monkeypatch, refutes("a"), unsure("b"), refutes("c", 7)) == refutes("c", 7)
    assert decided(monkeypatch, refutes("a", 9), refutes("b", 7, least=True)) == refutes("b", 7, least=True)
    assert decided(monkeypatch, refutes("a"), unsure("b")) == refutes("a")


def test_the_first_certain_answer_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided(monkeypatch, unsure("a"), proves("b"), refutes("c")) == proves("b")
    said = decided(monkeypatch, unsure("a"), unsure("b"))
    assert said == Unknown("SM902", "a: did not try; b: did not try", "auto")
