"""Rules about the placements of a cut, where they are stated: R8, R9, R16, R21 to R26, R31."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.contracts.broken import Broken
from verifier.contracts.reading import repeated
from verifier.contracts.shards import ParameterCut, Placement

PLACED = {"replicated": "R23", "flat_shard": "R24", "whole_owner": "R25", "dim_shard": "R26"}
KINDS = {
    "replicated": ("replicate",),
    "flat_shard": ("flat_shard",),
    "whole_owner": ("whole_owner",),
    "dim_shard": ("dimension_shard", "replicate"),
}
"""What a mesh axis may do in each layout."""


def _stated(cut: ParameterCut) -> Iterator[tuple[str, tuple[Placement, ...]]]:
    """The placements of each shard that states them, with their place."""
    for position, shard in enumerate(cut.shards):
        if shard.placements is not None:
            yield f"/shards/{position}/placements", shard.placements


def placements_are_possible(cut: ParameterCut) -> Iterator[Broken]:
    """R8, R9 and R22: the coordinate is one of the parts, and a dimension is named where one is cut."""
    for at, placements in _stated(cut):
        for k, placement in enumerate(placements):
            if placement.coordinate >= placement.parts:
                yield Broken(
                    f"{at}/{k}/coordinate",
                    "R8",
                    f"there is no coordinate {placement.coordinate} of {placement.parts}",
                )
            if (placement.dim is not None) != (placement.kind == "dimension_shard"):
                yield Broken(f"{at}/{k}", "R9", "a dimension is named exactly where one is cut")
            if placement.dim is not None and placement.dim >= len(cut.shape):
                yield Broken(
                    f"{at}/{k}/dim", "R22", f"there is no dimension {placement.dim} of {len(cut.shape)}"
                )


def axes_are_in_order(cut: ParameterCut) -> Iterator[Broken]:
    """R16: the axes of a mesh are named once and listed in order of their names."""
    for at, placements in _stated(cut):
        axes = [placement.axis for placement in placements]
        for k, axis in repeated(axes):
            yield Broken(f"{at}/{k}/axis", "R16", f"the axis {axis!r} is there twice")
        if axes != sorted(axes):
            yield Broken(at, "R16", "the axes are not listed in order of their names")


def coordinates_are_places_in_the_group(cut: ParameterCut) -> Iterator[Broken]:
    """R21: along each axis there are as many parts as members, and a member's coordinate is its place."""
    if cut.group is None:
        return
    places = {member: k for k, member in reversed(list(enumerate(cut.members)))}
    for shard, (at, placements) in zip(
        [shard for shard in cut.shards if shard.placements is not None], _stated(cut), strict=True
    ):
        place = places.get(shard.member)
        for k, placement in enumerate(placements):
            if placement.parts != len(cut.members):
                yield Broken(
                    f"{at}/{k}/parts", "R21", f"{placement.parts} parts of {len(cut.members)} members"
                )
            elif place is not None and place != placement.coordinate < placement.parts:
                yield Broken(
                    f"{at}/{k}/coordinate",
                    "R21",
                    f"{shard.member!r} is member {place} and has the coordinate {placement.coordinate}",
                )


def placements_fit_the_layout(cut: ParameterCut) -> Iterator[Broken]:
    """R23 to R26: one placement of the layout's kind with a group; without one a replica has none."""
    rule, kinds = PLACED[cut.layout], KINDS[cut.layout]
    count = 0 if cut.group is None and cut.layout == "replicated" else 1
    for at, placements in _stated(cut):
        if len(placements) != count:
            yield Broken(at, rule, f"{len(placements)} placements of a {cut.layout} parameter, not {count}")
        for k, placement in enumerate(placements):
            if placement.kind not in kinds:
                yield Broken(
                    f"{at}/{k}/kind", rule, f"{placement.kind} along a mesh of a {cut.layout} parameter"
                )
            elif placement.dim is not None and cut.dim is not None and placement.dim != cut.dim:
                yield Broken(f"{at}/{k}/dim", rule, f"cuts dimension {placement.dim}, the cut {cut.dim}")


def members_agree_on_the_mesh(cut: ParameterCut) -> Iterator[Broken]:
    """R31: what an axis does, and to which dimension, is the same for all members, coordinates apart."""
    first: list[tuple[object, ...]] | None = None
    for at, placements in _stated(cut):
        topology: list[tuple[object, ...]] = [(p.axis, p.kind, p.parts, p.dim) for p in placements]
        if first is None:
            first = topology
        elif topology != first:
            yield Broken(at, "R31", "another mesh than that of the first shard")
    stated = [shard.placements is not None for shard in cut.shards]
    if any(stated) and not all(stated):
        yield Broken(f"/shards/{stated.index(False)}", "R31", "this shard alone states no placements")


PLACEMENT_RULES = (
    placements_are_possible,
    axes_are_in_order,
    coordinates_are_places_in_the_group,
    placements_fit_the_layout,
    members_agree_on_the_mesh,
)
