"""How the trusted checker is to confirm the answer to one question.

The checker (``check.py``) knows these forms only by their JSON text and does all the work again by itself; an
engine that decided a question in another way still has to name a form by which it can be confirmed. A proof
that rests on a solver says so wherever it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from verifier.geometry.strided import StridedView, normal_form
from verifier.obligations.questions import Packing, Question, Tiling

CANCELLED_STRIDES = 12
"""With more distinct strides than these in one question, pairs are confirmed sooner than a cancellation."""


@dataclass(frozen=True, slots=True)
class Cancellation:
    """All monomials cancel. Theory: T3, T4, T5, T9."""

    form: str = field(default="cancellation", init=False)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every view is in bounds and injective, every two are disjoint; with the numels this is the whole
    question (Tiling or Packing). Theory: T8, T14.

    ``work`` is the number of search nodes the engine needed in all. It informs people: the checker has its
    own allowance, for the whole certificate.
    """

    work: int
    form: str = field(default="pairs", init=False)


@dataclass(frozen=True, slots=True)
class SolverClaim:
    """A solver said so and nothing smaller can confirm it."""

    solver: str
    version: str
    form: str = field(default="solver-claim", init=False)


Form = Cancellation | Pairs | SolverClaim


def confirmation(question: Question) -> Form:
    """The form by which a true statement is confirmed soonest, whoever decided it.

    Cancellation confirms every true statement but a Packing that leaves holes in its hulls.
    """
    match question:
        case Packing():
            return Pairs(0)
        case Tiling(_, views) if len(_strides(views)) > CANCELLED_STRIDES:
            return Pairs(0)
        case _:
            return Cancellation()


def _strides(views: tuple[StridedView, ...]) -> set[int]:
    normals = (normal_form(view) for view in views)
    return {stride for normal in normals if normal is not None for stride, _ in normal.axes}
