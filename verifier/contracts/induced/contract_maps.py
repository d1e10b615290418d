"""The induced maps of a whole contract under one cut: the fields of every variant that is for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from verifier.contracts.document import Contract, StateField, Variant
from verifier.contracts.induced.fields import induced_field
from verifier.contracts.induced.outcome import Induced
from verifier.contracts.rules.dimensions import dimensions_of
from verifier.contracts.shards import ParameterCut


@dataclass(frozen=True, slots=True)
class Induction:
    """The fields of a contract under a cut, by name; empty where no variant is for the cut (M1)."""

    fields: Mapping[str, Induced]
    reason: str = ""

    @property
    def verdict(self) -> Literal["valid", "conditional", "impossible"]:
        """The worst of the fields: one without a map, one that needs a reduction, or neither."""
        if not self.fields or any(found.kind == "impossible" for found in self.fields.values()):
            return "impossible"
        shared = any(found.kind == "needs_reduction" for found in self.fields.values())
        return "conditional" if shared else "valid"

    @property
    def rules(self) -> tuple[str, ...]:
        """The M rules behind the verdict."""
        if not self.fields:
            return ("M1",)
        kind = {"valid": "", "conditional": "needs_reduction", "impossible": "impossible"}[self.verdict]
        return tuple(sorted({found.rule for found in self.fields.values() if found.kind == kind}))


def for_numel(contract: Contract, numel: int) -> Contract:
    """The contract as it is for parameters of ``numel`` elements: variants for others are left out.

    A predicate that is measured on a shard may hold for any parameter.
    """
    kept = [variant for variant in contract.variants if _may_hold(variant, numel)]
    return replace(contract, variants=tuple(kept))


def induce(contract: Contract, cut: ParameterCut) -> Induction:
    """What becomes of every field of the variants that are for this cut, whatever their predicates say."""
    variants = [variant for variant in contract.variants if is_for(variant, contract, cut)]
    if not any(variant.initialized for variant in variants):
        return Induction({}, _nobody(contract, [cut]))
    return Induction(
        {
            field.name: induced_field(cut, field, is_whole=_is_whole(field, variants))
            for field in contract.fields
            if any(field.name in live_fields(variant) for variant in variants)
        }
    )


def induce_any(contract: Contract, cuts: Sequence[ParameterCut]) -> Induction:
    """Under the first of several cuts, which hold the same, that the contract knows; M1 if it knows none.

    Only variants for parameters of as many elements count.
    """
    own = for_numel(contract, cuts[0].numel)
    for cut in cuts:
        found = induce(own, cut)
        if found.fields:
            return found
    return Induction({}, _nobody(contract, cuts))


def live_fields(variant: Variant) -> set[str]:
    """The fields of the variant that an optimizer in use has."""
    return set(variant.fields) - set(variant.inactive)


def is_for(variant: Variant, contract: Contract, cut: ParameterCut) -> bool:
    """Whether live state of a parameter that is cut like this may be in the variant."""
    return (
        cut.layout in variant.layouts
        and not variant.migration_only
        and len(cut.shape) in dimensions_of(variant, contract)
    )


def _is_whole(field: StateField, variants: Sequence[Variant]) -> bool:
    """Whether every member has the state of the whole parameter, in each variant that has the field."""
    extents = {variant.extent for variant in variants if field.name in live_fields(variant)}
    return extents == {"global"}


def _may_hold(variant: Variant, numel: int) -> bool:
    predicate = variant.predicate
    if predicate is None or predicate.measured_on != "global":
        return True
    low, below = predicate.min_numel, predicate.below_numel
    return (low is None or numel >= low) and (below is None or numel < below)


def _nobody(contract: Contract, cuts: Sequence[ParameterCut]) -> str:
    """Why no variant is for any of the cuts, which are of one parameter."""
    layouts = " or ".join(dict.fromkeys([cut.layout for cut in cuts]))
    elements = ""
    if any(variant.predicate is not None for variant in contract.variants):
        elements = f" and {cuts[0].numel} elements"
    dimensions = f"{len(cuts[0].shape)} dimensions{elements}"
    return f"no initialised variant is for {layouts} parameters with {dimensions}"
