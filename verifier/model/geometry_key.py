"""What a verdict depends on, as a key: equal layers of one checkpoint have equal keys and one proof."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Mapping
from dataclasses import fields

from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap

NAMES = frozenset({"name", "origin", "holder", "called"})
"""What a map is called, by whom and where. All else counts, whatever else a map may come to have."""


def geometry_key(subject: ShardMap | BoxMap, expectation: Expectation | None = None) -> Hashable:
    """Equal exactly for maps that differ in names only and are asked the same.

    Keys are compared number by number: their hashes alone never say that two maps are equal. A map of boxes
    and the shard map made of it have different keys, for more is asked of the boxes. A scale that is no
    number is equal to nothing, so neither is the key of its map.
    """
    asked = None if expectation is None else _members(expectation)
    return type(subject).__name__, _members(subject), asked


_COUNTING: Mapping[type, tuple[str, ...]] = {
    kind: tuple([field.name for field in fields(kind) if kind is Expectation or field.name not in NAMES])
    for kind in (ShardMap, BoxMap, Expectation)
}
"""The members of a map or an expectation that count."""


def _members(value: ShardMap | BoxMap | Expectation) -> Hashable:
    return tuple([_frozen(getattr(value, name)) for name in _COUNTING[type(value)]])


def _frozen(member: object) -> Hashable:
    """A member as something that can be hashed, one to one; bytes remember their hash."""
    match member:
        case ShardMap():
            return _members(member)
        case array():
            return member.tobytes()
        case Mapping():
            return tuple(sorted(member.items()))
        case Hashable():
            return member
        case _:
            raise TypeError(f"a {type(member).__name__} cannot be part of a key")
