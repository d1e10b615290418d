"""Induced maps by closed form against their definition, element by element. Theory: T26."""

from __future__ import annotations

from verifier.audit.check import check_map
from verifier.contracts.geometry import Geometry
from verifier.contracts.induced.fibres import by_definition, held_by, supports
from verifier.contracts.induced.fields import by_closed_form
from verifier.contracts.shards import ParameterCut
from verifier.geometry.strided import coordinates
from verifier.model.shard_map import ShardMap

WORDS = {"needs_reduction": "reducible", "impossible": "impossible"}


def disagreement(cut: ParameterCut, geometry: Geometry) -> str | None:
    """What the closed form says otherwise than the definition; None where they agree.

    Three things are compared: whether there is a map at all, whether it is proved, and which members hold
    which element of the field.
    """
    found = by_closed_form(cut, geometry, "f")
    closed, defined = WORDS.get(found.kind, "partition"), by_definition(cut, geometry)
    # A split block has no map whether or not its groups could reduce: M6 comes first.
    if geometry.kind in ("block", "packed") and defined == "reducible":
        defined = "impossible"
    if closed != defined:
        return f"the closed form says {closed}, the definition {defined}: {geometry}, {cut}"
    if found.shard_map is None:
        return None
    verdict = check_map(found.shard_map).subjects[0].verdict
    if verdict != "proved":
        return f"the induced map is {verdict}: {geometry}, {cut}"
    # State that is made from nothing, of a parameter without elements, is with everybody and touches nobody.
    if cut.numel and geometry.kind != "factor" and _holders(found.shard_map) != _touching(cut, geometry):
        return f"the induced map gives elements to other members: {geometry}, {cut}"
    return None


def _holders(shard_map: ShardMap) -> list[set[int]]:
    """The ranks that hold each element of the field, in order of its address."""
    found: dict[int, set[int]] = {}
    for rank, _, piece in shard_map.pieces():
        for index in range(piece.numel):
            address = piece.source.address(coordinates(index, piece.shape))
            found.setdefault(address, set()).add(rank)
    return [found[address] for address in sorted(found)]


def _touching(cut: ParameterCut, geometry: Geometry) -> list[set[int]]:
    """The members that hold parameter elements from which each element of the field is made."""
    held = held_by(cut)
    fed = supports(geometry, cut.shape)
    return [
        {member for member, elements in held.items() if elements & fed[key]}
        for key in sorted(fed, key=lambda key: key if isinstance(key, tuple) else (key,))
    ]
