"""From a question to its answer: which formulas to ask, and what their outcome says.

Theory: T17.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import SolverClaim
from verifier.engines.smt.boundaries import boundary_defect
from verifier.engines.smt.counts import difference_defect
from verifier.engines.smt.packing import packing_defect
from verifier.engines.smt.solve import Doubt, LimitedSolver
from verifier.geometry.strided import NormalView, StridedView, normal_form
from verifier.obligations.pairs import fold_pairs
from verifier.obligations.questions import (
    Packing,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)


def decide(question: Question, budget: Budget, engine: str) -> Answer:
    """The answer of z3, in the name of ``engine``."""
    match _outcome(question, LimitedSolver(budget.z3_rlimit, budget.kill_seconds), budget):
        case None:
            return Holds(SolverClaim("z3", z3.get_version_string()), engine)
        case Defect() as defect:
            return Fails(defect, engine)
        case Doubt(code, reason):
            return Unknown(code, reason, engine)


def _outcome(question: Question, solver: LimitedSolver, budget: Budget) -> Defect | Doubt | None:
    match question:
        case Tiling(_, views) | Packing(_, views):
            return packing_defect(question, _normal(views), solver, budget)
        case SameAddresses(left, right):
            return difference_defect(_normal(left), _normal(right), solver, budget)
        case SamePairs():
            folded = fold_pairs(question)
            outcome = _outcome(folded.question, solver, budget)
            if isinstance(outcome, Defect) and outcome.place is not None:
                return Defect(folded.unfold(outcome.place[0]), outcome.excess, outcome.least)
            return outcome
        case UnitBoundaries(_, _, views):
            return boundary_defect(question, _normal(views), solver, budget)


def _normal(views: Iterable[StridedView]) -> list[NormalView]:
    """The views that reach anything, in normal form."""
    return [normal for view in views if (normal := normal_form(view)) is not None]
