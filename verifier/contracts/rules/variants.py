"""Rules about variants: R43, R45, R46, R48, N5, N9, N10, N11, N14, N16, N17, N33."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import combinations
from typing import NamedTuple

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract, Predicate, StateField
from verifier.contracts.reading import UNREAD
from verifier.contracts.rules.dimensions import Dimensions, dimensions_of

UNCUT = ("scalar", "identity", "opaque")


def _at(position: int, *keys: str | int) -> str:
    return "".join(["/variants", f"/{position}", *[f"/{key}" for key in keys]])


def _fields(contract: Contract) -> dict[str, StateField]:
    return {field.name: field for field in contract.fields}


def named_and_not_empty(contract: Contract) -> Iterator[Broken]:
    """R43: a variant has fields and layouts, each once; before its first step it may have no fields."""
    for position, variant in enumerate(contract.variants):
        for what, listed in (("fields", variant.fields), ("layouts", variant.layouts)):
            if len(set(listed)) != len(listed):
                yield Broken(_at(position, what), "R43", f"{what} of {variant.name!r} has an entry twice")
        if not variant.fields and variant.initialized:
            yield Broken(_at(position, "fields"), "R43", f"{variant.name!r} has no fields")


def fields_are_declared(contract: Contract) -> Iterator[Broken]:
    """R48: a variant has declared fields of parameters only."""
    declared = _fields(contract)
    for position, variant in enumerate(contract.variants):
        for k, name in enumerate(variant.fields):
            field = declared.get(name)
            if name == UNREAD or (field is None and UNREAD in declared):
                continue
            if field is None:
                yield Broken(_at(position, "fields", k), "R48", f"there is no field {name!r}")
            elif field.scope != "parameter":
                yield Broken(
                    _at(position, "fields", k),
                    "R48",
                    f"{name!r} is {field.scope}, not a field of a parameter",
                )


def inactive_fields(contract: Contract) -> Iterator[Broken]:
    """R45 and N14: inactive fields are some of a migration variant's fields, each once and not all."""
    for position, variant in enumerate(contract.variants):
        at = _at(position, "inactive")
        for name in variant.inactive:
            if name not in variant.fields:
                yield Broken(at, "R45", f"{name!r} is inactive and no field of {variant.name!r}")
        if variant.inactive and not variant.migration_only:
            yield Broken(at, "N14", f"{variant.name!r} has inactive fields and is not for migration only")
        if len(set(variant.inactive)) != len(variant.inactive):
            yield Broken(at, "N14", "an inactive field is listed twice")
        if variant.inactive and set(variant.inactive) >= set(variant.fields):
            yield Broken(at, "N14", f"every field of {variant.name!r} is inactive")


def rank_lists(contract: Contract) -> Iterator[Broken]:
    """R46: numbers of dimensions are listed once, none is both included and excluded, and some is left."""
    for position, variant in enumerate(contract.variants):
        for key, listed in (("ranks", variant.ranks or ()), ("exclude_ranks", variant.exclude_ranks)):
            if len(set(listed)) != len(listed):
                yield Broken(_at(position, key), "R46", "a number of dimensions is listed twice")
        both = set(variant.ranks or ()) & set(variant.exclude_ranks)
        if both:
            yield Broken(_at(position, "exclude_ranks"), "R46", f"{min(both)} is included and excluded")
        if variant.ranks == ():
            yield Broken(_at(position, "ranks"), "R46", f"{variant.name!r} is for no parameter at all")
        elif not both and contract.ranks:
            supported = set(contract.ranks) & set(variant.ranks or contract.ranks)
            if supported and supported <= set(variant.exclude_ranks):
                words = f"{variant.name!r} is for no parameter: no supported number of dimensions is left"
                yield Broken(_at(position, "exclude_ranks"), "R46", words)


