"""Rule N6 as a remark: which of the parameters that are trained no initialised variant is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract, Training, Variant
from verifier.contracts.rules.dimensions import Dimensions, dimensions_of


def covers(variant: Variant, claim: Training) -> bool:
    """Whether a variant is of live state of parameters that are trained like this."""
    trained = claim.layout in variant.layouts and variant.mode in (None, claim.mode)
    return trained and variant.initialized and not variant.migration_only


def trained_parameters_are_covered(contract: Contract) -> Iterator[Broken]:
    """N6: variants leave out no number of dimensions that is supported, and no number of elements.

    Only remarked upon: whether there are such parameters the contract does not say.
    """
    if contract.children:
        return
    dimensions = {variant.name: dimensions_of(variant, contract) for variant in contract.variants}
    known: dict[tuple[str, str | None], str | None] = {}
    for position, claim in enumerate(contract.training):
        key = claim.layout, claim.mode
        if key not in known:
            variants = [variant for variant in contract.variants if covers(variant, claim)]
            known[key] = _left_out(contract, variants, dimensions) if variants else None
        if known[key] is not None:
            words = f"no initialised variant is for {claim.layout} parameters with {known[key]}"
            yield Broken(f"/training/{position}", "N6", words, remark=True)


def _left_out(
    contract: Contract, variants: Sequence[Variant], dimensions: Mapping[str, Dimensions]
) -> str | None:
    """A number of dimensions, or of elements, that none of the variants is for."""
    for count in _supported(contract, variants).examples():
        own = [variant for variant in variants if count in dimensions[variant.name]]
        if not own:
            return f"{count} dimensions"
        numel = _first_without(own)
        if numel is not None and (count or numel == 1):
            return f"{count} dimensions and {numel} elements"
    return None


def _supported(contract: Contract, variants: Sequence[Variant]) -> Dimensions:
    """The numbers of dimensions to ask about: all that are supported, or those around any that is named."""
    if contract.ranks is not None:
        return Dimensions(set(contract.ranks), set())
    named = {count for variant in variants for count in (*(variant.ranks or ()), *variant.exclude_ranks)}
    return Dimensions({0, 1, 2, 3} | named | {max(named, default=0) + 1}, set())


def _first_without(variants: Sequence[Variant]) -> int | None:
    """The least number of elements from 1 on that no predicate allows."""
    reached = 1
    bounds = []
    for variant in variants:
        predicate = variant.predicate
        low = 0 if predicate is None or predicate.min_numel is None else predicate.min_numel
        bounds.append((low, None if predicate is None else predicate.below_numel))
    for low, below in sorted(bounds, key=lambda bound: bound[0]):
        if low > reached:
            return reached
        if below is None:
            return None
        reached = max(reached, below)
    return reached


RULES = (trained_parameters_are_covered,)
