"""The induced map of one field, by closed form. Theory: T26."""

from __future__ import annotations

from dataclasses import replace

from verifier.contracts.document import StateField
from verifier.contracts.geometry import Geometry, RunTimeSize
from verifier.contracts.induced import dims, flat
from verifier.contracts.induced.fibres import block_size
from verifier.contracts.induced.field_shapes import field_shape
from verifier.contracts.induced.maps import parameter_map, whole_on
from verifier.contracts.induced.outcome import Induced, impossible
from verifier.contracts.induced.parts import parts_are_equal
from verifier.contracts.shards import ParameterCut


def induced_field(cut: ParameterCut, field: StateField, *, is_whole: bool = False) -> Induced:
    """What becomes of a field, its declared reduction and distribution included.

    ``is_whole`` says that members keep the state of the whole parameter, as variants of global extent do.
    """
    found = by_closed_form(cut, field.geometry, field.name)
    learned = field.geometry.kind == "codebook" and field.geometry.learned
    if learned and field.reduction is None and cut.spread != "replicated" and len(cut.shards) > 1:
        return impossible("M5", "it is learned from all shards, and no reduction is declared")
    if found.kind == "needs_reduction":
        found = _reduced(cut, field, found)
    is_cut = cut.spread in ("flat_shard", "dim_shard") and sum(shard.numel > 0 for shard in cut.shards) > 1
    return _distributed(cut, field, found, is_whole) if is_cut else found


def _distributed(cut: ParameterCut, field: StateField, found: Induced, is_whole: bool) -> Induced:
    """Who has a field of a parameter of which several members hold a part."""
    if found.kind in ("impossible", "replicated"):
        return found
    match field.distribution:
        case "owner":
            return impossible("M1", "it is with an owner, and a parameter that is cut has none")
        case "none":
            return impossible("M9", "its distribution is none: nothing says who has it")
        case "replicate" if field.reduction is None and not is_whole:
            return impossible(
                "M5", "it is equal everywhere, made from what others hold: no reduction is declared"
            )
        case "follow" if not is_whole:
            return found
    members = len(cut.shards)
    whole = whole_on(field.name, field_shape(field.geometry, cut.shape), range(members), members)
    return replace(found, kind="needs_reduction" if found.rule else "replicated", shard_map=whole)


def by_closed_form(cut: ParameterCut, geometry: Geometry, name: str) -> Induced:
    """The cut of a field of this geometry, by the layout of its parameter."""
    unknown = _unknowable(cut, geometry)
    if unknown is not None:
        return unknown
    from_nothing = not cut.numel and geometry.kind in ("row", "column", "factor")
    if geometry.kind in ("scalar", "identity", "codebook") or from_nothing:
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
    if geometry.kind in ("block", "packed") and geometry.domain == "row" and not cut.shape:
        return impossible("M3", "blocks of a row of a parameter with 0 dimensions")
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
        case "block" | "packed" if geometry.domain == "row":
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
        case "block" | "packed" if geometry.domain == "row":
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
    dims = len(cut.shape)
    axes = {axis % dims for axis in reduction.axes if -dims <= axis < dims}
    if field.geometry.kind == "factor" and reduction.op == "max":
        return impossible("M5", f"{found.reason}; the declared reduction is a max, and a factor is a sum")
    if not _crossed(cut, field.geometry) <= axes:
        return impossible("M5", f"{found.reason}; the declared reduction is over {list(reduction.axes)}")
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
