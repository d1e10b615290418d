"""Is a number a bounded combination of given coefficients?

Question.   Values 0 <= x_k <= u_k with sum c_k x_k = d, or the certainty that there are none.
Reduction.  A negative coefficient is reflected. Terms c, u and m*c, v with m <= u + 1 are one term c with
            bound u + m*v: every integer up to that bound is x + m*y. So equal strides and nested radices
            collapse before any search.
Methods.    1 hull: d < 0 or d > sum c_k u_k    2 residue: gcd(c) does not divide d
            3 depth-first search from the greatest coefficient down: what is left for the others must lie in
            their hull and be a multiple of their gcd, which leaves one arithmetic progression of candidates;
            remainders met before are not searched again [Ramachandran2006]
            4 list the sums of one half of the variables and look up what the other half leaves
            [HorowitzSahni1974].
Cost.       1 and 2 are linear in the number of terms. 3 is exponential in the worst case, 4 costs the square
            root of the number of tuples; the question is NP-hard (subset sum), so every call has a node
            budget and "too hard" is an answer.
Families.   With two terms left, 3 never backtracks. Only three and more unrelated coefficients make it
            search, and right sides near the greatest unreachable sum (the Frobenius number) make it search
            long. 4 is for many short axes.
References. Ramachandran 2006, doi 10.1007/11792086_14 (bounded equations by gcds); Ramirez Alfonsin 2005,
            The Diophantine Frobenius Problem (hard right sides); Horowitz and Sahni 1974, doi
            10.1145/321812.321823 (two lists).

Theory: T14.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal, get_args

Method = Literal["empty", "hull", "residue", "search", "halves", "solver"]
"""Why no solution exists: an empty view, disjoint hulls, incompatible residues, an exhausted search, two
lists of sums without a match, or a solver's word for it."""

METHODS: tuple[Method, ...] = get_args(Method)
"""From the simplest to the one that rests on most."""


@dataclass(frozen=True, slots=True)
class Apart:
    """There is no solution, certainly; ``nodes`` is what the search cost."""

    method: Method
    nodes: int


@dataclass(frozen=True, slots=True)
class TooHard:
    """Not decided within ``nodes`` nodes of search."""

    nodes: int


@dataclass(frozen=True, slots=True)
class Values:
    """A solution of a reduced equation: one value per coefficient."""

    values: tuple[int, ...]
    nodes: int


Solver = Callable[["LinearForm", int], Values | Apart | TooHard]
"""Finds values with ``sum(c_k * x_k) == d`` within the bounds, for a form and a right side ``d``."""

BoundedSolver = Callable[["LinearForm", int, int], Values | Apart | TooHard]
"""A solver that takes a budget of nodes as well."""

