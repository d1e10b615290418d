"""Signed monomials in columns, and where two piles of them first differ.

Question.   A sum of views x^o * prod_k (1 - x^(l_k)), all over the same product of (1 - x^s): is it zero,
            and if not, what is its least exponent?
Reduction.  A view with d lengths is 2^(d-1) monomials of each sign. All cancel iff the exponents that stand
            with a plus and those that stand with a minus are the same multiset.
Methods.    Sort both piles and compare them place by place. At the first place where they differ, the smaller
            exponent is the least survivor, and how often each pile has it gives its coefficient.
Cost.       Two sorts of plain integers.

Theory: T3, T4, T23.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verifier.geometry.monomials import Survivor

Column = NDArray[np.int64]
"""One number of each of many things."""


@dataclass(slots=True)
class Piles:
    """Exponents of monomials, in portions: those with a plus and those with a minus."""

    plus: list[Column]
    minus: list[Column]

    def add(self, offsets: Column, lengths: Sequence[Column | int], *, sign: int) -> None:
        """Add ``sign * sum of x^offset * prod (1 - x^length)``, one summand a row.

        All sums of an offset and some of its lengths must be within 64 bits.
        """
        plus, minus = [offsets], list[Column]()
        for length in lengths:
            plus, minus = (
                plus + [exponents + length for exponents in minus],
                minus + [exponents + length for exponents in plus],
            )
        self.plus += plus if sign > 0 else minus
        self.minus += minus if sign > 0 else plus

    def least_survivor(self) -> Survivor | None:
        """The least exponent that does not cancel, with its coefficient, or None. Empties the piles."""
        plus, minus = _sorted(self.plus), _sorted(self.minus)
        common = min(len(plus), len(minus))
        differ = plus[:common] != minus[:common]
        if differ.any():
            place = int(differ.argmax())
        elif len(plus) == len(minus):
            return None
        else:
            place = common
        exponent = min(int(pile[place]) for pile in (plus, minus) if place < len(pile))
        return Survivor(exponent, _times(plus, exponent) - _times(minus, exponent))


def _sorted(portions: list[Column]) -> Column:
    pile = np.concatenate(portions) if portions else np.empty(0, np.int64)
    portions.clear()
    pile.sort()
    return pile


def _times(pile: Column, exponent: int) -> int:
    """How often a sorted pile has an exponent."""
    return int(np.searchsorted(pile, exponent, side="right") - np.searchsorted(pile, exponent, side="left"))
