"""Claims about sizes: a polynomial is not negative, is zero, or is not zero.

Integers need no strict inequality: a < b is b - a - 1 >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from verifier.symbolic.polynomial import Polynomial, constant

Relation = Literal[">=", "==", "!="]
"""How the polynomial compares with 0."""
_FLIPPED = {">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Claim:
    """``polynomial relation 0``."""

    polynomial: Polynomial
    relation: Relation

    def __str__(self) -> str:
        """As people write it: no minus signs, atoms on the left."""
        signs = (
            (1, -1) if any(factor > 0 for monomial, factor in self.polynomial.terms if monomial) else (-1, 1)
        )
        left, right = [self._part(sign) for sign in signs]
        return f"{left} {self.relation if signs[0] > 0 else _FLIPPED[self.relation]} {right}"

    def _part(self, sign: int) -> Polynomial:
        """The terms of one sign, without it."""
        terms = [(monomial, sign * factor) for monomial, factor in self.polynomial.terms]
        return Polynomial(tuple([term for term in terms if term[1] > 0]))

    @property
    def negation(self) -> Claim:
        """The claim that holds where this one does not."""
        if self.relation == ">=":
            return Claim(-self.polynomial - 1, ">=")
        return Claim(self.polynomial, "!=" if self.relation == "==" else "==")

    @property
    def truth(self) -> bool | None:
        """Whether it holds, None when that depends on atoms."""
        number = self.polynomial.constant
        return None if number is None else _holds(number, self.relation)

    def at(self, values: Mapping[str, int]) -> bool:
        """Whether it holds for these values of its atoms."""
        return _holds(self.polynomial.value(values), self.relation)

    def simplified(self) -> Claim:
        """An equivalent claim on integers without a common factor, of one sign for == and !=."""
        varying = [coefficient for monomial, coefficient in self.polynomial.terms if monomial]
        if not varying:
            return self
        divisor = math.gcd(*varying)
        if self.relation == ">=":
            if divisor == 1:
                return self
            rest = self.polynomial.constant_term
            return Claim((self.polynomial - rest).over(divisor, ()) + rest // divisor, ">=")
        if self.polynomial.constant_term % divisor:  # no integer makes it zero
            return Claim(constant(1), self.relation)
        sign = -1 if varying[0] < 0 else 1
        return Claim(self.polynomial.over(divisor * sign, ()), self.relation)


def not_negative(polynomial: Polynomial) -> Claim:
    """``polynomial >= 0``."""
    return Claim(polynomial, ">=")


def positive(polynomial: Polynomial) -> Claim:
    """``polynomial >= 1``."""
    return Claim(polynomial - 1, ">=")


def is_zero(polynomial: Polynomial) -> Claim:
    """``polynomial == 0``."""
    return Claim(polynomial, "==")


def _holds(number: int, relation: Relation) -> bool:
    match relation:
        case ">=":
            return number >= 0
        case "==":
            return number == 0
        case "!=":
            return number != 0
