"""The induced maps of a whole contract under one cut: the fields of every variant that is for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from verifier.contracts.document import Contract, Variant
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


def induce(contract: Contract, cut: ParameterCut) -> Induction:
    """What becomes of every field of the variants that are for this cut."""
    variants = [variant for variant in contract.variants if _is_for(variant, cut, contract)]
    if not any(variant.initialized for variant in variants):
        return Induction(
            {}, f"no initialised variant is for {cut.layout} parameters with {len(cut.shape)} dimensions"
        )
    used = {name for variant in variants for name in variant.fields if name not in variant.inactive}
    return Induction(
        {field.name: induced_field(cut, field) for field in contract.fields if field.name in used}
    )


def _is_for(variant: Variant, cut: ParameterCut, contract: Contract) -> bool:
    """Whether live state of a parameter that is cut like this may be in the variant.

    Its number of elements is not asked: a map for state that is not there is right all the same.
    """
    return (
        cut.layout in variant.layouts
        and not variant.migration_only
        and len(cut.shape) in dimensions_of(variant, contract)
    )
