"""Polynomials in named atoms with integer coefficients, exact, hashable, in one canonical form.

Equal polynomials are equal objects: terms are sorted by degree and then by monomial, none has coefficient 0.
Two polynomials are equal as functions on the integers iff they are equal here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Monomial = tuple[str, ...]
"""The atoms multiplied, ascending, each as often as its power; () is the number 1."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of terms in canonical order. Made by ``constant``, ``atom`` and the operators."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Polynomial | int) -> Polynomial:
        summed = dict(self.terms)
        for monomial, coefficient in as_polynomial(other).terms:
            summed[monomial] = summed.get(monomial, 0) + coefficient
        return _canonical(summed)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple([(monomial, -coefficient) for monomial, coefficient in self.terms]))

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -as_polynomial(other)

    def __rsub__(self, other: Polynomial | int) -> Polynomial:
        return as_polynomial(other) - self

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        product: dict[Monomial, int] = {}
        for mine, factor in self.terms:
            for theirs, coefficient in as_polynomial(other).terms:
                monomial = _times(mine, theirs)
                product[monomial] = product.get(monomial, 0) + factor * coefficient
        return _canonical(product)

    __rmul__ = __mul__

    def __str__(self) -> str:
        return _text(self) if self.terms else "0"

    @property
    def constant(self) -> int | None:
        """The number that this polynomial is, None when it has atoms."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[0]
        return coefficient if len(self.terms) == 1 and not monomial else None

    @property
    def constant_term(self) -> int:
        """The coefficient of the monomial 1."""
        return self.terms[0][1] if self.terms and not self.terms[0][0] else 0

    @property
    def degree(self) -> int:
        """The most atoms in one monomial; 0 for numbers."""
        return len(self.terms[-1][0]) if self.terms else 0

    def atoms(self) -> frozenset[str]:
        """The atoms that occur."""
        return frozenset([atom for monomial, _ in self.terms for atom in monomial])

    def content(self) -> tuple[int, Monomial]:
        """The greatest integer and the greatest monomial that divide every term; (0, ()) for 0."""
        if not self.terms:
            return 0, ()
        number = math.gcd(*[coefficient for _, coefficient in self.terms])
        common = self.terms[0][0]
        for monomial, _ in self.terms[1:]:
            common = _shared(common, monomial)
        return number, common

    def over(self, number: int, monomial: Monomial) -> Polynomial:
        """The quotient by a part of the content."""
        return Polynomial(
            tuple([(_without(mine, monomial), factor // number) for mine, factor in self.terms])
        )

    def divided(self, divisor: Polynomial) -> Polynomial | None:
        """The quotient, None where there is a remainder or a quotient that is no integer.

        Raises:
            ZeroDivisionError: the divisor is 0.
        """
        if not divisor.terms:
            raise ZeroDivisionError("division by the polynomial 0")
        lead, leading = divisor.terms[-1]
        rest, quotient = self, ZERO
        while rest.terms:
            monomial, coefficient = rest.terms[-1]
            if coefficient % leading or _shared(monomial, lead) != lead:
                return None
            step = Polynomial(((_without(monomial, lead), coefficient // leading),))
            quotient, rest = quotient + step, rest - step * divisor
        return quotient

    def substituted(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """The polynomial with atoms replaced; those not named stay."""
        if not any(atom in values for monomial, _ in self.terms for atom in monomial):
            return self
        total = ZERO
        for monomial, coefficient in self.terms:
            product = constant(coefficient)
            kept = tuple([one for one in monomial if one not in values])
            for one in monomial:
                if one in values:
                    product = product * values[one]
            total = total + product * Polynomial(((kept, 1),))
        return total

    def value(self, values: Mapping[str, int]) -> int:
        """The number it is for these atoms.

        Raises:
            KeyError: an atom has no value.
        """
        return sum(
            [
                coefficient * math.prod([values[one] for one in monomial])
                for monomial, coefficient in self.terms
            ]
        )


ZERO = Polynomial(())
ONE = Polynomial((((), 1),))


def constant(number: int) -> Polynomial:
    """A number as a polynomial."""
    return Polynomial((((), int(number)),)) if number else ZERO


def atom(name: str) -> Polynomial:
    """The polynomial that is one atom."""
    return Polynomial((((name,), 1),))


def as_polynomial(value: Polynomial | int) -> Polynomial:
    """The value itself, or the number as a polynomial."""
    return value if isinstance(value, Polynomial) else constant(value)


def product(factors: Iterable[Polynomial]) -> Polynomial:
    """The product of all factors, 1 of none."""
    return math.prod(factors, start=ONE)


def _canonical(terms: Mapping[Monomial, int]) -> Polynomial:
    kept = [(monomial, coefficient) for monomial, coefficient in terms.items() if coefficient]
    kept.sort(key=lambda term: (len(term[0]), term[0]))
    return Polynomial(tuple(kept))


def _times(left: Monomial, right: Monomial) -> Monomial:
    return tuple(sorted(left + right)) if left and right else left or right


def _shared(left: Monomial, right: Monomial) -> Monomial:
    """The greatest common divisor of two monomials."""
    rest, shared = list(right), []
    for one in left:
        if one in rest:
            rest.remove(one)
            shared.append(one)
    return tuple(shared)


def _without(monomial: Monomial, divisor: Monomial) -> Monomial:
    rest = list(monomial)
    for one in divisor:
        rest.remove(one)
    return tuple(rest)


def _text(polynomial: Polynomial) -> str:
    parts: list[str] = []
    for monomial, coefficient in sorted(polynomial.terms, key=lambda term: (-len(term[0]), term[0])):
        sign = " - " if coefficient < 0 else " + "
        number = str(abs(coefficient)) if abs(coefficient) != 1 or not monomial else ""
        parts += [sign if parts else sign.strip(" +"), "*".join([*filter(None, [number]), *monomial])]
    return "".join(parts)
