"""z3 on claims that are linear once every product of atoms is taken for an unknown of its own.

Products are given what is evidently true of them (``product_lemmas``) and nothing else, so a contradiction
found here is one, and its absence says nothing. Real nonlinear arithmetic is never asked: it does not come
back. Work is limited by z3's ``rlimit``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import z3

from verifier.symbolic.claims import Claim, not_negative
from verifier.symbolic.polynomial import Monomial, Polynomial

RLIMIT = 400_000
"""z3 steps for one query; the queries of one constructor take a few thousand each."""


class LinearSolver:
    """Claims on a stack; those that two queries begin with are asserted once.

    It has a context of its own, so that answers do not depend on what was asked elsewhere. ``claims`` counts
    those of all queries so far.
    """

    def __init__(self) -> None:
        self._context = z3.Context()
        self._solver = z3.SimpleSolver(ctx=self._context)
        self._solver.set("rlimit", RLIMIT)
        self._asserted: list[Claim] = []
        self._formulas: dict[Claim, z3.BoolRef] = {}
        self._unknowns: dict[Monomial, z3.ArithRef] = {}
        self.contradictions: list[tuple[Claim, ...]] = []
        self.claims = 0

    def contradictory(self, claims: Sequence[Claim]) -> bool:
        """True when no integers satisfy all claims; False when some may, or z3 gave up."""
        if self._check(claims) != z3.unsat:
            return False
        self.contradictions.append(tuple(claims))
        return True

    def model(self, claims: Sequence[Claim], atoms: Iterable[str]) -> dict[str, int] | None:
        """Values of the atoms in some model of the claims, products being unknowns of their own."""
        if self._check(claims) != z3.sat:
            return None
        model = self._solver.model()
        return {atom: model.eval(self._unknown((atom,)), model_completion=True).as_long() for atom in atoms}

    def _check(self, claims: Sequence[Claim]) -> z3.CheckSatResult:
        self.claims += len(claims)
        common = 0
        for here, there in zip(self._asserted, claims, strict=False):
            if here != there:
                break
            common += 1
        if common < len(self._asserted):
            self._solver.pop(len(self._asserted) - common)
            del self._asserted[common:]
        for claim in claims[common:]:
            self._solver.push()
            if claim not in self._formulas:
                self._formulas[claim] = self._formula(claim)
            self._solver.add(self._formulas[claim])
            self._asserted.append(claim)
        return self._solver.check()

    def _formula(self, claim: Claim) -> z3.BoolRef:
        total = z3.Sum(
            [
                coefficient * self._unknown(monomial) if monomial else z3.IntVal(coefficient, self._context)
                for monomial, coefficient in claim.polynomial.terms
            ]
            or [z3.IntVal(0, self._context)]
        )
        match claim.relation:
            case ">=":
                return total >= 0
            case "==":
                return total == 0
            case "!=":
                return total != 0

    def _unknown(self, monomial: Monomial) -> z3.ArithRef:
        if monomial not in self._unknowns:
            self._unknowns[monomial] = z3.Int(f"u{len(self._unknowns)}", self._context)
        return self._unknowns[monomial]


def product_lemmas(claims: Iterable[Claim], least: Mapping[str, int]) -> list[Claim]:
    """True claims on the products that occur: with all atoms at least 0, a * m >= least(a) * m."""
    lemmas: dict[Claim, None] = {}
    pending = [monomial for claim in claims for monomial, _ in claim.polynomial.terms if len(monomial) > 1]
    seen: set[Monomial] = set()
    while pending:
        monomial = pending.pop()
        if monomial in seen or any(least.get(one, -1) < 0 for one in monomial):
            continue
        seen.add(monomial)
        whole = Polynomial(((monomial, 1),))
        lemmas[not_negative(whole)] = None
        for place, one in enumerate(monomial):
            part = monomial[:place] + monomial[place + 1 :]
            if least[one] > 0:
                lemmas[not_negative(whole - least[one] * Polynomial(((part, 1),)))] = None
                if len(part) > 1:
                    pending.append(part)
    return list(lemmas)
