"""Reading the map out of whatever a constructor returned.

A ``ShardMap``, one with declared padding beside it (an object with ``shard_map`` and ``padding``), the plain
dict form of DeepSpeed's ``to_dict``, or an object with the attributes of its ``ParamAffineMap``. The numbers
are plain integers or sizes; nothing is converted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from verifier.geometry.strided import StridedView
from verifier.model.piece import Scale, exact_scale
from verifier.model.shard_map import ShardMap
from verifier.symbolic.layout import Numbers, SymbolicMap, SymbolicPiece, SymbolicShard, SymbolicView
from verifier.symbolic.polynomial import Polynomial
from verifier.symbolic.size import kind_of, polynomial_of


class NoMapError(ValueError):
    """What a constructor returned is no shard map, whatever its sizes."""


def symbolic_map(made: object) -> SymbolicMap:
    """The map that a constructor returned.

    Raises:
        NoMapError: it is none of the four forms, or misses a part of one.
    """
    try:
        if hasattr(made, "shard_map") and hasattr(made, "padding"):
            return _padded(symbolic_map(made.shard_map), made.padding)
        if isinstance(made, ShardMap):
            return _assembled(
                made.logical_shape, made.ranks, lambda shard: (shard.shard_shape, shard.pieces), _ours
            )
        if isinstance(made, Mapping):
            return _assembled(made["logical_shape"], made["ranks"], _shard_entry, _piece_entry)
        if hasattr(made, "pieces_by_rank"):
            shards = {rank: (shape, made.pieces_by_rank[rank]) for rank, shape in made.shard_shapes.items()}  # type: ignore[attr-defined]
            return _assembled(made.logical_shape, shards, lambda shard: shard, _affine_piece)  # type: ignore[attr-defined]
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise NoMapError(f"{kind_of(made)} that is no map: {type(error).__name__}: {error}") from error
    raise NoMapError(f"{kind_of(made)} is no map")


def _assembled(
    logical_shape: Iterable[object],
    shards: Mapping[Any, Any],
    parts: Callable[[Any], tuple[Any, Iterable[Any]]],
    piece: Callable[[Any], SymbolicPiece],
) -> SymbolicMap:
    ranks: dict[int, SymbolicShard] = {}
    for key in sorted(shards, key=_rank):
        shard_shape, pieces = parts(shards[key])
        if _rank(key) in ranks:
            raise NoMapError(f"rank {key!r} is listed twice")
        ranks[_rank(key)] = SymbolicShard(_numbers(shard_shape), tuple([piece(one) for one in pieces]))
    return SymbolicMap(_numbers(logical_shape), ranks)


def _padded(made: SymbolicMap, padding: Mapping[int, Iterable[StridedView]]) -> SymbolicMap:
    ranks = {
        rank: replace(shard, padding=tuple([_viewed(view) for view in padding.get(rank, ())]))
        for rank, shard in made.ranks.items()
    }
    return replace(made, ranks=ranks)


def _shard_entry(shard: Mapping[str, Any]) -> tuple[Any, Iterable[Any]]:
    return shard["shard_shape"], shard["pieces"]


def _piece_entry(entry: Mapping[str, Any]) -> SymbolicPiece:
    (source, source_strides), (dest, dest_strides) = entry["source"], entry["dest"]
    shape = entry["shape"]
    return SymbolicPiece(
        _view(source, shape, source_strides),
        _view(dest, shape, dest_strides),
        _locations(entry["locations"]),
        _scale(entry.get("scale", 1)),
    )


def _affine_piece(piece: Any) -> SymbolicPiece:
    return SymbolicPiece(
        _view(piece.source_offset, piece.shape, piece.source_strides),
        _view(piece.dest_offset, piece.shape, piece.dest_strides),
        _locations(sorted(piece.locations)),
        _scale(piece.scale),
    )


def _ours(piece: Any) -> SymbolicPiece:
    return SymbolicPiece(_viewed(piece.source), _viewed(piece.dest), _locations(piece.locations), piece.scale)


def _viewed(view: StridedView) -> SymbolicView:
    return _view(view.offset, view.shape, view.strides)


def _view(offset: object, shape: Iterable[object], strides: Iterable[object]) -> SymbolicView:
    view = SymbolicView(_number(offset), _numbers(shape), _numbers(strides))
    if len(view.shape) != len(view.strides):
        raise NoMapError(f"{len(view.shape)} extents but {len(view.strides)} strides")
    return view


def _numbers(values: Iterable[object]) -> Numbers:
    return tuple([_number(value) for value in values])


def _number(value: object) -> Polynomial:
    polynomial = polynomial_of(value)
    if polynomial is None:
        raise NoMapError(f"{kind_of(value)} where a map has a number")
    return polynomial


def _locations(ranks: Iterable[object]) -> tuple[int, ...]:
    locations = tuple([_rank(rank) for rank in ranks])
    if list(locations) != sorted(set(locations)):
        raise NoMapError(f"locations {list(locations)} are not ascending")
    return locations


def _rank(key: object) -> int:
    """A rank; JSON has only text for keys."""
    if isinstance(key, str) and key.isdecimal() and key == str(int(key)):
        key = int(key)
    if type(key) is not int or key < 0:
        raise NoMapError(f"the rank {key!r}")
    return key


def _scale(value: object) -> Scale:
    if isinstance(value, Fraction):
        return value
    if type(value) is int or (isinstance(value, float) and math.isfinite(value)):
        return Fraction(value)
    if isinstance(value, float):
        return exact_scale(value)
    raise NoMapError(f"a scale that is {kind_of(value)}")
