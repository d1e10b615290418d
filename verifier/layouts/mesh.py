"""Cuts over a mesh of ranks, one after another: each cuts what the ones before have left.

Ranks are the row-major positions of a mesh. A step cuts one axis of the tensor over one dimension of the
mesh. Two ranks hold the same elements iff they agree in all mesh dimensions that cut anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import NamedTuple

from verifier.layouts.blocks import Blocks, pack
from verifier.layouts.errors import BadLayout
from verifier.layouts.rules import between
from verifier.layouts.sizes import MOST_PARTS, Size, known_empty, require_count, require_sequence
from verifier.model.shard_map import ShardMap

Intervals = Callable[[Size], list[tuple[Size, int]]]
"""What a rank has along an axis, in intervals: the width of each, and which position of the mesh gets it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One cut: the k-th position along ``mesh_dim`` gets its intervals of what a rank has along ``axis``."""

    mesh_dim: int
    axis: int
    intervals: Intervals


class _Part(NamedTuple):
    """A run of an axis, and the positions in the mesh, one for each step so far, that hold it."""

    width: Size
    owner: tuple[int, ...]


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
        parts = [_Part(size, ())]
        for step in mine:
            try:
                parts = _refined(parts, step.intervals)
            except BadLayout as error:
                raise BadLayout(argument, f"along axis {axis}: a {error}") from None
        held: dict[tuple[int, ...], list[int]] = {}
        for block, part in enumerate(parts):
            held.setdefault(part.owner, []).append(block)
        owners = [tuple(at[step.mesh_dim] for step in mine) for at in coordinates]
        by_rank = {rank: held.get(owner, ()) for rank, owner in enumerate(owners)}
        axes.append(Blocks(tuple(part.width for part in parts), by_rank))
    return pack(axes)


def _refined(parts: Sequence[_Part], intervals: Intervals) -> list[_Part]:
    """The parts after one more cut, from the first element on; those known to be empty are left out."""
    sizes: dict[tuple[int, ...], Size] = {}
    for part in parts:
        sizes[part.owner] = sizes.get(part.owner, 0) + part.width
    cuts = {owner: intervals(size) for owner, size in sizes.items()}
    if sum(len(cuts[part.owner]) for part in parts) > MOST_PARTS:
        raise BadLayout("cut", f"into over {MOST_PARTS} parts")
    runs = Counter(part.owner for part in parts)
    passed: dict[tuple[int, ...], Size] = {}
    found = []
    for width, owner in parts:
        start = passed.get(owner, 0)
        ends = list(accumulate(one for one, _ in cuts[owner]))[:-1]
        # Cuts of the only run of a rank lie inside of it; one of several runs may lie before or behind a cut.
        inside = ends if runs[owner] == 1 else [min(max(end - start, 0), width) for end in ends]
        for one, (_, position) in zip(between([0, *inside, width]), cuts[owner], strict=True):
            if not known_empty(one):
                found.append(_Part(one, (*owner, position)))
        passed[owner] = start + width
    return found
