"""One cut inside another: FSDP over tensor parallelism, tensor parallelism over FSDP, and any deeper nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from verifier.layouts.errors import BadLayout
from verifier.layouts.mesh import Step, cut_over_mesh, require_mesh
from verifier.layouts.rules import RULES, RuleName, require_rule
from verifier.layouts.sizes import Size, require_axis, require_count, require_sequence, require_shape
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class AxisCut:
    """One axis of the tensor cut over one dimension of the mesh, by a rule. Both count from 0."""

    mesh_dim: int
    axis: int
    rule: RuleName = "chunk"


def nested(shape: Sequence[Size], mesh_shape: Sequence[int], cuts: Sequence[AxisCut]) -> ShardMap:
    """The first cut is of the whole tensor, each further one of what the cuts before have left to a rank.

    Ranks are the row-major positions of the mesh. A dimension of the mesh without a cut holds replicas.

    Args:
        shape: of the tensor, at least one dimension.
        mesh_shape: how many ranks along each dimension of the mesh.
        cuts: in the order in which they are made; at most one for each dimension of the mesh.

    Raises:
        BadLayout: a dimension of the mesh that is cut twice, or does not exist; no such axis or rule; a
            remainder under ``even``; a size or a count is no such number.
    """
    require_shape("shape", shape)
    require_mesh("mesh_shape", mesh_shape)
    steps: list[Step] = []
    for place, cut in enumerate(require_sequence("cuts", cuts)):
        if not isinstance(cut, AxisCut):
            raise BadLayout(f"cuts[{place}]", f"is a {type(cut).__name__}; give an AxisCut")
        require_count(f"cuts[{place}].mesh_dim", cut.mesh_dim, least=0, most=len(mesh_shape) - 1)
        axis = require_axis(f"cuts[{place}].axis", cut.axis, len(shape))
        require_rule(f"cuts[{place}].rule", cut.rule)
        if any(step.mesh_dim == cut.mesh_dim for step in steps):
            raise BadLayout(f"cuts[{place}].mesh_dim", f"is {cut.mesh_dim}, which has a cut already")
        steps.append(Step(cut.mesh_dim, axis, partial(_intervals, cut.rule, mesh_shape[cut.mesh_dim])))
    if not shape:
        raise BadLayout("shape", "has no dimension to cut; a scalar is replicated")
    return cut_over_mesh(shape, mesh_shape, steps, "cuts")


def fsdp_over_tp(shape: Sequence[Size], fsdp: int, tp: int, tp_axis: int = 0, fsdp_axis: int = 0) -> ShardMap:
    """Tensor parallelism cuts the parameter, then FSDP cuts each of its shards, as FSDP2 does on a 2-D mesh.

    The mesh is (fsdp, tp): rank = position in FSDP * tp + position in TP. Both cut like ``torch.chunk``.

    Args:
        shape: of the parameter.
        fsdp: ranks along the first dimension of the mesh.
        tp: ranks along the second one.
        tp_axis: what tensor parallelism cuts; -1 is the last axis.
        fsdp_axis: what FSDP cuts.

    Raises:
        BadLayout: no such axis, or a size or a count is no such number.
    """
    return _two(shape, fsdp, tp, tp_axis, fsdp_axis, (1, 0))


def tp_over_fsdp(shape: Sequence[Size], fsdp: int, tp: int, tp_axis: int = 0, fsdp_axis: int = 0) -> ShardMap:
    """FSDP cuts the parameter, then tensor parallelism cuts each of its shards: DTensor's own order.

    Args, numbers of ranks and errors are those of ``fsdp_over_tp``; along one axis the two differ.
    """
    return _two(shape, fsdp, tp, tp_axis, fsdp_axis, (0, 1))


def _two(
    shape: Sequence[Size], fsdp: int, tp: int, tp_axis: int, fsdp_axis: int, order: tuple[int, int]
) -> ShardMap:
    require_shape("shape", shape)
    require_count("fsdp", fsdp)
    require_count("tp", tp)
    axes = (
        require_axis("fsdp_axis", fsdp_axis, len(shape)),
        require_axis("tp_axis", tp_axis, len(shape)),
    )
    return nested(shape, (fsdp, tp), [AxisCut(mesh_dim, axes[mesh_dim]) for mesh_dim in order])


def _intervals(rule: RuleName, parts: int, size: Size) -> list[tuple[Size, int]]:
    return [(width, part) for part, width in enumerate(RULES[rule](size, parts))]
