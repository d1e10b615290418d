"""The certificate of a proof for all sizes as JSON text, the only thing its checker reads.

Layout (``shardproof.sizes/1``): ``name``; ``sizes`` with their least values; ``tree``. A node of the tree is
a comparison (``if`` [">=", number], ``then``, ``else``), a division by a number, which names its quotient and
remainder for the nodes ``in`` it, or a leaf: a ``map``, with the ``reference`` that it equals and what is
``resting`` on our word alone, or an ``end`` without one. A number is an integer, or factors by products.

Comparisons that could go one way only are left out: they say how the code ran, not what its map is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from verifier.symbolic.certificate import ProvedChoice, Way
from verifier.symbolic.layout import Numbers, SymbolicMap, SymbolicPiece, SymbolicView
from verifier.symbolic.paths import ProvedPath
from verifier.symbolic.polynomial import Polynomial, atom
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
    sides: dict[bool, dict[str, Any]] = {}
    for answer in (True, False):
        side = [way for way in ways if way.decisions[place].answer is answer]
        sides[answer] = _tree(side, place + 1, names) if side else {"end": "nothing"}
    is_equal = decision.claim.relation != "!="
    condition = [decision.claim.relation if is_equal else "==", _number(decision.claim.polynomial, values)]
    return {"if": condition, "then": sides[is_equal], "else": sides[not is_equal]}


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
    return leaf


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
