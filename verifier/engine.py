"""The interface every engine implements."""

from __future__ import annotations

from typing import Protocol

from verifier.answers import Answer
from verifier.budget import Budget
from verifier.obligations.questions import Question


class Engine(Protocol):
    """A way to decide questions.

    An engine never raises for a question it cannot decide: it answers Unknown with the reason. It answers
    Holds only with evidence of a form in ``certificates/forms.py``, and Fails only when certain.
    """

    @property
    def name(self) -> str:
        """The word ``--engine`` takes."""

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide one question within the budget."""
