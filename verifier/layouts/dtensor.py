"""The map of a DTensor: any list of placements, without torch and without a process group.

The rules are those of ``torch.distributed.tensor`` 2.13: the ``_split_tensor`` of ``Shard`` and of
``_StridedShard``, applied from the left, as ``distribute_tensor`` does, or in the order of
``DTensorSpec.shard_order``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import cast

from verifier.geometry.axis_parts import strided_chunks
from verifier.layouts.contiguous import replicated
from verifier.layouts.errors import BadLayout
from verifier.layouts.mesh import Step, cut_over_mesh, require_mesh
from verifier.layouts.placements import Placement, Replicate, Shard, StridedShard
from verifier.layouts.sizes import (
    MOST_PARTS,
    Size,
    require_axis,
    require_count,
    require_sequence,
    require_shape,
)
from verifier.model.shard_map import ShardMap

ShardOrder = Sequence[tuple[int, Sequence[int]]]
"""For each tensor dimension that is cut, the mesh dimensions that cut it, the first cut first."""


def dtensor(
    global_shape: Sequence[Size],
    mesh_shape: Sequence[int],
    placements: Sequence[Placement],
    shard_order: ShardOrder | None = None,
) -> ShardMap:
    """The shards of a DTensor: what ``distribute_tensor`` leaves on each rank as its local tensor.

    A rank is its row-major position in the mesh. Local tensors are counted as contiguous. A shard without
    elements has no pieces.

    Args:
        global_shape: of the tensor; it need not divide.
        mesh_shape: ranks along each dimension of the mesh.
        placements: one for each dimension of the mesh.
        shard_order: pairs of a tensor dimension and the mesh dimensions that cut it, in the order of their
            cuts, as in ``DTensorSpec.shard_order``. None: from the left.

    Raises:
        BadLayout: not one placement for each dimension of the mesh; a Partial, which holds summands and no
            elements; no such tensor dimension; a shard order that does not list each cut once, or beside a
            StridedShard, whose factor is an order already; a size or a count is no such number.
    """
    require_shape("global_shape", global_shape)
    require_mesh("mesh_shape", mesh_shape)
    if len(require_sequence("placements", placements)) != len(mesh_shape):
        raise BadLayout(
            "placements", f"has {len(placements)} entries for {len(mesh_shape)} dimensions of mesh_shape"
        )
    steps = {}
    for mesh_dim, placement in enumerate(placements):
        found = _step(mesh_dim, placement, len(global_shape), mesh_shape[mesh_dim])
        if found is not None:
            steps[mesh_dim] = found
    in_order = list(steps.values())
    if shard_order is not None:
        if any(isinstance(placement, StridedShard) for placement in placements):
            raise BadLayout("shard_order", "stands beside a StridedShard, whose factor is an order already")
        in_order = [steps[mesh_dim] for mesh_dim in _mesh_dims(shard_order, steps)]
    if not global_shape:
        return replicated((), math.prod(mesh_shape))
    return cut_over_mesh(global_shape, mesh_shape, in_order, "placements")


def _step(mesh_dim: int, placement: object, dimensions: int, parts: int) -> Step | None:
    argument = f"placements[{mesh_dim}]"
    if isinstance(placement, Replicate):
        return None
    if isinstance(placement, Shard):
        axis = require_axis(f"{argument}.dim", placement.dim, dimensions)
        return Step(mesh_dim, axis, partial(strided_chunks, 1, parts))
    if isinstance(placement, StridedShard):
        axis = require_axis(f"{argument}.dim", placement.dim, dimensions)
        require_count(f"{argument}.split_factor", placement.split_factor, most=MOST_PARTS // parts)
        return Step(mesh_dim, axis, partial(strided_chunks, placement.split_factor, parts))
    kind = type(placement).__name__
    if "Partial" in kind:
        raise BadLayout(argument, f"is a {kind}: summands are no copies of elements; reduce it first")
    raise BadLayout(argument, f"is a {kind}; give a Shard, a StridedShard or a Replicate")


def _mesh_dims(shard_order: object, steps: dict[int, Step]) -> list[int]:
    """The mesh dimensions in the order of their cuts; each is listed once, under the dimension it cuts."""
    listed: list[int] = []
    for place, entry in enumerate(require_sequence("shard_order", shard_order)):
        argument = f"shard_order[{place}]"
        if len(require_sequence(argument, entry)) != 2:
            raise BadLayout(argument, "is no pair of a tensor dimension and its mesh dimensions")
        axis, mesh_dims = cast("tuple[object, object]", entry)
        require_count(f"{argument}[0]", axis, least=0)
        for mesh_dim in require_sequence(f"{argument}[1]", mesh_dims):
            cutting = require_count(f"{argument}[1]", mesh_dim, least=0)
            if cutting not in steps or steps[cutting].axis != axis:
                raise BadLayout(argument, f"says that mesh dimension {cutting} cuts {axis}, but it does not")
            if cutting in listed:
                raise BadLayout(argument, f"lists mesh dimension {cutting} again")
            listed.append(cutting)
    if len(listed) < len(steps):
        missing = min(steps.keys() - set(listed))
        raise BadLayout("shard_order", f"leaves out mesh dimension {missing}, which cuts a dimension")
    return listed
