"""The map out of whatever a constructor returned, with what its padding means for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.symbolic.reading import NoMapError, symbolic_map

__all__ = ["NoMapError", "Returned", "returned_map"]


@dataclass(frozen=True, slots=True)
class Returned:
    """A map, and what to demand of it."""

    shard_map: ShardMap
    expectation: Expectation


def returned_map(made: object, *, name: str = "parameter", reference: object = None) -> Returned:
    """The map that a constructor returned: a ``ShardMap``, one with its padding, DeepSpeed's form, a dict.

    Padding may stay unwritten. With a ``reference``, in any of these forms too, the map has to be the same
    function.

    Raises:
        NoMapError: it is none of the forms, or misses a part of one.
        ValueError: there is no such map; an extent is negative, say.
    """
    found = symbolic_map(made)
    expectation = Expectation(holes={rank: cells for rank, cells in found.holes({}).items() if cells})
    if reference is not None:
        expectation = replace(expectation, reference=_named(symbolic_map(reference).at({}), name))
    return Returned(_named(found.at({}), name), expectation)


def _named(shard_map: ShardMap, name: str) -> ShardMap:
    return replace(shard_map, name=name)