def predicates_hold_for_something(contract: Contract) -> Iterator[Broken]:
    """R46: a variant is for some number of elements."""
    for position, variant in enumerate(contract.variants):
        predicate = variant.predicate
        if predicate is None or predicate.below_numel is None:
            continue
        low = predicate.min_numel or 0
        if low >= predicate.below_numel:
            asked = f"from {low} and below {predicate.below_numel} elements"
            words = f"{variant.name!r} is for no parameter: {asked}"
            yield Broken(_at(position, "predicate"), "R46", words)


class _Selector(NamedTuple):
    """What can be observed of a parameter to find its variant."""

    layouts: frozenset[str]
    role: str
    mode: str | None
    dimensions: Dimensions
    predicate: Predicate | None


def variants_are_told_apart(contract: Contract) -> Iterator[Broken]:
    """N5: variants with the same keys have selectors that exclude each other.

    ``initialized``, ``extent`` and ``migration_only`` are in no key, so they tell nothing apart. Variants
    without keys are the same nothing.
    """
    twins: dict[frozenset[str], list[int]] = {}
    for position, variant in enumerate(contract.variants):
        if variant.fields:
            twins.setdefault(frozenset(variant.fields), []).append(position)
    selectors = [
        _Selector(frozenset(v.layouts), v.role, v.mode, dimensions_of(v, contract), v.predicate)
        for v in contract.variants
    ]
    for positions in twins.values():
        for one, other in combinations(positions, 2):
            if not _excluding(selectors[one], selectors[other]):
                yield Broken(
                    _at(other),
                    "N5",
                    f"{contract.variants[other].name!r} has the keys of {contract.variants[one].name!r}; "
                    "nothing tells them apart",
                )


def _excluding(first: _Selector, second: _Selector) -> bool:
    if first.layouts.isdisjoint(second.layouts) or not first.dimensions.meets(second.dimensions):
        return True
    if "any" not in (first.role, second.role) and first.role != second.role:
        return True
    if first.mode is not None and second.mode is not None and first.mode != second.mode:
        return True
    return _predicates_apart(first.predicate, second.predicate)


def _predicates_apart(one: Predicate | None, two: Predicate | None) -> bool:
    if one is None or two is None or one.measured_on != two.measured_on:
        return False
    low = max(one.min_numel or 0, two.min_numel or 0)
    highs = [p.below_numel for p in (one, two) if p.below_numel is not None]
    return bool(highs) and low >= min(highs)


def metadata_holds_no_tensor(contract: Contract) -> Iterator[Broken]:
    """N9: a variant of metadata has only single values and is not initialised."""
    declared = _fields(contract)
    for position, variant in enumerate(contract.variants):
        if variant.extent != "metadata":
            continue
        tensors = [
            name for name in variant.fields if name in declared and declared[name].geometry.kind not in UNCUT
        ]
        if tensors:
            yield Broken(
                _at(position, "fields"),
                "N9",
                f"{variant.name!r} is metadata and has the tensor {tensors[0]!r}",
            )
        if variant.initialized:
            yield Broken(_at(position, "initialized"), "N9", f"{variant.name!r} is metadata and initialised")


def extent_fits_layout(contract: Contract) -> Iterator[Broken]:
    """N10: what a variant holds fits the layouts it is for.

    On replicated parameters local and global are the same. A global extent of a sharded one needs a group.
    """
    grouped = {claim.layout for claim in contract.training if claim.group != "none"}
    for position, variant in enumerate(contract.variants):
        for layout in variant.layouts:
            wrong = {
                "replicated": variant.extent == "owner",
                "flat_shard": variant.extent in ("owner", "global"),
                "dim_shard": variant.extent == "owner"
                or (variant.extent == "global" and "dim_shard" not in grouped),
                "whole_owner": variant.extent in ("local", "global"),
            }[layout]
            if wrong:
                yield Broken(
                    _at(position, "extent"),
                    "N10",
                    f"extent {variant.extent} does not fit {layout} parameters",
                )


