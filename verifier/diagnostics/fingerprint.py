"""The identity of a finding: the same fault in the same geometry has the same fingerprint in any file.

Baselines compare fingerprints, so they depend on nothing that an edit elsewhere in the document moves: not on
files, lines, engines or budgets, and not on the position of a piece in its list. Changing what goes into one
is a breaking change.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction

from verifier.model.piece import Piece, Scale
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault

_IDENTIFYING = ("axis", "view", "what", "bits", "holder", "unit", "obligation", "size", "dest", "source")
"""Values of a fault that tell it from another one of the same code; the rest is wording or follows."""

DIGITS = 16


def fault_fingerprint(shard_map: ShardMap, fault: Fault) -> str:
    """The fingerprint of a fault of a map."""
    shard = shard_map.ranks.get(fault.rank) if fault.rank is not None else None
    return _digest(
        fault.code,
        shard_map.name,
        shard_map.logical_shape,
        fault.side,
        fault.rank,
        None if shard is None else shard.shard_shape,
        fault.address,
        tuple(_piece_at(shard_map, rank, position) for rank, position in fault.pieces),
        tuple((visit.rank, visit.index) for visit in fault.visits),
        tuple((key, fault.values[key]) for key in _IDENTIFYING if key in fault.values),
    )


def refusal_fingerprint(code: str, pointer: str, message: str) -> str:
    """The fingerprint of a document that was refused; the message has to be free of file names."""
    return _digest(code, pointer, message)


def _piece_at(shard_map: ShardMap, rank: int, position: int) -> tuple[object, ...]:
    shard = shard_map.ranks.get(rank)
    if shard is None or not 0 <= position < len(shard.pieces):
        return (rank, position)
    return (rank, *_geometry(shard.pieces[position]))


def _geometry(piece: Piece) -> tuple[object, ...]:
    return (
        piece.shape,
        (piece.source.offset, piece.source.strides),
        (piece.dest.offset, piece.dest.strides),
        piece.locations,
        _scale(piece.scale),
    )


def _scale(scale: Scale) -> tuple[int, int] | str:
    return (scale.numerator, scale.denominator) if isinstance(scale, Fraction) else str(scale)


def _digest(*parts: object) -> str:
    return hashlib.sha256(_canonical(parts).encode("ascii", "backslashreplace")).hexdigest()[:DIGITS]


def _canonical(value: object) -> str:
    """One text per value: integers in hexadecimal (decimal has a length limit), texts with their length."""
    match value:
        case None:
            return "-"
        case int():
            return f"{value:#x};"
        case tuple():
            return f"({''.join(map(_canonical, value))})"
        case _:
            text = str(value)
            return f"{len(text)}:{text}"
