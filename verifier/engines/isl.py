"""Pairs of views decided by isl, where ``islpy`` is installed (extra ``isl``).

isl decides whether a set of integer points is empty by generalised basis reduction, with integers of any
size, which solves knapsacks that defeat every search. It stops after a count of its own operations, in this
process, so the outcome does not depend on the clock. Nothing smaller can confirm its "no"; a proof that rests
on it says so.

Theory: T8, T14.
"""

from __future__ import annotations

from importlib.util import find_spec

from verifier.answers import Answer, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import SolverClaim
from verifier.engines.pigeonhole import certain_defect, defect_of, facts, nonempty, normal_forms
from verifier.geometry.diophantine import Meet
from verifier.geometry.equations import Apart, LinearForm, TooHard, Values
from verifier.obligations.questions import Packing, Question, Tiling

NAME = "isl"

MISSING = "islpy is not installed (extra: isl)"


QUESTION = 2
"""isl's operations for all equations of a question, as a multiple of those for one."""

SHARES = (1000, 100, 10, 1)
"""An equation is tried with these fractions of its operations in turn: isl does not tell what it spent."""


class IslEngine:
    """Tilings and packings by pigeonhole, every fact about views decided by isl."""

    name = NAME

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide tilings and packings; Unknown (SM901) for anything else, or without islpy."""
        if not isinstance(question, Tiling | Packing):
            return Unknown("SM901", f"{type(question).__name__} is no question about pairs of views", NAME)
        if not is_installed():
            return Unknown("SM901", MISSING, NAME)
        defect = certain_defect(question, normal_forms(question.views))
        if defect is not None and defect.place is not None:
            return Fails(defect, NAME)
        views = nonempty(question)
        purse = IslPurse(budget.isl_operations)
        allowed = budget.pairs + len(views)
        hard = 0
        for fact in facts(views):
            allowed -= fact.cost
            if allowed < 0:
                reason = f"more than {budget.pairs} pairs of views whose hulls meet"
                return Unknown("SM902", reason, NAME) if defect is None else Fails(defect, NAME)
            match fact.decide(purse.solve):
                case Meet() as meet:
                    return Fails(defect_of(fact, meet), NAME)
                case TooHard():
                    hard += 1
                    if purse.is_empty:
                        break
                case Apart():
                    pass
        if defect is not None:
            return Fails(defect, NAME)
        if hard:
            reason = f"{hard} facts about views not decided within {budget.isl_operations} operations each"
            if purse.is_empty:
                reason = f"{reason}, and {QUESTION} times as many for all are spent"
            return Unknown("SM903", reason, NAME)
        return Holds(isl_claim(), NAME)


def is_installed() -> bool:
    """Whether ``islpy`` can be imported."""
    return find_spec("islpy") is not None


def isl_claim() -> SolverClaim:
    """The evidence of a proof that rests on isl. Needs islpy."""
    from islpy import version

    return SolverClaim(NAME, version.VERSION_TEXT)


class IslPurse:
    """isl's operations for one question, spent on its equations. Needs islpy."""

    __slots__ = ("_left", "_most")

    def __init__(self, operations: int) -> None:
        self._most = operations
        self._left = QUESTION * operations

    @property
    def is_empty(self) -> bool:
        """Nothing is left, so that only what needs no isl can still be decided."""
        return self._left <= 0

    def solve(self, form: LinearForm, total: int) -> Values | Apart | TooHard:
        """As ``solve_by_isl``, charged with the operations allowed to it, if it needed isl."""
        if form.refuted_by(total) is not None or not form.coefficients:
            return solve_by_isl(form, total, operations=1)
        for share in SHARES:
            operations = min(max(1, self._most // share), self._left)
            if operations <= 0:
                break
            self._left -= operations
            found = solve_by_isl(form, total, operations=operations)
            if not isinstance(found, TooHard):
                return found
        return TooHard(0)


def solve_by_isl(form: LinearForm, total: int, *, operations: int) -> Values | Apart | TooHard:
    """Values with ``sum(c_k * x_k) == total`` within the bounds, or isl's word that there are none.

    Needs islpy. TooHard when isl gives up after ``operations`` of its operations, each some 0.1 ms.

    Theory: T14.
    """
    method = form.refuted_by(total)
    if method is not None:
        return Apart(method, 0)
    if not form.coefficients:
        return Values((), 0)
    import islpy

    context = islpy.Context()
    points = islpy.BasicSet(_text(form, total), context)
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        point = points.sample_point()
        if point.is_void():
            return Apart("solver", 0)
        values = tuple(
            int(point.get_coordinate_val(islpy.dim_type.set, k).to_python())
            for k in range(len(form.coefficients))
        )
    except islpy.Error:
        return TooHard(0)
    return Values(values, 0) if _is_solution(form, total, values) else TooHard(0)


def _text(form: LinearForm, total: int) -> str:
    """The equation in isl's notation."""
    names = [f"x{k}" for k in range(len(form.coefficients))]
    bounds = [f"0 <= {name} <= {bound}" for name, bound in zip(names, form.bounds, strict=True)]
    terms = " + ".join(f"{c} {name}" for c, name in zip(form.coefficients, names, strict=True))
    return f"{{ [{', '.join(names)}] : {' and '.join(bounds)} and {terms} = {total} }}"


def _is_solution(form: LinearForm, total: int, values: tuple[int, ...]) -> bool:
    """A refutation must be certain, so isl's point is put into the equation again."""
    inside = all(0 <= value <= bound for value, bound in zip(values, form.bounds, strict=True))
    return inside and total == sum(c * x for c, x in zip(form.coefficients, values, strict=True))
