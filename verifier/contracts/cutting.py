"""From a JSON value to the cut of a parameter, with every rule its types break: R1 to R11, R14, R16, N32."""

from __future__ import annotations

from typing import cast

from verifier.contracts.document import Layout
from verifier.contracts.reading import MOST_DIMENSIONS, MOST_MEMBERS, Members, Value
from verifier.contracts.shards import MemberShard, ParameterCut, Placement, PlacementKind


def decode_cut(value: Value) -> ParameterCut:
    """The cut; what cannot be read of it is noted and stands for something harmless."""
    members = Members(value, "R14")
    fqn, shape = decode_parameter(members.need("parameter", "R14", {"fqn": "w", "shape": []}))
    group, names = decode_group(members.get("group"))
    cut = ParameterCut(
        fqn=fqn,
        shape=shape,
        layout=cast(Layout, members.need("layout", "R14", "replicated").word("R14", Layout, "replicated")),
        group=group,
        members=names,
        shards=tuple(map(_shard, members.need("shards", "R27", []).ordered("R27", MOST_MEMBERS))),
        dim=members.optional("dim", _dimension, None),
        padding=members.optional("padding", lambda v: v.integer("N39", least=0), 0),
    )
    _version(members)
    members.done()
    return cut


def decode_parameter(value: Value, unknown: str = "N3") -> tuple[str, tuple[int, ...]]:
    """The identity of a parameter: its name and its shape, elements. Other members break ``unknown``."""
    parameter = Members(value, "R14")
    fqn = _fqn(parameter.need("fqn", "R1", "w"))
    shape = _extents(parameter.need("shape", "R3", []), "R3")
    _version(parameter)
    parameter.done(unknown)
    return fqn, shape


def decode_group(value: Value | None) -> tuple[str | None, tuple[str, ...]]:
    """The name and the members of a group, None and none without one."""
    if value is None or value.raw is None:
        return None, ()
    group = Members(value, "R5")
    name = group.need("name", "R1", "group").text("R1", "group")
    members = group.need("members", "R5", [])
    listed = members.ordered("R5", MOST_MEMBERS)
    if type(members.raw) is list and not members.raw:
        members.broken("R5", "the group has no members")
    _version(group)
    group.done()
    return name, tuple([item.text("R1", f"?{k}") for k, item in enumerate(listed)])


def _version(members: Members) -> None:
    version = members.get("schema_version")
    if version is not None and (type(version.raw) is not int or version.raw != 1):
        version.broken("R4", "schema_version is the integer 1")


def _fqn(value: Value) -> str:
    """A name of dotted parts, none of them empty or with blanks inside."""
    name = value.text("R1", "w")
    if any(not part for part in name.split(".")):
        value.broken("R2", f"{name!r} has an empty part between its dots")
    elif any(character.isspace() for character in name):
        value.broken("R1", f"{name!r} has a blank inside")
    return name


def _extents(value: Value, rule: str) -> tuple[int, ...]:
    return tuple([item.integer(rule, least=0) for item in value.ordered(rule, MOST_DIMENSIONS)])


def _dimension(value: Value) -> int | None:
    return None if value.raw is None else value.integer("R9", least=0)


def _shard(value: Value) -> MemberShard:
    """An interval by ``offset`` and ``length``, or a box by ``offsets`` and ``lengths``."""
    members = Members(value, "R14")
    _version(members)
    member = members.optional("member", lambda v: v.text("R1"), "")
    owner = members.optional("owner", lambda v: None if v.raw is None else v.text("R19"), None)
    is_box = bool({"offsets", "lengths"} & members.there.keys())
    if is_box:
        offsets = _extents(members.need("offsets", "R11", []), "R11")
        lengths = _extents(members.need("lengths", "R11", []), "R11")
        if len(offsets) != len(lengths):
            value.broken("R11", f"{len(offsets)} offsets and {len(lengths)} lengths")
            offsets, lengths = (), ()
    else:
        offsets = (members.need("offset", "R10", 0).integer("R10", least=0),)
        lengths = (members.need("length", "R10", 0).integer("R10", least=0),)
    placements = members.optional("placements", _placements, None)
    members.done()
    return MemberShard(
        member=member, offsets=offsets, lengths=lengths, owner=owner, is_box=is_box, placements=placements
    )


def _placements(value: Value) -> tuple[Placement, ...] | None:
    if value.raw is None:
        return None
    return tuple(map(_placement, value.ordered("R16", MOST_DIMENSIONS)))


def _placement(value: Value) -> Placement:
    """One axis of the mesh. ``dim`` belongs to the dimension_shard, and to no other kind (R9)."""
    members = Members(value, "R16")
    placement = Placement(
        axis=members.need("axis", "R1", "axis").text("R1", "axis"),
        kind=cast(
            PlacementKind, members.need("kind", "R6", "replicate").word("R6", PlacementKind, "replicate")
        ),
        coordinate=members.need("coordinate", "R8", 0).integer("R8", least=0),
        parts=members.need("parts", "R7", 1).integer("R7", least=1, default=1),
        dim=members.optional("dim", _dimension, None),
    )
    members.done()
    return placement
