"""The JSON forms in which a map is read: alone, and as a case of the corpus."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from fuzz.cases import Case
from verifier.certificates.encode import map_to_json
from verifier.model.expectation import Expectation
from verifier.model.piece import Scale
from verifier.model.shard_map import ShardMap


def case_document(case: Case) -> dict[str, Any]:
    """A case file; the answer that it states is not looked at."""
    return {
        "name": case.layout,
        "what": "from bytes",
        "map": map_document(case.shard_map),
        "expectation": _expectation_document(case.expectation),
        "expect": {"verdict": "proved" if case.mutant is None else "refuted", "codes": []},
    }


def nearest(scale: Scale) -> float:
    """The nearest double."""
    try:
        return float(scale)
    except OverflowError:
        return math.inf


def map_document(shard_map: ShardMap, number: Callable[[Scale], int | float] = nearest) -> dict[str, Any]:
    """The affine form with scales as numbers, of which JSON has fewer: ``number`` says which is written."""
    document = map_to_json(shard_map)
    for rank, at, piece in shard_map.pieces():
        written = document["ranks"][str(rank)]["pieces"][at]
        if "scale" in written:
            written["scale"] = number(piece.scale)
    return document


def _expectation_document(expectation: Expectation) -> dict[str, Any]:
    document: dict[str, Any] = {
        "holes": {str(rank): list(cells) for rank, cells in expectation.holes.items()},
        "gaps": list(expectation.gaps),
        "cover": expectation.cover,
        "lookup": expectation.lookup,
        "partial": expectation.partial,
        "int_bits": expectation.index_bits,
    }
    if expectation.reference is not None:
        document["reference"] = map_document(expectation.reference)
    if isinstance(expectation.scale, Fraction):
        document["expect_scale"] = nearest(expectation.scale)
    if expectation.write_unit is not None:
        document["write_unit"] = expectation.write_unit
    return document
