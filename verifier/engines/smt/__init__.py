"""Every question as quantifier-free integer constraints, for z3: the declarative cross-check.

The other engines compute; this one states. Bounds, self-overlap, pair overlap, holes, differing counts and
boundaries inside a unit are each a formula in one unknown place, satisfiable exactly where the question has a
defect. The least place is read from models and then shown to be least. z3 is loaded at the first question,
and only by the modules of this package.

Work is limited by z3's own ``rlimit``, which counts steps and so gives the same answer on every machine.
z3 honours it on formulas of few axes (it stopped within 1 % of the default limit). Formulas of many index
variables are not posed at all, and z3 is told to stop after ``budget.kill_seconds`` as a safety net, so no
process is spawned to be killed.

Theory: T17.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from verifier.answers import Answer
from verifier.budget import Budget
from verifier.obligations.questions import Question


@dataclass(frozen=True, slots=True)
class SmtEngine:
    """Decides all five questions.

    Unknown is SM901 where a view has no membership formula, SM902 past ``budget.pairs``, SM903 where z3
    gave up.
    """

    name: str = field(default="smt", init=False)

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide one question with z3.

        Theory: T17.
        """
        from verifier.engines.smt.decide import decide  # here, so that importing engines leaves z3 alone

        return decide(question, budget, self.name)
