"""What a proof for all sizes rests on, as data: for each choice its ways as a tree, and the queries to z3.

The trees are what the independent checker reads, once ``encode_sizes`` has written them. The queries are all
that z3 found contradictory on the way, as SMT-LIB text for any solver; most of them are about the ways that
code can go, and not about maps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from verifier.symbolic.claims import Claim
from verifier.symbolic.domain import Atom
from verifier.symbolic.paths import Choice, ProvedPath
from verifier.symbolic.polynomial import Monomial, Polynomial
from verifier.symbolic.tracing import Decision, Division

End = ProvedPath | Literal["outside", "raises", "nothing"]
"""A map that was proved; sizes that the precondition excludes, that the code refuses, or none at all."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way through a constructor. ``named`` is as in ``Facts``."""

    decisions: tuple[Decision, ...]
    divisions: tuple[Division, ...]
    named: Mapping[str, Polynomial]
    end: End


@dataclass(frozen=True, slots=True)
class ProvedChoice:
    """All ways of one choice, depth first, with the sizes they are about. At least one ends in a map."""

    choice: Choice
    sizes: tuple[Atom, ...]
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Evidence of one proof.

    Attributes:
        choices: those for which a map is made.
        contradictions: lists of claims that no integers satisfy together.
    """

    choices: tuple[ProvedChoice, ...]
    contradictions: tuple[tuple[Claim, ...], ...]

    def queries(self) -> list[str]:
        """Each contradiction as an SMT-LIB script; the right answer to all is ``unsat``."""
        return [smt_lib(claims) for claims in self.contradictions]


def smt_lib(claims: Sequence[Claim]) -> str:
    """Claims as a script of linear integer arithmetic; products of atoms are unknowns of their own."""
    names: dict[Monomial, str] = {}
    asserted = [f"(assert {_formula(claim, names)})" for claim in claims]
    declared = [f"(declare-const {name} Int) ; {'*'.join(monomial)}" for monomial, name in names.items()]
    return "\n".join(["(set-logic QF_LIA)", *declared, *asserted, "(check-sat)", ""])


def _formula(claim: Claim, names: dict[Monomial, str]) -> str:
    total = _sum(claim.polynomial, names)
    match claim.relation:
        case ">=":
            return f"(>= {total} 0)"
        case "==":
            return f"(= {total} 0)"
        case "!=":
            return f"(not (= {total} 0))"


def _sum(polynomial: Polynomial, names: dict[Monomial, str]) -> str:
    terms: list[str] = []
    for monomial, coefficient in polynomial.terms:
        number = str(coefficient) if coefficient >= 0 else f"(- {-coefficient})"
        if monomial:
            name = names.setdefault(monomial, f"u{len(names)}")
            number = name if coefficient == 1 else f"(* {number} {name})"
        terms.append(number)
    return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})" if terms else "0"
