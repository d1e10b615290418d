"""From a JSON value to the cut of a parameter, with every rule its types break: R1 to R11, R18, N1, N32."""

from __future__ import annotations

from typing import cast

from verifier.contracts.document import Layout
from verifier.contracts.reading import Members, Value
from verifier.contracts.shards import MemberShard, ParameterCut


def decode_cut(value: Value) -> ParameterCut:
    """The cut; what cannot be read of it is noted and stands for something harmless."""
    members = Members(value, "R14")
    parameter = Members(members.need("parameter", "R14", {"fqn": "w", "shape": []}), "R14")
    fqn = _fqn(parameter.need("fqn", "R1", "w"))
    shape = _extents(parameter.need("shape", "R3", []), "R3")
    _version(parameter)
    parameter.done()
    group, names = _group(members.get("group"))
    cut = ParameterCut(
        fqn=fqn,
        shape=shape,
        layout=cast(Layout, members.need("layout", "R14", "replicated").word("R14", Layout, "replicated")),
        group=group,
        members=names,
        shards=tuple(_shard(shard) for shard in members.need("shards", "R27", []).items("R27")),
        dim=members.optional("dim", lambda v: v.integer("R9", least=0), None),
    )
    _version(members)
    members.done()
    return cut


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
    return tuple([item.integer(rule, least=0) for item in value.items(rule)])


def _group(value: Value | None) -> tuple[str | None, tuple[str, ...]]:
    """The name and the members; order matters, so a list is the only container for it."""
    if value is None or value.raw is None:
        return None, ()
    group = Members(value, "R5")
    name = group.need("name", "R1", "group").text("R1", "group")
    members = group.need("members", "R5", [])
    listed = tuple([item.text("R1", f"?{k}") for k, item in enumerate(members.items("R5"))])
    if len(set(listed)) != len(listed):
        members.broken("R5", "a member is listed twice")
    if type(members.raw) is list and not listed:
        members.broken("R5", "the group has no members")
    _version(group)
    group.done()
    return name, listed


def _shard(value: Value) -> MemberShard:
    """An interval by ``offset`` and ``length``, or a box by ``offsets`` and ``lengths``."""
    members = Members(value, "R14")
    member = members.optional("member", lambda v: v.text("R1"), "")
    owner = members.optional("owner", lambda v: None if v.raw is None else v.text("R19"), None)
    if "offsets" in members.there or "lengths" in members.there:
        offsets = _extents(members.need("offsets", "R11", []), "R11")
        lengths = _extents(members.need("lengths", "R11", []), "R11")
        if len(offsets) != len(lengths):
            value.broken("R11", f"{len(offsets)} offsets and {len(lengths)} lengths")
            lengths = (*lengths, *offsets)[: len(offsets)]
    else:
        offsets = (members.need("offset", "R10", 0).integer("R10", least=0),)
        lengths = (members.need("length", "R10", 0).integer("R10", least=0),)
    is_box = "offsets" in members.there
    members.done()
    return MemberShard(member=member, offsets=offsets, lengths=lengths, owner=owner, is_box=is_box)
