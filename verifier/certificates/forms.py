"""The forms of evidence that one question may be proved by.

The trusted checker (``check.py``) knows these forms only by their JSON text. All but ``SolverClaim`` can be
checked independently; a proof resting on a solver says so wherever it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cancellation:
    """All monomials cancel; the checker repeats the cancellation. Theory: T3, T4, T5, T9."""

    form: str = field(default="cancellation", init=False)


@dataclass(frozen=True, slots=True)
class Cut:
    """A clean cut of a group of boxes: those with ``high <= at`` on digit ``axis`` go to ``below``,
    those with ``low >= at`` to ``above``; no box lies across. ``None`` is a leaf of at most one box.
    """

    axis: int
    at: int
    below: Cut | None
    above: Cut | None


@dataclass(frozen=True, slots=True)
class DigitBoxes:
    """In the digit space of ``radices`` every view is a set of boxes, separated by the tree of cuts;
    with the numels this is the whole question (Tiling or Packing). Theory: T6, T7.

    ``radices`` are the strides of the chain ``1 = r_0 | r_1 | ...`` in ascending order.
    """

    radices: tuple[int, ...]
    tree: Cut | None
    form: str = field(default="digit-boxes", init=False)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every view is in bounds and injective, every two are disjoint; with the numels this is the whole
    question (Tiling or Packing). Each single fact is small enough for the checker's own search. Theory: T8.

    ``work`` is the number of search nodes the engine needed in all; the checker allows itself a multiple.
    """

    work: int
    form: str = field(default="pairs", init=False)


@dataclass(frozen=True, slots=True)
class Listing:
    """All addresses were listed; the checker lists them again. ``addresses`` is how many there are."""

    addresses: int
    form: str = field(default="listing", init=False)


@dataclass(frozen=True, slots=True)
class SolverClaim:
    """A solver said so and nothing smaller can confirm it."""

    solver: str
    version: str
    form: str = field(default="solver-claim", init=False)


Form = Cancellation | DigitBoxes | Pairs | Listing | SolverClaim
