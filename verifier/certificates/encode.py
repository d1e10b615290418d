"""The certificate of a map as JSON text, the only thing the checker reads.

Layout (``shardproof.certificate/1``): ``name``; ``map`` in the affine form with every scale other than 1 as
the text ``"p/q"``; ``expectation`` with only the members that differ from the default; ``evidence`` from
obligation name to the form that proved it, with obligations proved by cancellation left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from verifier.certificates.forms import Cancellation, Form, Pairs, SolverClaim
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Piece
from verifier.model.shard_map import ShardMap

SCHEMA = "shardproof.certificate/1"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A claim that one map meets one expectation, with the evidence for each obligation."""

    shard_map: ShardMap
    expectation: Expectation
    evidence: Mapping[str, Form] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The certificate as a JSON value."""
        return {
            "schema": SCHEMA,
            "name": self.shard_map.name,
            "map": map_to_json(self.shard_map),
            "expectation": _expectation_to_json(self.expectation),
            "evidence": {
                name: _form_to_json(form)
                for name, form in sorted(self.evidence.items())
                if not isinstance(form, Cancellation)
            },
        }

    def to_text(self) -> str:
        """The certificate as one line of canonical JSON."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))


def map_to_json(shard_map: ShardMap) -> dict[str, Any]:
    """The affine form of a map. Scales other than 1 become the text ``"p/q"``, or ``"inf"`` and the like."""
    return {
        "logical_shape": list(shard_map.logical_shape),
        "ranks": {
            str(rank): {
                "shard_shape": list(shard.shard_shape),
                "pieces": [_piece_to_json(piece) for piece in shard.pieces],
            }
            for rank, shard in shard_map.ranks.items()
        },
    }


def _piece_to_json(piece: Piece) -> dict[str, Any]:
    document: dict[str, Any] = {
        "shape": list(piece.shape),
        "source": _view_to_json(piece.source),
        "dest": _view_to_json(piece.dest),
        "locations": list(piece.locations),
    }
    if piece.scale != ONE:
        document["scale"] = _scale_to_json(piece.scale)
    return document


def _view_to_json(view: StridedView) -> list[Any]:
    return [view.offset, list(view.strides)]


def _scale_to_json(scale: Fraction | float) -> str:
    if isinstance(scale, Fraction):
        return f"{scale.numerator}/{scale.denominator}"
    return str(scale)


def _expectation_to_json(expectation: Expectation) -> dict[str, Any]:
    default = Expectation()
    document: dict[str, Any] = {}
    if expectation.reference is not None:
        document["reference"] = map_to_json(expectation.reference)
    if expectation.holes:
        document["holes"] = {str(rank): list(cells) for rank, cells in sorted(expectation.holes.items())}
    if expectation.gaps:
        document["gaps"] = list(expectation.gaps)
    if expectation.scale is not None:
        document["scale"] = _scale_to_json(expectation.scale)
    for name in ("cover", "lookup", "partial", "sum_ulps", "index_bits", "write_unit"):
        if getattr(expectation, name) != getattr(default, name):
            document[name] = getattr(expectation, name)
    return document


def _form_to_json(form: Form) -> dict[str, Any]:
    match form:
        case Cancellation():
            return {"form": form.form}
        case Pairs():
            return {"form": form.form, "work": form.work}
        case SolverClaim():
            return {"form": form.form, "solver": form.solver, "version": form.version}
