"""At which address do two weighted sums of strided views first differ?

Question.   W = sum of w_v * [v] over views v, where [v] counts how often v visits each address. Is W zero,
            and if not, at which least address is it not, and by how much?
Reduction.  In normal form (T1) the counts of a view are the coefficients of
                x^o * prod_k (1 - x^(s_k n_k)) / (1 - x^(s_k)).
            Let D be the multiset of strides, each with its largest multiplicity in one view, and
            Q = prod over D of (1 - x^s). Multiplying W by Q leaves signed monomials only. Z[x, 1/x] is an
            integral domain and Q is not 0, so W = 0 iff every monomial cancels; and Q = 1 + higher terms,
            so the least surviving exponent is the least address where W is not 0, with W's value there.
Methods.    Views with the same strides are summed before they are multiplied by the strides they lack, so
            that neighbours cancel early.
Cost.       At most n * 2^|D| monomials; |D| is 1 to 4 on real maps, and independent of all extents.
            Callers bound |D| and the number of monomials.
References. Barvinok 1994 (generating functions of lattice points); the proof is in docs/theory.md.

Theory: T3, T4, T9.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from verifier.geometry.strided import NormalView

Polynomial = dict[int, int]
"""Exponent to nonzero coefficient."""

Weighted = tuple[NormalView, int]
"""A view and how often its visits count, negative for the side subtracted."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """The least address where a weighted sum of views is not zero, and its value there."""

    address: int
    value: int


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The cancellation was not attempted or not finished, and why."""

    reason: str


def least_survivor(
    terms: Sequence[Weighted], *, distinct_strides: int, monomials: int
) -> Survivor | TooLarge | None:
    """The least address where the weighted sum is not zero, None when it is zero everywhere.

    Theory: T3, T4.
    """
    groups = _by_strides(terms)
    common = _common_strides(groups)
    if common.total() > distinct_strides:
        return TooLarge(f"{common.total()} distinct strides, {distinct_strides} allowed")
    total: Polynomial = defaultdict(int)
    for strides, members in groups.items():
        polynomial = _numerators(members)
        for stride in (common - Counter(strides)).elements():
            if 2 * len(polynomial) > monomials:
                return TooLarge(f"more than {monomials} monomials")
            polynomial = _times_one_minus(polynomial, stride)
        for exponent, coefficient in polynomial.items():
            total[exponent] += coefficient
        if len(total) > monomials:
            return TooLarge(f"more than {monomials} monomials")
    wrong = min((e for e, c in total.items() if c), default=None)
    return None if wrong is None else Survivor(wrong, total[wrong])


def least_boundary_inside(
    views: Sequence[NormalView], unit: int, *, distinct_strides: int, monomials: int
) -> Survivor | TooLarge | None:
    """The least address that is no multiple of ``unit`` and where the visited set begins (+1) or ends (-1).

    The views must visit every address at most once. With F the counts, the boundaries are the terms of
    (1 - x) F. It is multiplied by prod (1 - x^lcm(s, unit)) over the strides s other than 1: exponents
    there are multiples of the unit, so residue classes modulo the unit do not mix and each class keeps
    its least term.

    Theory: T9.
    """
    groups = _by_strides([(view, 1) for view in views])
    common = _common_strides(groups)
    common.pop(1, None)
    if common.total() > distinct_strides:
        return TooLarge(f"{common.total()} distinct strides, {distinct_strides} allowed")
    total: Polynomial = defaultdict(int)
    for strides, members in groups.items():
        own = Counter(strides)
        if own[1] > 1:
            return TooLarge("a view visits an address twice, so the views are no set")
        polynomial = _numerators(members)
        if own.pop(1, 0) == 0:
            polynomial = _times_one_minus(polynomial, 1)
        for stride in own.elements():
            copies = unit // math.gcd(stride, unit)
            if copies * len(polynomial) > monomials:
                return TooLarge(f"more than {monomials} monomials")
            polynomial = _times_progression(polynomial, stride, copies)
        for stride in (common - own).elements():
            polynomial = _times_one_minus(polynomial, math.lcm(stride, unit))
        for exponent, coefficient in polynomial.items():
            total[exponent] += coefficient
        if len(total) > monomials:
            return TooLarge(f"more than {monomials} monomials")
    inside = min((e for e, c in total.items() if c and e % unit), default=None)
    return None if inside is None else Survivor(inside, total[inside])


def _by_strides(terms: Iterable[Weighted]) -> dict[tuple[int, ...], list[Weighted]]:
    groups: dict[tuple[int, ...], list[Weighted]] = defaultdict(list)
    for view, weight in terms:
        groups[tuple([stride for stride, _ in view.axes])].append((view, weight))
    return groups


def _common_strides(groups: Iterable[tuple[int, ...]]) -> Counter[int]:
    """D: every stride with its largest multiplicity in one view."""
    common: Counter[int] = Counter()
    for strides in groups:
        common |= Counter(strides)
    return common


def _numerators(terms: Iterable[Weighted]) -> Polynomial:
    """Sum of weight * x^offset * prod (1 - x^(stride * extent)), zero coefficients dropped."""
    polynomial: Polynomial = defaultdict(int)
    for view, weight in terms:
        monomials = [(view.offset, weight * view.multiplicity)]
        for stride, extent in view.axes:
            length = stride * extent
            monomials += [(exponent + length, -coefficient) for exponent, coefficient in monomials]
        for exponent, coefficient in monomials:
            polynomial[exponent] += coefficient
    return {exponent: coefficient for exponent, coefficient in polynomial.items() if coefficient}


def _times_one_minus(polynomial: Polynomial, stride: int) -> Polynomial:
    product = defaultdict(int, polynomial)
    for exponent, coefficient in polynomial.items():
        product[exponent + stride] -= coefficient
    return {exponent: coefficient for exponent, coefficient in product.items() if coefficient}


def _times_progression(polynomial: Polynomial, stride: int, copies: int) -> Polynomial:
    """The product with 1 + x^stride + ... + x^(stride * (copies - 1))."""
    product: Polynomial = defaultdict(int)
    for exponent, coefficient in polynomial.items():
        for k in range(copies):
            product[exponent + k * stride] += coefficient
    return {exponent: coefficient for exponent, coefficient in product.items() if coefficient}
