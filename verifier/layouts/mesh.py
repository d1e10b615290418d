"""Cuts over a mesh of ranks, one after another: each cuts what the ones before have left.

Ranks are the row-major positions of a mesh. A step cuts one axis of the tensor over one dimension of the
mesh. Two ranks hold the same elements iff they agree in all mesh dimensions that cut anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from verifier.geometry.axis_parts import AxisPart, Intervals, refined
from verifier.layouts.blocks import Blocks, pack
from verifier.layouts.errors import BadLayout
from verifier.layouts.sizes import Size, require_count, require_sequence
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class Step:
    """One cut: the k-th position along ``mesh_dim`` gets its intervals of what a rank has along ``axis``."""

    mesh_dim: int
    axis: int
    intervals: Intervals


def require_mesh(argument: str, mesh_shape: object) -> None:
    """Refuse what is no shape of a mesh: counts of ranks, at least one dimension.

    Raises:
        BadLayout: as said, or the mesh has too many ranks.
    """
    dimensions = require_sequence(argument, mesh_shape)
    require_count(f"len({argument})", len(dimensions))
    counts = [require_count(f"{argument}[{place}]", one) for place, one in enumerate(dimensions)]
    require_count(f"the product of {argument}", math.prod(counts))


def cut_over_mesh(
    shape: Sequence[Size], mesh_shape: Sequence[int], steps: Sequence[Step], argument: str
) -> ShardMap:
    """The map of a tensor of at least one dimension after all steps, in their order.

    Raises:
        BadLayout: a rule refuses a size, or there would be over 2**20 parts along an axis; ``argument`` is
            where the steps come from.
    """
    coordinates = list(product(*map(range, mesh_shape)))
    axes = []
    for axis, size in enumerate(shape):
        mine = [step for step in steps if step.axis == axis]
        parts = [AxisPart(size, ())]
        for step in mine:
            try:
                parts = refined(parts, step.intervals)
            except ValueError as error:
                raise BadLayout(argument, f"along axis {axis}: a {error}") from None
        held: dict[tuple[int, ...], list[int]] = {}
        for block, part in enumerate(parts):
            held.setdefault(part.owner, []).append(block)
        owners = [tuple(at[step.mesh_dim] for step in mine) for at in coordinates]
        by_rank = {rank: held.get(owner, ()) for rank, owner in enumerate(owners)}
        axes.append(Blocks(tuple(part.width for part in parts), by_rank))
    return pack(axes)
