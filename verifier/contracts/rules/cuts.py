"""Rules about the cut of one parameter: R5 in part, R9, R12, R15, R17 to R20, R22 to R27, R30 to R36, N39."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from verifier.contracts.broken import Broken
from verifier.contracts.reading import repeated
from verifier.contracts.rules.placements import PLACEMENT_RULES
from verifier.contracts.shards import MemberShard, ParameterCut

CutRule = Callable[[ParameterCut], Iterator[Broken]]


def _at(position: int, *keys: str) -> str:
    return "".join(["/shards", f"/{position}", *[f"/{key}" for key in keys]])


def members_are_listed_once(cut: ParameterCut) -> Iterator[Broken]:
    """R5: the members of a group are different."""
    for position, member in repeated(cut.members):
        yield Broken(f"/group/members/{position}", "R5", f"the member {member!r} is listed twice")


def _is_mesh_replica(cut: ParameterCut) -> bool:
    """Whether the mesh of a dim_shard parameter replicates it: the placements say so, and all are stated."""
    return bool(cut.shards) and all(
        shard.placements is not None and [placement.kind for placement in shard.placements] == ["replicate"]
        for shard in cut.shards
    )


def kind_of_shard_fits_the_layout(cut: ParameterCut) -> Iterator[Broken]:
    """R15: shards of a dimension are boxes, others are intervals; a dimension is named where one is cut."""
    boxes = cut.layout == "dim_shard"
    for position, shard in enumerate(cut.shards):
        if shard.is_box != boxes:
            what = "a box" if shard.is_box else "an interval"
            yield Broken(_at(position), "R15", f"{what} in a {cut.layout} parameter")
    if (cut.dim is not None) != (boxes and not _is_mesh_replica(cut)):
        yield Broken("/dim", "R9", "a dimension is named exactly where one is cut")
    if cut.dim is not None and cut.dim >= len(cut.shape):
        yield Broken("/dim", "R22", f"there is no dimension {cut.dim} of {len(cut.shape)}")


def shards_are_inside(cut: ParameterCut) -> Iterator[Broken]:
    """R12, R17 and N39: a box lies inside the parameter, an interval ends at its last element at the latest.

    What lies behind the last element of a padded buffer is padding, which has no index.
    """
    for position, shard in enumerate(cut.shards):
        if not shard.is_box:
            yield from _interval_is_inside(cut, position, shard)
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


def _interval_is_inside(cut: ParameterCut, position: int, shard: MemberShard) -> Iterator[Broken]:
    end = shard.offsets[0] + shard.lengths[0]
    if end <= cut.numel:
        return
    if cut.numel < end <= cut.numel + cut.padding:
        what = "holds" if shard.lengths[0] else "begins in"
        yield Broken(
            _at(position),
            "N39",
            f"the interval that ends at {end} {what} padding: {cut.numel} has no element",
        )
    else:
        yield Broken(_at(position), "R17", f"the interval ends at {end}, the parameter at {cut.numel}")


def padding_is_of_a_buffer(cut: ParameterCut) -> Iterator[Broken]:
    """N39: only a flat buffer has padding behind its parameter."""
    if cut.padding and cut.layout != "flat_shard":
        yield Broken("/padding", "N39", f"{cut.padding} elements of padding in a {cut.layout} parameter")


def members_and_owners(cut: ParameterCut) -> Iterator[Broken]:
    """R18 to R20: members and owners belong to the group, and only a layout with owners has them."""
    members, unclear = set(cut.members), _listed_twice(cut)
    for position, shard in enumerate(cut.shards):
        if cut.group is None and (shard.member or shard.owner):
            yield Broken(_at(position), "R18", "a member or owner without a group")
        if cut.group is not None and not unclear and shard.member not in members:
            yield Broken(_at(position, "member"), "R19", f"{shard.member!r} is no member of {cut.group!r}")
        if shard.owner is not None and cut.group is not None and shard.owner not in members:
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
    for position, member in repeated(listed):
        yield Broken(_at(position, "member"), "R30", f"{member!r} has two shards")
    if _listed_twice(cut) and sorted(listed) != sorted(cut.members):
        yield Broken("/shards", "R30", "the shards are not one for each listed member")
    found = set(listed)
    missing = next((member for member in cut.members if member not in found), None)
    if missing is not None:
        yield Broken("/shards", "R30", f"{missing!r} has no shard")


def _listed_twice(cut: ParameterCut) -> bool:
    """Whether the group is no set: then membership says nothing (R5)."""
    return any(True for _ in repeated(cut.members))


def layouts_with_a_group(cut: ParameterCut) -> Iterator[Broken]:
    """R24 to R26: whatever is cut or owned is so among the members of a group."""
    rule = {"flat_shard": "R24", "whole_owner": "R25", "dim_shard": "R26"}.get(cut.layout)
    if rule is not None and cut.group is None:
        yield Broken("/layout", rule, f"a {cut.layout} parameter without a group")


def flat_shards_cover(cut: ParameterCut) -> Iterator[Broken]:
    """R32: intervals in order of their offset leave no gap and no overlap; empty ones sit on a boundary.

    The order of the members is free.
    """
    if cut.layout != "flat_shard" or not cut.shards or any(_leaves(shard, cut) for shard in cut.shards):
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


def _leaves(shard: MemberShard, cut: ParameterCut) -> bool:
    """Whether a shard is no part of the parameter at all, which other rules say."""
    if not shard.is_box:
        return cut.layout == "dim_shard" or shard.offsets[0] + shard.lengths[0] > cut.numel
    if cut.layout != "dim_shard" or len(shard.offsets) != len(cut.shape):
        return True
    return any(o + n > extent for o, n, extent in zip(shard.offsets, shard.lengths, cut.shape, strict=True))


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
    if not cut.shards or any(_leaves(shard, cut) for shard in cut.shards):
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


def mesh_replicas_are_whole(cut: ParameterCut) -> Iterator[Broken]:
    """R35: where the mesh replicates a parameter, every box is all of it."""
    if not (cut.layout == "dim_shard" and _is_mesh_replica(cut)):
        return
    whole = (0,) * len(cut.shape), cut.shape
    for position, shard in enumerate(cut.shards):
        if shard.is_box and (shard.offsets, shard.lengths) != whole:
            yield Broken(_at(position), "R35", f"holds {list(shard.lengths)} of {list(cut.shape)}")


def _in_member_order(cut: ParameterCut) -> list[tuple[int, MemberShard]]:
    places = {member: k for k, member in reversed(list(enumerate(cut.members)))}
    return sorted(enumerate(cut.shards), key=lambda found: places.get(found[1].member, len(places)))


CUT_RULES: tuple[CutRule, ...] = (
    members_are_listed_once,
    kind_of_shard_fits_the_layout,
    shards_are_inside,
    padding_is_of_a_buffer,
    members_and_owners,
    everybody_once,
    layouts_with_a_group,
    flat_shards_cover,
    replicas_are_whole,
    owners_agree,
    dimension_shards_cover,
    mesh_replicas_are_whole,
    *PLACEMENT_RULES,
)


def broken_cut_rules(cut: ParameterCut) -> Iterator[Broken]:
    """Every rule that a cut breaks."""
    for rule in CUT_RULES:
        yield from rule(cut)
