"""Several parameters stacked on one axis, each cut for itself: fused projections.

A plain cut of such an axis is a perfect tiling and the wrong function: rank 0 would hold the first parameter
and rank 1 the second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.layouts.blocks import Blocks, along, pack
from verifier.layouts.errors import BadLayout
from verifier.layouts.rules import RULES, RuleName, require_rule
from verifier.layouts.sizes import (
    Size,
    require_axis,
    require_count,
    require_sequence,
    require_shape,
    require_size,
    require_sizes,
    require_sum,
)
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class Cut:
    """A segment of which rank r holds the r-th part; ``widths`` in elements, one for each rank."""

    widths: Sequence[Size]


@dataclass(frozen=True, slots=True)
class Ruled:
    """A segment of ``size`` elements of which rank r holds the r-th part by a rule."""

    size: Size
    rule: RuleName = "even"


@dataclass(frozen=True, slots=True)
class Whole:
    """A segment of ``size`` elements that every rank holds whole."""

    size: Size


Segment = Cut | Ruled | Whole


def segmented(shape: Sequence[Size], segments: Sequence[Segment], ranks: int, axis: int = 0) -> ShardMap:
    """One axis is a row of segments, each cut over all ranks or whole on all of them.

    A shard holds what its rank has of the first segment, then of the second one, and so on. DeepSpeed calls
    this ``segmented_map``; with no segment whole, it is its ``sub_param_map``.

    Args:
        shape: of the parameter.
        segments: from the first element of the axis on.
        ranks: how many; they are numbered from 0.
        axis: the one of the segments; -1 is the last.

    Raises:
        BadLayout: no segment, one that is none, has not one width for each rank, or a remainder under
            ``even``; the segments do not add up to the axis; a size or a count is no such number.
    """
    require_shape("shape", shape)
    at = require_axis("axis", axis, len(shape))
    require_count("ranks", ranks)
    require_count("len(segments)", len(require_sequence("segments", segments)))
    widths: list[Size] = []
    held: dict[int, list[int]] = {rank: [] for rank in range(ranks)}
    for place, segment in enumerate(segments):
        parts = _parts(f"segments[{place}]", segment, ranks)
        for rank, mine in held.items():
            mine.append(len(widths) + (0 if len(parts) == 1 else rank))
        widths += parts
    require_sum("segments", sum(widths), shape[at], f"axis {axis} of shape")
    return pack(along(shape, at, Blocks(tuple(widths), held)))


def fused(shape: Sequence[Size], widths: Sequence[Sequence[Size]], axis: int = 0) -> ShardMap:
    """One axis is a row of parameters, each cut over all ranks by its own widths.

    Args:
        shape: of the parameter.
        widths: for each parameter in order, the widths of its parts, one for each rank.
        axis: the one of the parameters; -1 is the last.

    Raises:
        BadLayout: no parameter, lists of different lengths, widths that do not add up to the axis, or a
            width is no such number.
    """
    require_count("len(widths)", len(require_sequence("widths", widths)))
    for place, one in enumerate(widths):
        require_sizes(f"widths[{place}]", one)
        if len(one) != len(widths[0]):
            raise BadLayout(f"widths[{place}]", f"has {len(one)} entries, but widths[0] {len(widths[0])}")
    require_count("len(widths[0])", len(widths[0]))
    try:
        return segmented(shape, [Cut(one) for one in widths], len(widths[0]), axis)
    except BadLayout as error:
        raise BadLayout(error.argument.replace("segments", "widths"), error.reason) from None


def gate_up(
    intermediate: Size,
    hidden: Size | None,
    ranks: int,
    groups: int = 1,
    rule: RuleName = "even",
) -> ShardMap:
    """The gate and the up projection of a gated MLP in one weight.

    The weight is (2 * intermediate, hidden), a bias (2 * intermediate,). Its rows are ``groups`` groups, each
    with its part of the gate, then its part of up. One group is the gate above up; several are what one gets
    by putting as many shards below each other. A shard holds its part of the gate, then its part of up.

    Args:
        intermediate: rows of the gate, and of up.
        hidden: columns; None for a bias.
        ranks: how many; they are numbered from 0.
        groups: how many; a divisor or a multiple of ``ranks``.
        rule: cuts the gate, and up, into max(ranks, groups) parts.

    Raises:
        BadLayout: neither of ranks and groups divides the other, a remainder under ``even``, or a size or a
            count is no such number.
    """
    require_size("intermediate", intermediate)
    if hidden is not None:
        require_size("hidden", hidden)
    require_count("ranks", ranks)
    require_count("groups", groups)
    require_rule("rule", rule)
    parts = max(ranks, groups)
    if parts % ranks or parts % groups:
        raise BadLayout("groups", f"is {groups}, neither a divisor nor a multiple of the {ranks} ranks")
    try:
        half = RULES[rule](intermediate, parts)
    except BadLayout as error:
        raise BadLayout("intermediate", error.reason) from None
    in_group, in_shard = parts // groups, parts // ranks
    widths: list[Size] = []
    gates: list[int] = []
    ups: list[int] = []
    for first in range(0, parts, in_group):
        for where in (gates, ups):
            where += range(len(widths), len(widths) + in_group)
            widths += half[first : first + in_group]
    held = {
        rank: (*gates[first : first + in_shard], *ups[first : first + in_shard])
        for rank, first in enumerate(range(0, parts, in_shard))
    }
    rows = Blocks(tuple(widths), held)
    return pack(along([rows.size] if hidden is None else [rows.size, hidden], 0, rows))


def _parts(argument: str, segment: object, ranks: int) -> Sequence[Size]:
    """The widths of a segment: one, or one for each rank."""
    if isinstance(segment, Cut):
        require_sizes(f"{argument}.widths", segment.widths)
        if len(segment.widths) != ranks:
            raise BadLayout(f"{argument}.widths", f"has {len(segment.widths)} entries for {ranks} ranks")
        return segment.widths
    if isinstance(segment, Ruled):
        require_size(f"{argument}.size", segment.size)
        require_rule(f"{argument}.rule", segment.rule)
        try:
            return RULES[segment.rule](segment.size, ranks)
        except BadLayout as error:
            raise BadLayout(f"{argument}.size", error.reason) from None
    if isinstance(segment, Whole):
        require_size(f"{argument}.size", segment.size)
        return (segment.size,)
    raise BadLayout(argument, f"is a {type(segment).__name__}; give a Cut, a Ruled or a Whole")
