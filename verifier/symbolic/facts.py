"""What is known of the sizes at one place: lower bounds, equations that are solved, and other claims.

Question.   Does a claim on sizes follow from the precondition and the comparisons made so far?
Reduction.  Equations with an atom of coefficient 1 or -1 are solved for it, those with larger coefficients by
            a change of variables, and everything is written in the atoms that are left.
Methods.    1 signs: atoms that are not negative under positive coefficients   2 the common factor apart
            3 linear integer arithmetic in which products of atoms are unknowns (z3).
Cost.       Most claims of a proof end at 1 or 2; one of z3's queries takes a millisecond.
Hardness.   Nonlinear integer arithmetic is undecidable. All methods are sound and together incomplete: "does
            not follow" may be said of a claim that does.

Theory: T19.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from verifier.symbolic.claims import Claim, is_zero, not_negative
from verifier.symbolic.polynomial import ZERO, Polynomial, atom, constant
from verifier.symbolic.solver import LinearSolver, product_lemmas

IMPOSSIBLE = not_negative(constant(-1))
MOST_PLACES = 24
"""Of the sizes at which a point is looked for when the solver knows none."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """A set of points, each a value for every atom; immutable.

    Attributes:
        least: a lower bound of each atom that is left and has one.
        most: an upper bound of each atom that is left and has one.
        solved: the atoms that equations determine, in terms of those that are left.
        claims: what else holds, in terms of those that are left.
        named: the atoms that changes of variables brought in, each with the sum that it stands for.
        implied: what was found to be 0 because it is neither negative nor positive.
        point: one of the points, None when none is known.
        solver: asked where signs do not suffice.
    """

    least: Mapping[str, int]
    solver: LinearSolver
    most: Mapping[str, int] = field(default_factory=dict)
    solved: Mapping[str, Polynomial] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    named: Mapping[str, Polynomial] = field(default_factory=dict)
    implied: tuple[Polynomial, ...] = ()
    point: Mapping[str, int] | None = None
    _known: dict[Claim, bool] = field(default_factory=dict, repr=False)

    def reduced(self, polynomial: Polynomial) -> Polynomial:
        """The polynomial in terms of the atoms that are left."""
        return polynomial.substituted(self.solved)

    def entails(self, claim: Claim) -> bool:
        """True only when the claim holds at every point."""
        claim = Claim(self.reduced(claim.polynomial), claim.relation).simplified()
        if claim.truth is not None:
            return claim.truth or self.impossible
        if claim not in self._known:
            self._known[claim] = self._entails(claim)
        return self._known[claim]

    @property
    def impossible(self) -> bool:
        """True when there evidently is no point."""
        return IMPOSSIBLE in self.claims

    @property
    def contradictory(self) -> bool:
        """True only when there is no point."""
        if self.impossible:
            return True
        return self.point is None and self.solver.contradictory(self._hypotheses([]))

    def assuming(self, *claims: Claim) -> Facts:
        """The points at which the claims hold as well."""
        facts = self
        for claim in claims:
            facts = facts._assuming(claim)
        return facts

    def with_atom(self, name: str, least: int | None, value: int | None = None) -> Facts:
        """The points with one more coordinate; ``value`` is that of the known point."""
        bounds = self.least if least is None else {**self.least, name: least}
        known = None if self.point is None or value is None else {**self.point, name: value}
        return replace(self, least=bounds, point=known, _known={})

    def naming(self, name: str, polynomial: Polynomial) -> Facts:
        """The same points with a new atom for a polynomial, which takes the place of an atom in it.

        Unchanged when no atom can be replaced.
        """
        value = None if self.point is None else polynomial.value(self.point)
        least = 0 if self.entails(not_negative(polynomial)) else None
        definitions = list(_definitions(self.reduced(polynomial) - atom(name)))
        replaced = [definition for definition in definitions if definition[0] != name]
        return self.with_atom(name, least, value)._defined(*replaced[-1]) if replaced else self

    def holds_at(self, point: Mapping[str, int]) -> bool:
        """Whether a point with values for all atoms is one of these."""
        return (
            all(point[name] >= least for name, least in self.least.items())
            and all(point[name] <= most for name, most in self.most.items())
            and all(point[name] == definition.value(point) for name, definition in self.solved.items())
            and all(claim.at(point) for claim in self.claims)
        )

    def found(self) -> Facts:
        """The same with a point, small and in general position, where the solver finds one."""
        if self.point is not None or self.impossible:
            return self
        left = self.atoms_left()
        base = self._hypotheses([])
        for low, high in ((2, 9), (1, 9), (1, 99), (0, 9), (0, 999)):
            inside = [
                claim
                for name in left
                for claim in (not_negative(atom(name) - low), not_negative(high - atom(name)))
            ]
            model = self.solver.model([*base, *inside], left)
            if model is not None and (point := self.completed(model)) is not None:
                return replace(self, point=point)
        model = self.solver.model(base, left)
        point = None if model is None else self.completed(model)
        return replace(self, point=point or self._doubled(left))

    def _doubled(self, left: list[str]) -> Mapping[str, int] | None:
        """A point at which all atoms are about the same, for claims on products; small ones first."""
        for places in range(MOST_PLACES):
            values = {name: max(self.least.get(name, 0), 1 << places) for name in left}
            point = self.completed(
                {name: min(value, self.most.get(name, value)) for name, value in values.items()}
            )
            if point is not None:
                return point
        return None

    def completed(self, values: Mapping[str, int]) -> Mapping[str, int] | None:
        """The point with these values of the atoms left, None when it is none of these points."""
        if any(values[name] < least for name, least in self.least.items()):
            return None
        if any(values[name] > most for name, most in self.most.items()):
            return None
        if not all(claim.at(values) for claim in self.claims):
            return None
        return {**values, **{name: definition.value(values) for name, definition in self.solved.items()}}

    def atoms_left(self) -> list[str]:
        """The atoms that no equation determines."""
        names = dict.fromkeys([*self.least, *self.most])
        for polynomial in (*self.solved.values(), *[claim.polynomial for claim in self.claims]):
            names.update(dict.fromkeys(sorted(polynomial.atoms())))
        return list(names)

    def _entails(self, claim: Claim) -> bool:
        if self.point is not None and not claim.at(self.point):
            return False
        if claim.relation == ">=" and self._evident(claim.polynomial):
            return True
        if claim.relation == "==":
            _, common = claim.polynomial.content()
            if common and self.entails(is_zero(claim.polynomial.over(1, common))):
                return True
        return self.solver.contradictory(self._hypotheses([claim.negation]))

    def _evident(self, polynomial: Polynomial) -> bool:
        """Not negative, by signs and by the common factor."""
        if self._floor(polynomial) >= 0:
            return True
        # A product that is to be positive is so when all its factors are.
        if polynomial.constant_term == -1:
            number, common = (polynomial + 1).content()
            factor = (polynomial + 1).over(number, common) if common else None
            if factor is not None and all(self.least.get(one, 0) >= 1 for one in common):
                return self.entails(not_negative(factor - 1))
        number, common = polynomial.content()
        if not common or any(self.least.get(one, -1) < 0 for one in common):
            return False
        return self.entails(not_negative(polynomial.over(number, common)))

    def _floor(self, polynomial: Polynomial) -> float:
        """The value at the least atoms, which is the least one where no term decreases; else -infinity."""
        total = 0
        for monomial, coefficient in polynomial.terms:
            bounds = [self.least.get(one, -1) for one in monomial]
            if bounds and (coefficient < 0 or min(bounds) < 0):
                return -math.inf
            total += coefficient * math.prod(bounds)
        return total

    def _hypotheses(self, more: list[Claim]) -> list[Claim]:
        bounds = [not_negative(atom(name) - least) for name, least in self.least.items()]
        bounds += [not_negative(most - atom(name)) for name, most in self.most.items()]
        return [*bounds, *self.claims, *product_lemmas([*self.claims, *more], self.least), *more]

    def _assuming(self, claim: Claim) -> Facts:
        claim = Claim(self.reduced(claim.polynomial), claim.relation).simplified()
        if claim.truth is not None:
            return self if claim.truth else replace(self, claims=(*self.claims, IMPOSSIBLE), point=None)
        kept = self.point if self.point is not None and claim.at(self.point) else None
        facts = replace(self, point=kept, _known={})
        if claim.relation == "==":
            return facts._with_equation(claim.polynomial)
        if claim.relation == ">=":
            if self._floor(claim.polynomial) >= 0:
                return self
            if self.entails(not_negative(-claim.polynomial)):  # at most 0 and at least 0
                facts = replace(facts, implied=(*facts.implied, claim.polynomial))
                return facts._assuming(is_zero(claim.polynomial))
            if claim.polynomial.degree == 1 and len(claim.polynomial.atoms()) == 1:
                return facts._with_bound(claim.polynomial)
        if claim.relation == "!=":
            for side in (claim.polynomial, -claim.polynomial):
                if self.entails(not_negative(side)):
                    return facts._assuming(not_negative(side - 1))
        return replace(facts, claims=(*self.claims, claim))

    def _with_bound(self, polynomial: Polynomial) -> Facts:
        """The points with ``polynomial >= 0``, where that is an atom from or up to a number."""
        (name,) = polynomial.atoms()
        _, sign = polynomial.terms[-1]
        number = -sign * polynomial.constant_term
        least, most = self.least.get(name, number), self.most.get(name, number)
        if sign > 0:
            facts = replace(self, least={**self.least, name: max(least, number)})
        else:
            facts = replace(self, most={**self.most, name: min(most, number)})
        low, high = facts.least.get(name), facts.most.get(name)
        return facts._defined(name, constant(low)) if low is not None and low == high else facts

    def _with_equation(self, polynomial: Polynomial) -> Facts:
        """The points with ``polynomial == 0``, which is reduced and simplified and has atoms."""
        polynomial = self._without_positive_factor(polynomial)
        if polynomial.constant is not None:
            return self._assuming(is_zero(polynomial))
        vanishing = self._vanishing(polynomial)
        if vanishing:
            rest = is_zero(polynomial.substituted(dict.fromkeys(vanishing, constant(0))))
            facts = self
            for name in vanishing:
                facts = facts._defined(name, constant(0))
            return facts._assuming(rest)
        solution = self._solution(polynomial)
        if solution is not None:
            return self._defined(*solution)
        if polynomial.degree == 1:
            return self._with_change_of_variable(polynomial)
        return replace(self, claims=(*self.claims, is_zero(polynomial)))

    def _without_positive_factor(self, polynomial: Polynomial) -> Polynomial:
        _, common = polynomial.content()
        divisible = tuple([one for one in common if self.least.get(one, 0) >= 1])
        return polynomial.over(1, divisible)

    def _vanishing(self, polynomial: Polynomial) -> list[str]:
        """Atoms that are 0 because a sum of terms that are not negative is."""
        signs = {coefficient > 0 for _, coefficient in polynomial.terms}
        if len(signs) != 1 or any(self.least.get(one, -1) < 0 for one in polynomial.atoms()):
            return []
        return [monomial[0] for monomial, _ in polynomial.terms if len(monomial) == 1]

    def _solution(self, polynomial: Polynomial) -> tuple[str, Polynomial] | None:
        """An atom with what it equals where the polynomial is 0, best a sum that is never negative."""
        found = [
            (self._floor(definition) < 0, name, definition) for name, definition in _definitions(polynomial)
        ]
        if not found:
            return None
        _, name, definition = min(found, key=lambda one: one[:2])
        return name, definition

    def _with_change_of_variable(self, polynomial: Polynomial) -> Facts:
        """One step of Euclid's algorithm on the coefficients: a new atom for a sum of old ones."""
        varying = [(abs(factor), monomial[0], factor) for monomial, factor in polynomial.terms if monomial]
        _, name, smallest = min(varying)
        total = sum([factor // smallest * atom(one) for _, one, factor in varying], ZERO)
        fresh = f"<{total}>"
        value = None if self.point is None else total.value(self.point)
        facts = replace(self.with_atom(fresh, None, value), named={**self.named, fresh: total})
        return facts._defined(name, atom(fresh) + atom(name) - total)._assuming(is_zero(polynomial))

    def _defined(self, name: str, definition: Polynomial) -> Facts:
        """The atom replaced everywhere; what was known of it becomes claims on the others."""
        values = {name: definition}
        moved = [Claim(claim.polynomial.substituted(values), claim.relation) for claim in self.claims]
        if name in self.least:
            moved.append(not_negative(definition - self.least[name]))
        if name in self.most:
            moved.append(not_negative(self.most[name] - definition))
        facts = replace(
            self,
            least={other: least for other, least in self.least.items() if other != name},
            most={other: most for other, most in self.most.items() if other != name},
            solved={**{a: p.substituted(values) for a, p in self.solved.items()}, name: definition},
            claims=(),
            _known={},
        )
        return facts.assuming(*moved)


def _definitions(polynomial: Polynomial) -> Iterator[tuple[str, Polynomial]]:
    """Each atom of coefficient 1 or -1 in no product, with what it equals where the polynomial is 0."""
    products = [one for monomial, _ in polynomial.terms if len(monomial) > 1 for one in monomial]
    for monomial, coefficient in polynomial.terms:
        if len(monomial) == 1 and abs(coefficient) == 1 and monomial[0] not in products:
            yield monomial[0], atom(monomial[0]) - coefficient * polynomial
