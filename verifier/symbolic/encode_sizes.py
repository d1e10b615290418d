"""The certificate of a proof for all sizes as JSON text, the only thing its checker reads.

Layout (``shardproof.sizes/1``): ``name``; ``sizes`` with their least values; ``tree``. A node of the tree is
a comparison (``if`` [">=", number], ``then``, ``else``), a division by a number, which names its quotient and
remainder for the nodes ``in`` it, or a leaf: a ``map``, with the ``reference`` that it equals and what is
``resting`` on our word alone, or an ``end`` without one. A number is an integer, or factors by products.

Comparisons that could go one way only are left out: they say how the code ran, not what its map is. Equations
that the proof made use of are put in, as two comparisons with nothing on their other sides, and the sums by
which it solved equations without a coefficient 1, as quotients by 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from verifier.symbolic.certificate import ProvedChoice, Way
from verifier.symbolic.claims import is_zero
from verifier.symbolic.layout import Numbers, SymbolicMap, SymbolicPiece, SymbolicView
from verifier.symbolic.paths import ProvedPath
from verifier.symbolic.polynomial import ZERO, Polynomial, atom
from verifier.symbolic.tracing import Decision

SCHEMA = "shardproof.sizes/1"


def certificate_text(name: str, proved: ProvedChoice) -> str:
    """The certificate of one choice as one line of canonical JSON."""
    return json.dumps(certificate_json(name, proved), sort_keys=True, separators=(",", ":"))


def certificate_json(name: str, proved: ProvedChoice) -> dict[str, Any]:
    """The certificate of one choice as a JSON value."""
    return {
        "schema": SCHEMA,
        "name": name,
        "sizes": {size.name: size.least for size in proved.sizes},
        "tree": _tree(proved.ways, 0, {}),
    }


def _tree(ways: Sequence[Way], place: int, names: Mapping[str, Polynomial]) -> dict[str, Any]:
    """What is left of the ways from one place on. ``names`` is what stands for quotients and remainders."""
    first = ways[0]
    while place < len(first.decisions) and not _tells(first.decisions[place]):
        place += 1
    values = _values(first, names)
    for division in first.divisions:
        if division.place <= place and division.quotient not in names:
            quotient, remainder = [f"{letter}.{len(names) // 2 + 1}" for letter in "qr"]
            known = {**names, division.quotient: atom(quotient), division.remainder: atom(remainder)}
            return {
                "divide": _number(division.dividend, values),
                "by": division.divisor,
                "quotient": quotient,
                "remainder": remainder,
                "in": _tree(ways, place, known),
            }
    if place == len(first.decisions):
        return _leaf(first, values)
    decision = first.decisions[place]
    claim = decision.claim
    if decision.forced:
        return _where_zero(claim.polynomial.substituted(values), _tree(ways, place + 1, names))
    holds, fails = [
        _tree([way for way in ways if way.decisions[place].answer is answer], place + 1, names)
        for answer in (claim.relation != "!=", claim.relation == "!=")
    ]
    relation = "==" if claim.relation == "!=" else claim.relation
    return {"if": [relation, _number(claim.polynomial, values)], "then": holds, "else": fails}


def _where_zero(polynomial: Polynomial, inner: dict[str, Any]) -> dict[str, Any]:
    """A part of the tree at points where a polynomial is 0, which it is at all that get there."""
    for one in (-polynomial, polynomial):
        inner = {"if": [">=", _number(one, {})], "then": inner, "else": {"end": "nothing"}}
    return inner


def _tells(decision: Decision) -> bool:
    """False where the code could go one way only, and that is no equation that might solve for a size."""
    equation = "==" if decision.answer else "!="
    return not decision.forced or decision.claim.relation == equation


def _values(way: Way, names: Mapping[str, Polynomial]) -> dict[str, Polynomial]:
    """What to write for the atoms that are no sizes."""
    values = dict(names)
    for name, total in way.named.items():
        values[name] = total.substituted(values)
    return values


def _leaf(way: Way, values: Mapping[str, Polynomial]) -> dict[str, Any]:
    if not isinstance(way.end, ProvedPath):
        return {"end": way.end}
    digits = {one.name: "digits (T22)" for one in way.end.settled if one.method == "digits"}
    leaf: dict[str, Any] = {"map": _map(way.end.made, values), "resting": digits}
    if way.end.reference is not None:
        leaf["reference"] = _map(_held_alone(way.end.reference), values)
    for equation in reversed(_equations(way.end)):
        leaf = _where_zero(equation.substituted(values), leaf)
    for k, name in reversed([*enumerate(way.named, 1)]):  # named like quotients by 1
        named = {"quotient": f"t.{k}", "remainder": f"z.{k}"}
        leaf = {"divide": _number(values[name], {}), "by": 1, **named, "in": leaf}
    return leaf


def _equations(path: ProvedPath) -> list[Polynomial]:
    """Polynomials that are 0 at all points of a way, and of use to its proof."""
    found = dict.fromkeys(path.facts.implied)
    for one in dict.fromkeys([path.facts.reduced(one) for done in path.settled for one in done.equal]):
        number, common = one.content()
        factor = one.over(number, common) if number else ZERO  # equations without products can be solved
        if factor != ZERO and path.facts.entails(is_zero(factor)):
            found[factor] = None
    return list(found)


def _map(made: SymbolicMap, values: Mapping[str, Polynomial]) -> dict[str, Any]:
    return {
        "logical_shape": _numbers(made.logical_shape, values),
        "ranks": {
            str(rank): {
                "shard_shape": _numbers(shard.shard_shape, values),
                "padding": [[_numbers(view.shape, values), _view(view, values)] for view in shard.padding],
                "pieces": [_piece(piece, values) for piece in shard.pieces if _may_hold(rank, piece)],
            }
            for rank, shard in made.ranks.items()
        },
    }


def _held_alone(made: SymbolicMap) -> SymbolicMap:
    """The same function; who else holds a piece is no part of it."""
    ranks = {
        rank: replace(shard, pieces=tuple([replace(one, locations=(rank,)) for one in shard.pieces]))
        for rank, shard in made.ranks.items()
    }
    return replace(made, ranks=ranks)


def _may_hold(rank: int, piece: SymbolicPiece) -> bool:
    """False for what was proved to be empty, since nothing can be held by it."""
    return isinstance(piece.scale, Fraction) and piece.scale != 0 and rank in piece.locations


def _piece(piece: SymbolicPiece, values: Mapping[str, Polynomial]) -> dict[str, Any]:
    scale = Fraction(piece.scale)
    return {
        "shape": _numbers(piece.source.shape, values),
        "source": _view(piece.source, values),
        "dest": _view(piece.dest, values),
        "locations": list(piece.locations),
        "scale": f"{scale.numerator}/{scale.denominator}",
    }


def _view(view: SymbolicView, values: Mapping[str, Polynomial]) -> list[Any]:
    return [_number(view.offset, values), _numbers(view.strides, values)]


def _numbers(numbers: Numbers, values: Mapping[str, Polynomial]) -> list[Any]:
    return [_number(one, values) for one in numbers]


def _number(polynomial: Polynomial, values: Mapping[str, Polynomial]) -> Any:
    written = polynomial.substituted(values)
    if written.constant is not None:
        return written.constant
    return {"*".join(atoms): factor for atoms, factor in written.terms}