def owners_and_others(contract: Contract) -> Iterator[Broken]:
    """N11: owner extent is the owner's, others hold metadata, and both are described where either is."""
    owner_layouts: dict[str, set[str]] = {}
    for position, variant in enumerate(contract.variants):
        if variant.role != "any" and set(variant.layouts) != {"whole_owner"}:
            yield Broken(_at(position, "role"), "N11", f"role {variant.role} on a layout without owners")
        if (variant.extent == "owner") != (variant.role == "owner"):
            yield Broken(
                _at(position, "role"),
                "N11",
                f"extent {variant.extent} with role {variant.role}: owners hold all",
            )
        if variant.role == "non_owner" and variant.extent not in ("metadata", "owner"):
            yield Broken(_at(position, "extent"), "N11", f"a non-owner holds {variant.extent} state")
        if "whole_owner" in variant.layouts:
            owner_layouts.setdefault(variant.role, set()).add(variant.name)
    yield from _pruned(contract, owner_layouts)


def _pruned(contract: Contract, names: Mapping[str, Set[str]]) -> Iterator[Broken]:
    """Those who own nothing are described or said to be pruned, not both; ``names`` are variants by role."""
    at = "/capabilities/non_owners_pruned"
    if "non_owners_pruned" not in contract.capabilities:
        if "owner" in names and "non_owner" not in names:
            yield Broken(
                "/variants", "N11", "owners are described, non-owners are not, and are not said to be pruned"
            )
    elif "non_owner" in names:
        yield Broken(at, "N11", f"non-owners are pruned, and {min(names['non_owner'])!r} describes them")
    elif "owner" not in names and not contract.children:
        yield Broken(at, "N11", "non-owners are pruned, and no variant is that of an owner")


def optional_is_not_required(contract: Contract) -> Iterator[Broken]:
    """N16: a variant does not require a field that may be absent."""
    declared = _fields(contract)
    for position, variant in enumerate(contract.variants):
        for k, name in enumerate(variant.fields):
            if name in declared and declared[name].optional:
                yield Broken(
                    _at(position, "fields", k), "N16", f"{variant.name!r} requires the optional {name!r}"
                )


def modes_agree(contract: Contract) -> Iterator[Broken]:
    """N17: a field exists in the mode of each variant that has it, and every mode is trained."""
    declared = _fields(contract)
    trained = {claim.mode for claim in contract.training if claim.mode is not None}
    migrated = {variant.mode for variant in contract.variants if variant.migration_only}
    for position, field in enumerate(contract.fields):
        unknown = next((mode for mode in field.modes if mode not in trained | migrated | {UNREAD}), None)
        if unknown is not None:
            yield Broken(f"/fields/{position}/modes", "N17", f"nobody trains in mode {unknown!r}")
    for position, variant in enumerate(contract.variants):
        if variant.mode is None:
            continue
        if variant.mode not in trained and not variant.migration_only:
            yield Broken(_at(position, "mode"), "N17", f"nobody trains in mode {variant.mode!r}")
        for name in variant.fields:
            modes = declared[name].modes if name in declared else ()
            if modes and variant.mode not in modes:
                yield Broken(
                    _at(position, "mode"), "N17", f"{name!r} does not exist in mode {variant.mode!r}"
                )


def representation_is_global(contract: Contract) -> Iterator[Broken]:
    """N33: how state is represented depends on the whole parameter, never on one shard of it."""
    sharded = any(claim.layout in ("flat_shard", "dim_shard") for claim in contract.training)
    for position, variant in enumerate(contract.variants):
        predicate = variant.predicate
        if predicate is not None and predicate.measured_on == "local" and sharded:
            yield Broken(
                _at(position, "predicate"),
                "N33",
                f"{variant.name!r} is chosen by the shard: another cut represents state otherwise",
            )


RULES = (
    named_and_not_empty,
    fields_are_declared,
    inactive_fields,
    rank_lists,
    predicates_hold_for_something,
    variants_are_told_apart,
    metadata_holds_no_tensor,
    extent_fits_layout,
    owners_and_others,
    optional_is_not_required,
    modes_agree,
    representation_is_global,
)
