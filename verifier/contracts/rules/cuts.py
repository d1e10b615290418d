"""Rules about the cut of one parameter: R12, R13, R15, R17 to R36, N30, N31, N39."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from verifier.contracts.broken import Broken
from verifier.contracts.shards import MemberShard, ParameterCut

CutRule = Callable[[ParameterCut], Iterator[Broken]]


def _at(position: int, *keys: str) -> str:
    return "".join(["/shards", f"/{position}", *[f"/{key}" for key in keys]])


def kind_of_shard_fits_the_layout(cut: ParameterCut) -> Iterator[Broken]:
    """R15: shards of a dimension are boxes, others are intervals; a dimension is named for boxes only."""
    boxes = cut.layout == "dim_shard"
    for position, shard in enumerate(cut.shards):
        if shard.is_box != boxes:
            what = "a box" if shard.is_box else "an interval"
            yield Broken(_at(position), "R15", f"{what} in a {cut.layout} parameter")
    if (cut.dim is not None) != boxes:
        yield Broken("/dim", "R9", "a dimension is named exactly where one is cut")
    if cut.dim is not None and cut.dim >= len(cut.shape):
        yield Broken("/dim", "R22", f"there is no dimension {cut.dim} of {len(cut.shape)}")


def shards_are_inside(cut: ParameterCut) -> Iterator[Broken]:
    """R12 and R17: a box lies inside the parameter, an interval ends at its last element at the latest."""
    for position, shard in enumerate(cut.shards):
        if not shard.is_box:
            end = shard.offsets[0] + shard.lengths[0]
            if end > cut.numel:
                yield Broken(
                    _at(position), "R17", f"the interval ends at {end}, the parameter at {cut.numel}"
                )
        elif len(shard.offsets) != len(cut.shape):
            yield Broken(
                _at(position),
                "R12",
                f"a box of {len(shard.offsets)} dimensions, a parameter of {len(cut.shape)}",
            )
        else:
            for dim, (o, n, extent) in enumerate(zip(shard.offsets, shard.lengths, cut.shape, strict=True)):
                if o + n > extent:
                    yield Broken(
                        _at(position),
                        "R12",
                        f"the box ends at {o + n} in dimension {dim}, which has {extent}",
                    )


def members_and_owners(cut: ParameterCut) -> Iterator[Broken]:
    """R18 to R20: members and owners belong to the group, and only a layout with owners has them."""
    for position, shard in enumerate(cut.shards):
        if cut.group is None and (shard.member or shard.owner):
            yield Broken(_at(position), "R18", "a member or owner without a group")
        if cut.group is not None and not _listed_twice(cut) and shard.member not in cut.members:
            yield Broken(_at(position, "member"), "R19", f"{shard.member!r} is no member of {cut.group!r}")
        if shard.owner is not None and cut.group is not None and shard.owner not in cut.members:
            yield Broken(_at(position, "owner"), "R19", f"the owner {shard.owner!r} is no member")
        if shard.owner is not None and cut.layout != "whole_owner":
            yield Broken(_at(position, "owner"), "R20", f"an owner in a {cut.layout} parameter")


def everybody_once(cut: ParameterCut) -> Iterator[Broken]:
    """R27 and R30: there are shards, one without a group, and one for each member of a group."""
    if not cut.shards:
        yield Broken("/shards", "R27", "there is no shard")
        return
    if cut.group is None:
        if len(cut.shards) != 1:
            yield Broken("/shards", "R30", f"{len(cut.shards)} shards and no group")
        return
    listed = [shard.member for shard in cut.shards]
    for position, member in enumerate(listed):
        if member in listed[:position]:
            yield Broken(_at(position, "member"), "R30", f"{member!r} has two shards")
    if _listed_twice(cut) and sorted(listed) != sorted(cut.members):
        yield Broken("/shards", "R30", "the shards are not one for each listed member")
    missing = [member for member in dict.fromkeys(cut.members) if member not in listed]
    if missing:
        yield Broken("/shards", "R30", f"{missing[0]!r} has no shard")


def _listed_twice(cut: ParameterCut) -> bool:
    """Whether the group is no set: then membership says nothing (R5)."""
    return len(set(cut.members)) != len(cut.members)


def layouts_with_a_group(cut: ParameterCut) -> Iterator[Broken]:
    """R24 to R26: whatever is cut or owned is so among the members of a group."""
    rule = {"flat_shard": "R24", "whole_owner": "R25", "dim_shard": "R26"}.get(cut.layout)
    if rule is not None and cut.group is None:
        yield Broken("/layout", rule, f"a {cut.layout} parameter without a group")


def flat_shards_cover(cut: ParameterCut) -> Iterator[Broken]:
    """R32: intervals in order of their offset leave no gap and no overlap; empty ones sit on a boundary.

    The order of the members is free.
    """
    if cut.layout != "flat_shard" or any(shard.is_box for shard in cut.shards):
        return
    order = sorted(range(len(cut.shards)), key=lambda k: (cut.shards[k].offsets[0], cut.shards[k].lengths[0]))
    reached, boundaries = 0, {0, cut.numel}
    for position in order:
        offset, length = cut.shards[position].offsets[0], cut.shards[position].lengths[0]
        if not length:
            continue
        if offset != reached:
            what = "overlaps the one before" if offset < reached else "leaves a gap"
            yield Broken(_at(position), "R32", f"the interval at {offset} {what}, which ends at {reached}")
        reached = max(reached, offset + length)
        boundaries |= {offset, offset + length}
    if reached != cut.numel:
        yield Broken("/shards", "R32", f"the intervals end at {reached}, the parameter at {cut.numel}")
    for position in order:
        offset, length = cut.shards[position].offsets[0], cut.shards[position].lengths[0]
        if not length and offset not in boundaries:
            yield Broken(_at(position), "R32", f"an empty interval at {offset}, inside another one")


def replicas_are_whole(cut: ParameterCut) -> Iterator[Broken]:
    """R23 and R33: each member of a replicated parameter holds all of it."""
    if cut.layout != "replicated":
        return
    rule = "R23" if cut.group is None else "R33"
    for position, shard in enumerate(cut.shards):
        if not shard.is_box and (shard.offsets[0], shard.lengths[0]) != (0, cut.numel):
            yield Broken(_at(position), rule, f"holds {shard.lengths[0]} of {cut.numel} elements")


def owners_agree(cut: ParameterCut) -> Iterator[Broken]:
    """R25 and R34: all name one owner, who holds everything; the others hold (0, 0)."""
    if cut.layout != "whole_owner":
        return
    owners = {shard.owner for shard in cut.shards}
    if len(owners) > 1 or owners == {None}:
        yield Broken("/shards", "R34", "the members do not name one owner")
    for position, shard in enumerate(cut.shards):
        whole = (0, cut.numel) if shard.member == shard.owner else (0, 0)
        if not shard.is_box and (shard.offsets[0], shard.lengths[0]) != whole:
            who = "the owner" if shard.member == shard.owner else "who does not own it"
            yield Broken(
                _at(position), "R25", f"{who} holds ({shard.offsets[0]}, {shard.lengths[0]}), not {whole}"
            )


def dimension_shards_cover(cut: ParameterCut) -> Iterator[Broken]:
    """R26 and R36: boxes are whole in every other dimension; in this one they follow each other in the order
    of the members, an empty one where the one before ends.
    """
    if cut.layout != "dim_shard" or cut.dim is None or cut.dim >= len(cut.shape):
        return
    if any(not shard.is_box or len(shard.offsets) != len(cut.shape) for shard in cut.shards):
        return
    for position, shard in enumerate(cut.shards):
        for dim, extent in enumerate(cut.shape):
            if dim != cut.dim and (shard.offsets[dim], shard.lengths[dim]) != (0, extent):
                yield Broken(_at(position), "R26", f"dimension {dim} is cut as well as {cut.dim}")
    reached = 0
    for position, shard in _in_member_order(cut):
        offset, length = shard.offsets[cut.dim], shard.lengths[cut.dim]
        if offset != reached:
            yield Broken(_at(position), "R36", f"begins at {offset}; the member before ends at {reached}")
            return
        reached += length
    if reached != cut.shape[cut.dim]:
        yield Broken("/shards", "R36", f"the boxes end at {reached}, the dimension at {cut.shape[cut.dim]}")


def _in_member_order(cut: ParameterCut) -> list[tuple[int, MemberShard]]:
    places = {member: k for k, member in reversed(list(enumerate(cut.members)))}
    return sorted(enumerate(cut.shards), key=lambda found: places.get(found[1].member, len(places)))


CUT_RULES: tuple[CutRule, ...] = (
    kind_of_shard_fits_the_layout,
    shards_are_inside,
    members_and_owners,
    everybody_once,
    layouts_with_a_group,
    flat_shards_cover,
    replicas_are_whole,
    owners_agree,
    dimension_shards_cover,
)


def broken_cut_rules(cut: ParameterCut) -> Iterator[Broken]:
    """Every rule that a cut breaks."""
    for rule in CUT_RULES:
        yield from rule(cut)


def broken_manifest_rules(cuts: Sequence[ParameterCut]) -> Iterator[Broken]:
    """R28, R29, N30 and N31: what the cuts of several parameters must agree in."""
    shapes: dict[str, tuple[int, ...]] = {}
    groups: dict[str, tuple[str, ...]] = {}
    folded: dict[str, str] = {}
    for position, cut in enumerate(cuts):
        at = f"/{position}"
        if shapes.setdefault(cut.fqn, cut.shape) != cut.shape:
            yield Broken(at, "R28", f"{cut.fqn!r} has two shapes")
        elif any(cut.fqn == other.fqn for other in cuts[:position]):
            yield Broken(at, "R29", f"{cut.fqn!r} is cut twice")
        if cut.group is not None and groups.setdefault(cut.group, cut.members) != cut.members:
            yield Broken(at, "N30", f"the group {cut.group!r} has two lists of members")
        if folded.setdefault(cut.fqn.lower(), cut.fqn) != cut.fqn:
            yield Broken(at, "N31", f"{cut.fqn!r} and {folded[cut.fqn.lower()]!r} differ in case only")
        for other in cuts:
            if other.fqn.startswith(cut.fqn + "."):
                yield Broken(at, "N31", f"{cut.fqn!r} is the beginning of {other.fqn!r}")
                break
