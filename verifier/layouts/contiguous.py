"""The two plainest layouts: everything on every rank, and one axis cut once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from verifier.geometry.strided import StridedView
from verifier.layouts.blocks import NAME, Blocks, along, pack, uncut
from verifier.layouts.errors import BadLayout
from verifier.layouts.rules import RULES, RuleName, require_rule
from verifier.layouts.sizes import (
    Size,
    require_axis,
    require_count,
    require_shape,
    require_sizes,
    require_sum,
)
from verifier.model.piece import SCALE_BITS, Piece, Scale, exact_scale
from verifier.model.shard_map import RankShard, ShardMap


def replicated(shape: Sequence[Size], ranks: int, scale: float | Fraction = 1) -> ShardMap:
    """Every rank holds the whole parameter, times ``scale``.

    Args:
        shape: of the parameter, and of each shard; no dimensions make a scalar.
        ranks: how many; they are numbered from 0.
        scale: of every shard, so that shard = parameter * scale. A float stands for its exact rational.

    Raises:
        BadLayout: a dimension is negative or no integer, there is no rank, or the scale is 0 or not finite.
    """
    require_shape("shape", shape)
    require_count("ranks", ranks)
    exact = _exact("scale", scale)
    everyone = range(ranks)
    if shape:
        return pack([uncut(size, everyone) for size in shape], exact)
    element = StridedView(0, (), ())
    shard = RankShard((), (Piece(element, element, tuple(everyone), exact),))
    return ShardMap(name=NAME, logical_shape=(), ranks=dict.fromkeys(everyone, shard))


def contiguous(shape: Sequence[Size], widths: Sequence[Size], axis: int = 0) -> ShardMap:
    """One axis cut into consecutive parts: rank r holds the r-th.

    Column and row parallel weights, experts in order, FSDP of one parameter. The rules of
    ``verifier.layouts.rules`` make widths: ``contiguous(shape, chunk(shape[0], 4))``.

    Args:
        shape: of the parameter.
        widths: elements of ``axis`` for each rank, from rank 0 on; 0 makes an empty shard.
        axis: the one that is cut; -1 is the last.

    Raises:
        BadLayout: no width, one is negative or no integer, their sum is not that of the axis, or there is no
            such axis.
    """
    require_shape("shape", shape)
    at = require_axis("axis", axis, len(shape))
    require_sizes("widths", widths)
    require_count("len(widths)", len(widths))
    require_sum("widths", sum(widths), shape[at], f"axis {axis} of shape")
    return pack(along(shape, at, _in_order(widths)))


def split(shape: Sequence[Size], ranks: int, axis: int = 0, rule: RuleName = "chunk") -> ShardMap:
    """One axis cut into consecutive parts by a rule: rank r holds the r-th.

    Args:
        shape: of the parameter.
        ranks: how many; they are numbered from 0.
        axis: the one that is cut; -1 is the last.
        rule: ``even``, ``chunk``, ``floor_first`` or ``floor_last``.

    Raises:
        BadLayout: as for ``contiguous``; no such rule; a remainder under ``even``.
    """
    require_shape("shape", shape)
    at = require_axis("axis", axis, len(shape))
    require_count("ranks", ranks)
    require_rule("rule", rule)
    try:
        widths = RULES[rule](shape[at], ranks)
    except BadLayout as error:
        raise BadLayout(f"shape[{at}]", error.reason) from None
    return pack(along(shape, at, _in_order(widths)))


def _in_order(widths: Sequence[Size]) -> Blocks:
    return Blocks(tuple(widths), {rank: (rank,) for rank in range(len(widths))})


def _exact(argument: str, scale: object) -> Scale:
    if type(scale) not in (int, float, Fraction) or type(scale) is bool:
        raise BadLayout(argument, f"is a {type(scale).__name__}; give a float")
    if scale == 0 or (type(scale) is float and not math.isfinite(scale)):
        raise BadLayout(argument, f"is {scale}; a shard under it cannot be turned back")
    exact = exact_scale(scale)  # type: ignore[arg-type]
    if max(exact.as_integer_ratio(), key=abs).bit_length() > SCALE_BITS:
        raise BadLayout(argument, f"has over {SCALE_BITS} bits; give the exact rational of a double")
    return exact
