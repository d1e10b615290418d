"""A replay request as JSON, so that torch can run in a process of its own.

Maps have DeepSpeed's affine form: ``{"logical_shape", "ranks": {rank: {"shard_shape", "pieces": [{"shape",
"source": [offset, strides], "dest": [offset, strides], "locations", "scale"}]}}}``. A scale is a number, or
text where JSON has no number for it: "1/3", "inf", "nan".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.certificates.encode import map_to_json
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece, Scale, exact_scale
from verifier.model.shard_map import RankShard, ShardMap
from verifier.oracle.errors import MalformedRequestError

SCHEMA = "shardproof.replay-request/1"
ELEMENT_BUDGET = 2_000_000
"""How many elements a replay may move, unless told otherwise."""
SOUNDNESS = Expectation()
"""Nothing waived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The arguments of ``replay``; of the expectation only the waivers and the reference travel."""

    shard_map: ShardMap
    reference: ShardMap | None = None
    expectation: Expectation = SOUNDNESS
    device: str = "cpu"
    dtype: str = "float32"
    element_budget: int = ELEMENT_BUDGET


def request_text(request: Request) -> str:
    """A request as one JSON document."""
    expectation = request.expectation
    return json.dumps(
        {
            "schema": SCHEMA,
            "map": map_document(request.shard_map),
            "reference": None if request.reference is None else map_document(request.reference),
            "holes": {str(rank): list(cells) for rank, cells in expectation.holes.items()},
            "gaps": list(expectation.gaps),
            "cover": expectation.cover,
            "lookup": expectation.lookup,
            "device": request.device,
            "dtype": request.dtype,
            "element_budget": request.element_budget,
        },
        allow_nan=False,
    )


def request_from_text(text: str) -> Request:
    """The request in a document; a bare map is a request with every default.

    Raises:
        MalformedRequestError: it is not JSON, a field is missing or of the wrong type, or a map cannot exist.
    """
    try:
        document = json.loads(text)
        if not isinstance(document, dict):
            raise MalformedRequestError("a replay request is a JSON object")
        if "logical_shape" in document:
            return Request(shard_map=map_from_document(document))
        if document.get("schema") != SCHEMA:
            raise MalformedRequestError(f"schema {document.get('schema')!r} is not {SCHEMA!r}")
        return _request(document)
    except KeyError as missing:
        raise MalformedRequestError(f"field {missing} is missing") from missing
    except (ValueError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError) as error:
        raise MalformedRequestError(f"not a replay request: {error}") from error


def _request(document: Mapping[str, Any]) -> Request:
    reference = document["reference"]
    return Request(
        shard_map=map_from_document(document["map"]),
        reference=None if reference is None else map_from_document(reference),
        expectation=Expectation(
            holes={int(rank): _integers(cells) for rank, cells in document["holes"].items()},
            gaps=_integers(document["gaps"]),
            cover=_flag(document["cover"]),
            lookup=_flag(document["lookup"]),
        ),
        device=_text(document["device"]),
        dtype=_text(document["dtype"]),
        element_budget=_integer(document["element_budget"]),
    )


def map_document(shard_map: ShardMap) -> dict[str, Any]:
    """A map as JSON values."""
    return {"name": shard_map.name, **map_to_json(shard_map)}


def map_from_document(document: Mapping[str, Any]) -> ShardMap:
    """The map in a document. Raises what the caller turns into MalformedRequestError."""
    ranks = {
        int(rank): RankShard(
            _integers(shard["shard_shape"]), tuple(_piece(piece) for piece in shard["pieces"])
        )
        for rank, shard in document["ranks"].items()
    }
    if len(ranks) != len(document["ranks"]):
        raise MalformedRequestError("two keys of ranks are the same number")
    return ShardMap(
        name=_text(document.get("name", "")), logical_shape=_integers(document["logical_shape"]), ranks=ranks
    )


def _piece(document: Mapping[str, Any]) -> Piece:
    shape = _integers(document["shape"])
    source, dest = document["source"], document["dest"]
    return Piece(
        StridedView(_integer(source[0]), shape, _integers(source[1])),
        StridedView(_integer(dest[0]), shape, _integers(dest[1])),
        _integers(document["locations"]),
        _scale(document.get("scale", 1)),
    )


def _scale(value: object) -> Scale:
    if isinstance(value, str):
        if value in ("inf", "-inf", "nan"):
            return float(value)
        numerator, slash, denominator = value.partition("/")
        return Fraction(int(numerator), int(denominator) if slash else 1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedRequestError(f"scale {value!r} is not a number")
    return Fraction(value) if isinstance(value, int) else exact_scale(value)


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedRequestError(f"{value!r} is not an integer")
    return value


def _integers(values: object) -> tuple[int, ...]:
    if not isinstance(values, list):
        raise MalformedRequestError(f"{values!r} is not a list of integers")
    return tuple(_integer(value) for value in values)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise MalformedRequestError(f"{value!r} is not true or false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise MalformedRequestError(f"{value!r} is not text")
    return value
