"""Pairs of views, for any number of unrelated strides: hulls, residues, bounded search, and isl for the rest.

Theory: T8, T14.
"""

from __future__ import annotations

from collections.abc import Iterable

from verifier.answers import Answer, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Pairs, SolverClaim
from verifier.engines.isl import MISSING, IslPurse, is_installed, isl_claim
from verifier.engines.pigeonhole import Fact, certain_defect, defect_of, facts, nonempty, normal_forms
from verifier.geometry.diophantine import Meet, Meeting
from verifier.geometry.equations import (
    Apart,
    BoundedSolver,
    LinearForm,
    TooHard,
    Values,
    search,
    search_by_halves,
)
from verifier.obligations.questions import Packing, Question, Tiling

NAME = "search"

FIRST_TRY = 1_000
"""Search nodes for a fact before the others had their turn, so that a hard one does not starve them."""

NODES_PER_ISL_FACT = 2_000
"""isl is asked about one fact for that many search nodes of the budget: 100 at the default budget."""

HALVES_CLAIM = SolverClaim("shardproof-halves", "1")
"""Two lists of sums decide more than a search small enough for the checker, so a proof by them says so."""


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
        views = nonempty(question)
        answer = decide_facts(facts(views), budget, most=budget.pairs + len(views))
        # The number of visits alone refutes; comparing views could only have found where.
        return answer if defect is None or isinstance(answer, Fails) else Fails(defect, NAME)


def decide_facts(claims: Iterable[Fact], budget: Budget, *, most: int) -> Answer:
    """All facts, of cost ``most``: a first try each, then the nodes left in equal shares, then isl."""
    purse = _Purse(budget.search_nodes)
    hard: list[Fact] = []
    for fact in claims:
        most -= fact.cost
        if most < 0:
            return Unknown("SM902", f"more than {budget.pairs} pairs of views whose hulls meet", NAME)
        match purse.decide(fact, search, FIRST_TRY):
            case Meet() as meet:
                return Fails(defect_of(fact, meet), NAME)
            case TooHard():
                hard.append(fact)
            case Apart():
                pass
    harder: list[Fact] = []
    by_halves = False
    for position, fact in enumerate(hard):
        share = purse.left // (len(hard) - position) // 2
        meeting = purse.decide(fact, search, share)
        if isinstance(meeting, TooHard):
            meeting = purse.decide(fact, search_by_halves, share)
            by_halves = by_halves or isinstance(meeting, Apart)
        match meeting:
            case Meet():
                return Fails(defect_of(fact, meeting), NAME)
            case TooHard():
                harder.append(fact)
            case Apart():
                pass
    if harder:
        return _ask_isl(harder, budget)
    return Holds(HALVES_CLAIM if by_halves else Pairs(purse.work), NAME)


class _Purse:
    """The search nodes of one question, spent on its facts."""

    __slots__ = ("left", "work")

    def __init__(self, nodes: int) -> None:
        self.left = nodes
        self.work = 0
        """Nodes spent, and one for each fact."""

    def decide(self, fact: Fact, method: BoundedSolver, nodes: int) -> Meeting:
        """Decide a fact with at most ``nodes`` of the nodes left, for all its equations together."""
        allowance = min(nodes, self.left)

        def solve(form: LinearForm, total: int) -> Values | Apart | TooHard:
            nonlocal allowance
            found = method(form, total, allowance)
            allowance -= found.nodes
            self.left -= found.nodes
            self.work += found.nodes
            return found

        self.work += 1
        return fact.decide(solve)


def _ask_isl(hard: list[Fact], budget: Budget) -> Answer:
    """The facts that search left open, all of them by isl; Unknown names one that stays open."""
    tried = f"tried hulls, residues, search ({budget.search_nodes} nodes in all)"
    if not is_installed():
        return Unknown("SM902", f"{hard[0]}: {tried}; {MISSING}", NAME)
    most = max(1, budget.search_nodes // NODES_PER_ISL_FACT)
    purse = IslPurse(budget.isl_operations)
    undecided: Fact | None = None if len(hard) <= most else hard[most]
    for fact in hard[:most]:
        match fact.decide(purse.solve):
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
