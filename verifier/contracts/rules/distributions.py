"""Rule N13 about fields: how state is distributed fits what it is made from and where it is held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract, StateField, Variant
from verifier.contracts.rules.dimensions import variants_by_field

ONE_VALUE = ("scalar", "identity", "codebook")
CUT = ("flat_shard", "dim_shard")
"""Layouts in which several members hold parts of a parameter."""


def _at(position: int) -> str:
    return f"/fields/{position}/distribution"


def scalars_do_not_follow(contract: Contract) -> Iterator[Broken]:
    """N13: a field of one value cannot follow the cut of its parameter."""
    for position, field in enumerate(contract.fields):
        if field.geometry.kind in ONE_VALUE and field.distribution == "follow":
            yield Broken(
                _at(position),
                "N13",
                f"{field.name!r} is one {field.geometry.kind} for the parameter and cannot follow its cut",
            )


def whole_state_comes_from_somewhere(contract: Contract) -> Iterator[Broken]:
    """N13: state that is equal everywhere is made from what a member holds.

    In a variant of local extent a member holds the state of its shard. What is made from the elements of
    others as well is brought together by a reduction, or the extent is global.
    """
    listing = variants_by_field(contract)
    for position, field in enumerate(contract.fields):
        if field.distribution != "replicate" or field.reduction is not None:
            continue
        if field.geometry.kind in (*ONE_VALUE, "opaque"):
            continue
        for variant, layout in _uses(field, listing.get(field.name, ())):
            if layout in CUT and variant.extent == "local":
                yield Broken(
                    _at(position),
                    "N13",
                    f"{field.name!r} is equal everywhere, and {variant.name!r} holds the local state of "
                    f"{layout} parameters",
                )


def owned_state_has_owners(contract: Contract) -> Iterator[Broken]:
    """N13: state that is with an owner is that of parameters with owners."""
    owned = any(claim.layout == "whole_owner" for claim in contract.training)
    listing = variants_by_field(contract)
    for position, field in enumerate(contract.fields):
        if field.distribution != "owner":
            continue
        uses = [layout for _, layout in _uses(field, listing.get(field.name, ()))]
        cut = next((layout for layout in uses if layout in CUT), None)
        if cut is not None:
            yield Broken(_at(position), "N13", f"{field.name!r} is with an owner; {cut} parameters have none")
        elif "whole_owner" not in uses if uses else not owned and not contract.children:
            yield Broken(_at(position), "N13", f"{field.name!r} is with an owner, and no layout has owners")


def _uses(field: StateField, variants: Sequence[Variant]) -> Iterator[tuple[Variant, str]]:
    """The variants of live state that have a field, with each of their layouts."""
    for variant in variants:
        if field.name not in variant.inactive:
            for layout in variant.layouts:
                yield variant, layout


RULES = (scalars_do_not_follow, whole_state_comes_from_somewhere, owned_state_has_owners)
