"""What a proof for all sizes rests on, as data: the ways, their maps, and the queries that z3 answered.

Who does not believe the proof repeats three things: that the comparisons of the ways leave no point out (each
forced one and each side that was not taken is among the queries), that each map cancels (its polynomials are
here), and that the queries have no solution (each is SMT-LIB text for any solver).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.symbolic.claims import Claim
from verifier.symbolic.layout import Numbers, SymbolicMap, SymbolicView
from verifier.symbolic.paths import Choice, ProvedPath, Refusal
from verifier.symbolic.polynomial import Monomial, Polynomial

FORMAT = "shardproof.symbolic/1"


@dataclass(frozen=True, slots=True)
class Certificate:
    """Evidence of one proof.

    Attributes:
        paths: the ways that return, each with its map and what was settled.
        refusals: the ways that raise.
        contradictions: lists of claims that no integers satisfy together.
    """

    paths: tuple[ProvedPath, ...]
    refusals: tuple[Refusal, ...]
    contradictions: tuple[tuple[Claim, ...], ...]

    def document(self) -> dict[str, object]:
        """The certificate in plain lists, texts and numbers, ready for JSON."""
        return {
            "format": FORMAT,
            "paths": [_path(path) for path in self.paths],
            "refusals": [
                {"choice": _texts(one.choice), "condition": [*map(str, one.condition)], "error": one.error}
                for one in self.refusals
            ],
            "queries": self.queries(),
        }

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


def _path(path: ProvedPath) -> dict[str, object]:
    facts = path.facts
    return {
        "choice": _texts(path.choice),
        "decisions": [
            {"claim": str(one.claim), "answer": one.answer, "forced": one.forced} for one in path.decisions
        ],
        "least": dict(facts.least),
        "most": dict(facts.most),
        "solved": {name: str(definition) for name, definition in facts.solved.items()},
        "claims": [*map(str, facts.claims)],
        "map": _map(path.made),
        "reference": None if path.reference is None else _map(path.reference),
        "settled": [[one.name, one.method, one.cases] for one in path.settled],
    }


def _map(made: SymbolicMap) -> dict[str, object]:
    return {
        "logical_shape": _numbers(made.logical_shape),
        "ranks": {
            str(rank): {
                "shard_shape": _numbers(shard.shard_shape),
                "pieces": [
                    {
                        "shape": _numbers(piece.source.shape),
                        "source": _view(piece.source),
                        "dest": _view(piece.dest),
                        "locations": list(piece.locations),
                        "scale": str(piece.scale),
                    }
                    for piece in shard.pieces
                ],
            }
            for rank, shard in made.ranks.items()
        },
    }


def _view(view: SymbolicView) -> list[object]:
    return [str(view.offset), _numbers(view.strides)]


def _numbers(numbers: Numbers) -> list[str]:
    return [*map(str, numbers)]


def _texts(choice: Choice) -> dict[str, str]:
    return {name: repr(value) for name, value in choice.items()}
