"""Pairs of views, for any number of unrelated strides: hulls, residues, bounded search, and isl for the rest.

Theory: T8, T14.
"""

from __future__ import annotations

from functools import partial

from verifier.answers import Answer, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Pairs
from verifier.engines.isl import MISSING, is_installed, isl_claim, solve_by_isl
from verifier.engines.pigeonhole import Fact, certain_defect, defect_of, facts, nonempty, normal_forms
from verifier.geometry.diophantine import Meet, Meeting
from verifier.geometry.equations import Apart, LinearForm, TooHard, Values, search
from verifier.obligations.questions import Packing, Question, Tiling

NAME = "search"

FIRST_TRY = 1_000
"""Search nodes for a fact before the others had their turn, so that a hard one does not starve them."""

NODES_PER_ISL_FACT = 2_000
"""isl is asked about one fact for that many search nodes of the budget: 100 at the default budget."""


class SearchEngine:
    """Tilings and packings by pigeonhole; the cost is quadratic in the views whose hulls meet."""

    name = NAME

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide tilings and packings; Unknown (SM901) for anything else."""
        if not isinstance(question, Tiling | Packing):
            return Unknown("SM901", f"{type(question).__name__} is no question about pairs of views", NAME)
        defect = certain_defect(question, normal_forms(question.views))
        if defect is not None and defect.place is not None:
            return Fails(defect, NAME)
        answer = _decide_facts(question, budget)
        # The number of visits alone refutes; comparing views could only have found where.
        return answer if defect is None or isinstance(answer, Fails) else Fails(defect, NAME)


class _Search:
    """Bounded search with a common purse of nodes."""

    __slots__ = ("_allowance", "left", "work")

    def __init__(self, nodes: int) -> None:
        self.left = nodes
        self.work = 0
        self._allowance = 0

    def decide(self, fact: Fact, nodes: int) -> Meeting:
        """Decide a fact with at most ``nodes`` of the nodes left."""
        self._allowance = min(nodes, self.left)
        self.work += 1
        return fact.decide(self._solve)

    def _solve(self, form: LinearForm, total: int) -> Values | Apart | TooHard:
        found = search(form, total, self._allowance)
        self._allowance -= found.nodes
        self.left -= found.nodes
        self.work += found.nodes
        return found


def _decide_facts(question: Tiling | Packing, budget: Budget) -> Answer:
    """All facts in turn: a first try each, then the nodes left in equal shares, then isl."""
    views = nonempty(question)
    searching = _Search(budget.search_nodes)
    hard: list[Fact] = []
    for count, fact in enumerate(facts(views)):
        if count >= budget.pairs + len(views):
            return Unknown("SM902", f"more than {budget.pairs} pairs of views whose hulls meet", NAME)
        match searching.decide(fact, FIRST_TRY):
            case Meet() as meet:
                return Fails(defect_of(fact, meet), NAME)
            case TooHard():
                hard.append(fact)
            case Apart():
                pass
    harder: list[Fact] = []
    for position, fact in enumerate(hard):
        match searching.decide(fact, searching.left // (len(hard) - position)):
            case Meet() as meet:
                return Fails(defect_of(fact, meet), NAME)
            case TooHard():
                harder.append(fact)
            case Apart():
                pass
    if not harder:
        return Holds(Pairs(searching.work), NAME)
    return _ask_isl(harder, budget)


def _ask_isl(hard: list[Fact], budget: Budget) -> Answer:
    """The facts that search left open, all of them by isl, or Unknown naming the first that stays open."""
    tried = f"tried hulls, residues, search ({budget.search_nodes} nodes in all)"
    if not is_installed():
        return Unknown("SM902", f"{hard[0]}: {tried}; {MISSING}", NAME)
    most = max(1, budget.search_nodes // NODES_PER_ISL_FACT)
    solve = partial(solve_by_isl, operations=budget.isl_operations)
    undecided: Fact | None = None if len(hard) <= most else hard[most]
    for fact in hard[:most]:
        match fact.decide(solve):
            case Meet() as meet:
                return Fails(defect_of(fact, meet), NAME)
            case TooHard():
                undecided = fact
            case Apart():
                pass
    if undecided is None:
        return Holds(isl_claim(), NAME)
    tried = f"{tried}, isl ({budget.isl_operations} operations each, {min(most, len(hard))} facts)"
    return Unknown("SM902", f"{undecided}: {tried}", NAME)