Term = tuple[int, int]
"""(coefficient, bound) of one variable: coefficient of any sign but 0, bound >= 1."""


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A left side ``sum(c_k * x_k)``, ``0 <= x_k <= bounds[k]``, reduced, with what its search needs.

    Attributes:
        coefficients: positive, descending, each with its bound in ``bounds``.
        gcds: of the coefficients from position k on; a 0 at the end.
        reaches: greatest sum of the terms from position k on; a 0 at the end.
        inverses: of ``c_k / gcds[k]`` modulo ``gcds[k + 1] / gcds[k]``.
        shift: to be added to the right side, for the reflected terms.
        parts: per coefficient, the terms merged into it as (position in the given terms, multiple, bound).
        reflected: positions of the given terms that were reflected.
    """

    coefficients: tuple[int, ...]
    bounds: tuple[int, ...]
    gcds: tuple[int, ...]
    reaches: tuple[int, ...]
    inverses: tuple[int, ...]
    shift: int
    parts: tuple[tuple[tuple[int, int, int], ...], ...]
    reflected: tuple[int, ...]

    def refuted_by(self, total: int) -> Method | None:
        """The cheap reason why no values sum up to ``total``, if there is one."""
        if not 0 <= total <= self.reaches[0]:
            return "hull"
        if self.coefficients and total % self.gcds[0]:
            return "residue"
        return None

    def candidates(self, level: int, remainder: int) -> range:
        """Values of one variable that leave the later ones a sum in their hull and a multiple of their gcd.

        ``remainder``, what the variables from ``level`` on have to sum up to, is a multiple of their gcd.
        """
        coefficient = self.coefficients[level]
        gcd, after = self.gcds[level], self.gcds[level + 1]
        step = after // gcd or 1
        lowest = max(0, -((self.reaches[level + 1] - remainder) // coefficient))
        highest = min(self.bounds[level], remainder // coefficient)
        first = lowest + (remainder // gcd * self.inverses[level] - lowest) % step
        return range(first, highest + 1, step)

    def lift(self, values: tuple[int, ...]) -> list[int]:
        """The values of the given terms, from the values of the reduced ones."""
        lifted = [0] * sum(len(parts) for parts in self.parts)
        bounds = dict.fromkeys(range(len(lifted)), 0)
        for value, parts in zip(values, self.parts, strict=True):
            for position, multiple, bound in reversed(parts):
                bounds[position] = bound
                lifted[position] = min(bound, value // multiple)
                value -= multiple * lifted[position]
        for position in self.reflected:
            lifted[position] = bounds[position] - lifted[position]
        return lifted


@lru_cache(maxsize=4096)
def linear_form(terms: tuple[Term, ...]) -> LinearForm:
    """The reduced form of ``sum(c_k * x_k)``. Cached, because the pairs of one map have few distinct forms.

    Theory: T14.
    """
    reflected = tuple(k for k, (coefficient, _) in enumerate(terms) if coefficient < 0)
    groups: list[tuple[int, int, list[tuple[int, int, int]]]] = []
    for coefficient, bound, k in sorted((abs(c), u, k) for k, (c, u) in enumerate(terms)):
        for position, (least, reach, parts) in enumerate(groups):
            multiple, rest = divmod(coefficient, least)
            if rest == 0 and multiple <= reach + 1:
                parts.append((k, multiple, bound))
                groups[position] = (least, reach + multiple * bound, parts)
                break
        else:
            groups.append((coefficient, bound, [(k, 1, bound)]))
    groups.reverse()
    gcds, reaches = [0], [0]
    for coefficient, bound, _ in reversed(groups):
        gcds.append(math.gcd(coefficient, gcds[-1]))
        reaches.append(reaches[-1] + coefficient * bound)
    gcds.reverse()
    reaches.reverse()
    return LinearForm(
        coefficients=tuple(coefficient for coefficient, _, _ in groups),
        bounds=tuple(bound for _, bound, _ in groups),
        gcds=tuple(gcds),
        reaches=tuple(reaches),
        inverses=tuple(
            pow(group[0] // gcd, -1, max(1, after // gcd))
            for group, gcd, after in zip(groups, gcds[:-1], gcds[1:], strict=True)
        ),
        shift=sum(abs(terms[k][0]) * terms[k][1] for k in reflected),
        parts=tuple(tuple(parts) for _, _, parts in groups),
        reflected=reflected,
    )


def search(form: LinearForm, total: int, nodes: int) -> Values | Apart | TooHard:
    """Values with ``sum(c_k * x_k) == total``, by depth-first search that tries at most ``nodes`` values.

    Theory: T14.
    """
    method = form.refuted_by(total)
    if method is not None:
        return Apart(method, 0)
    last = len(form.coefficients) - 1
    if last < 0:
        return Values((), 0)
    seen: list[set[int]] = [set() for _ in form.coefficients]
    chosen = [0] * (last + 1)
    path = [(total, _from_the_middle(form, 0, total))]
    spent = 0
    while path:
        level = len(path) - 1
        remainder, candidates = path[-1]
        value = next(candidates, None)
        if value is None:
            path.pop()
            continue
        if spent >= nodes:
            return TooHard(spent)
        spent += 1
        chosen[level] = value
        remainder -= form.coefficients[level] * value
        if level == last:
            return Values(tuple(chosen), spent)
        if remainder not in seen[level]:
            seen[level].add(remainder)
            path.append((remainder, _from_the_middle(form, level + 1, remainder)))
    return Apart("search", spent)


def _from_the_middle(form: LinearForm, level: int, remainder: int) -> Iterator[int]:
    """The candidates of one variable, first those that leave the others the middle of their hull and less.

    In the middle the others have the most sums, so a solution is met early.
    """
    candidates = form.candidates(level, remainder)
    if not candidates:
        return iter(())
    middle = (remainder - form.reaches[level + 1] // 2) // form.coefficients[level]
    centre = max((middle - candidates.start) // candidates.step, 0)
    return chain(candidates[centre:], reversed(candidates[:centre]))


SUMS_PER_NODE = 8
"""Sums that are listed in the time of one node of search."""


def search_by_halves(form: LinearForm, total: int, nodes: int) -> Values | Apart | TooHard:
    """Values with ``sum(c_k * x_k) == total``, by listing the sums of each half of the variables.

    TooHard at once, without work, when the lists would cost more than ``nodes``.

    Theory: T14.
    """
    method = form.refuted_by(total)
    if method is not None:
        return Apart(method, 0)
    halves: list[list[int]] = [[], []]
    sizes = [1, 1]
    for k in sorted(range(len(form.bounds)), key=lambda k: -form.bounds[k]):
        half = 0 if sizes[0] <= sizes[1] else 1
        halves[half].append(k)
        sizes[half] *= form.bounds[k] + 1
    cost = -(-sum(sizes) // SUMS_PER_NODE)
    if cost > nodes:
        return TooHard(0)
    first, second = _partial_sums(form, halves[0]), _partial_sums(form, halves[1])
    share = next((reached for reached in second[-1] if total - reached in first[-1]), None)
    if share is None:
        return Apart("halves", cost)
    values = [0] * len(form.bounds)
    for positions, sums, reached in ((halves[0], first, total - share), (halves[1], second, share)):
        for k, before in zip(reversed(positions), reversed(sums[:-1]), strict=True):
            coefficient = form.coefficients[k]
            values[k] = next(x for x in range(form.bounds[k] + 1) if reached - coefficient * x in before)
            reached -= coefficient * values[k]
    return Values(tuple(values), cost)


def _partial_sums(form: LinearForm, positions: Sequence[int]) -> list[set[int]]:
    """The sums of none, the first, the first two ... of the given variables."""
    sums = [{0}]
    for k in positions:
        steps = [form.coefficients[k] * value for value in range(form.bounds[k] + 1)]
        sums.append({reached + step for reached in sums[-1] for step in steps})
    return sums
