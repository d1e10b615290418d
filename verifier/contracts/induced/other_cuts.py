"""State under a map that contracts have no word for, as that of two cut dimensions: what follows any cut."""

from __future__ import annotations

from dataclasses import dataclass, replace

from verifier.contracts.document import Contract, StateField
from verifier.contracts.induced.contract_maps import Induction, for_numel, live_fields
from verifier.contracts.induced.cut_of_map import NoCutError, cuts_of_map
from verifier.contracts.induced.field_shapes import field_shape
from verifier.contracts.induced.maps import whole_on
from verifier.contracts.induced.outcome import Induced
from verifier.contracts.rules.dimensions import dimensions_of
from verifier.contracts.shards import ParameterCut
from verifier.model.shard_map import ShardMap

CUT = {"flat_shard", "dim_shard"}


@dataclass(frozen=True, slots=True)
class OtherCut:
    """A map that is none of the cuts; ``reason`` says why."""

    shard_map: ShardMap
    reason: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the parameter."""
        return self.shard_map.logical_shape


def readings(shard_map: ShardMap) -> tuple[ParameterCut, ...] | OtherCut:
    """Every cut that a map may be, or the map itself where it is none."""
    try:
        return cuts_of_map(shard_map)
    except NoCutError as error:
        return OtherCut(shard_map, str(error))


def induce_other(contract: Contract, cut: OtherCut) -> Induction:
    """State like the parameter is cut by the map itself; one value for all of it is everywhere."""
    variants = [
        variant
        for variant in for_numel(contract, cut.shard_map.numel).variants
        if CUT & set(variant.layouts)
        and not variant.migration_only
        and len(cut.shape) in dimensions_of(variant, contract)
    ]
    if not any(variant.initialized for variant in variants):
        dimensions = f"{len(cut.shape)} dimensions"
        return Induction({}, f"no initialised variant is for parameters with {dimensions} that are cut")
    used = {name for variant in variants for name in live_fields(variant)}
    return Induction({field.name: _follows(field, cut) for field in contract.fields if field.name in used})


def _follows(field: StateField, cut: OtherCut) -> Induced:
    kind = field.geometry.kind
    if kind == "parameter" and field.distribution == "follow":
        return Induced(kind="same", shard_map=replace(cut.shard_map, name=field.name))
    if kind in ("scalar", "identity") and field.distribution == "replicate":
        ranks = len(cut.shard_map.ranks)
        whole = whole_on(field.name, field_shape(field.geometry, cut.shape), range(ranks), ranks)
        return Induced(kind="replicated", shard_map=whole)
    return Induced(kind="unknown", reason=cut.reason)
