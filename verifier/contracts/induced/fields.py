"""The induced map of one field, by closed form. Theory: T26."""

from __future__ import annotations

from verifier.contracts.document import StateField
from verifier.contracts.geometry import Geometry, RunTimeSize
from verifier.contracts.induced import dims, flat
from verifier.contracts.induced.fibres import block_size
from verifier.contracts.induced.field_shapes import field_shape
from verifier.contracts.induced.maps import parameter_map, whole_on
from verifier.contracts.induced.outcome import Induced, impossible
from verifier.contracts.induced.parts import parts_are_equal
from verifier.contracts.shards import ParameterCut


def induced_field(cut: ParameterCut, field: StateField) -> Induced:
    """What becomes of a field, its declared reduction included."""
    found = by_closed_form(cut, field.geometry, field.name)
    learned = field.geometry.kind == "codebook" and field.geometry.learned
    if learned and field.reduction is None and cut.spread != "replicated" and len(cut.shards) > 1:
        return impossible("M5", "it is learned from all shards, and no reduction is declared")
    return found if found.kind != "needs_reduction" else _reduced(cut, field, found)


def by_closed_form(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """The cut of a field of this geometry, by the layout of its parameter."""
    unknown = _unknowable(cut, geometry)
    if unknown is not None:
        return unknown
    if geometry.kind in ("scalar", "identity", "codebook"):
        shape = field_shape(geometry, cut.shape)
        members = len(cut.shards)
        return Induced(kind="replicated", shard_map=whole_on(name, shape, range(members), members))
    match cut.spread:
        case "replicated":
            return _on(cut, geometry, name, list(range(len(cut.shards))), "replicated")
        case "whole_owner":
            owners = [k for k, shard in enumerate(cut.shards) if shard.member == shard.owner]
            return _on(cut, geometry, name, owners, "owner")
        case "flat_shard":
            return _of_flat(cut, geometry, name)
        case "dim_shard":
            return _of_dim(cut, geometry, name)


def _on(cut: ParameterCut, geometry: Geometry, name: str, holders: list[int], kind: str) -> Induced:
    """All of the field with whoever holds all of the parameter."""
    is_known = geometry.kind != "opaque" and geometry.domain != "shard"
    shape = field_shape(geometry, cut.shape) if is_known else None
    shard_map = None if shape is None else whole_on(name, shape, holders, len(cut.shards))
    return Induced(kind="owner" if kind == "owner" else "replicated", shard_map=shard_map)


def _unknowable(cut: ParameterCut, geometry: Geometry) -> Induced | None:
    """The reasons that do not depend on where the cuts are."""
    if geometry.kind in ("row", "column") and len(cut.shape) < 2:
        return impossible("M3", f"{geometry.kind} state of a parameter with {len(cut.shape)} dimensions")
    if geometry.kind == "factor" and not 0 <= (geometry.axis or 0) < len(cut.shape):
        return impossible("M3", f"there is no axis {geometry.axis} of {len(cut.shape)}")
    size = geometry.per if geometry.kind == "packed" else geometry.size
    if geometry.kind in ("block", "packed") and (size is None or isinstance(size, RunTimeSize)):
        return impossible("M8", "only a run knows the size of a block")
    if cut.spread in ("replicated", "whole_owner"):
        return None
    if geometry.kind == "opaque":
        return impossible("M9", "nothing says what it is made from")
    if geometry.domain == "shard":
        return impossible("M7", "blocks begin anew in each shard: another cut has other blocks")
    return None


def _of_flat(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    match geometry.kind:
        case "parameter":
            return Induced(kind="same", shard_map=parameter_map(cut, name))
        case "row":
            return flat.runs(cut, geometry, name, max(cut.shape[-1], 1))
        case "column":
            return flat.columns(cut, geometry, name)
        case "block" if geometry.domain == "row":
            return flat.rows_of_blocks(cut, geometry, name)
        case "block" | "packed":
            return flat.runs(cut, geometry, name, block_size(geometry))
        case _:
            return flat.factor(cut, geometry, name)


def _of_dim(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    match geometry.kind:
        case "parameter":
            return Induced(kind="same", shard_map=parameter_map(cut, name))
        case "row":
            return dims.without_axis(cut, geometry, name, len(cut.shape) - 1)
        case "column":
            return dims.without_axis(cut, geometry, name, len(cut.shape) - 2)
        case "block" if geometry.domain == "row":
            return dims.rows_of_blocks(cut, geometry, name)
        case "block" | "packed":
            return dims.blocks(cut, geometry, name)
        case _:
            return dims.factor(cut, geometry, name)


def _reduced(cut: ParameterCut, field: StateField, found: Induced) -> Induced:
    """A field that members share, under the reduction that is declared for it."""
    reduction = field.reduction
    if reduction is None:
        return impossible("M5", f"{found.reason}, and no reduction is declared")
    axes = {axis % len(cut.shape) if -len(cut.shape) <= axis else axis for axis in reduction.axes}
    if not _crossed(cut, field.geometry) <= axes:
        return impossible("M5", f"{found.reason}; the declared reduction is over {sorted(axes)}")
    is_mean_of_means = reduction.weighting == "mean_of_means" or (
        reduction.op == "mean" and reduction.weighting is None
    )
    if is_mean_of_means and not parts_are_equal(cut, field.geometry):
        stated = "a mean of means" if reduction.weighting is not None else "a mean of no stated weighting"
        sizes = sorted({shard.numel for shard in cut.shards if shard.numel})
        parts = f"parts of {sizes[0]} and {sizes[1]} elements" if len(sizes) > 1 else "unequal parts"
        return impossible("M10", f"{stated} of {parts}")
    return found


def _crossed(cut: ParameterCut, geometry: Geometry) -> set[int]:
    """The axes along which members add up their parts."""
    if cut.dim is not None:
        return {cut.dim}
    match geometry.kind:
        case "row":
            return {len(cut.shape) - 1}
        case "column":
            return {len(cut.shape) - 2}
        case _:
            return set(range(geometry.axis or 0))
