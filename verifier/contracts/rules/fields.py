"""Rules about state fields: R47, N4, N8, N12, N13 in part, N15, N29, N36."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract, StateField
from verifier.contracts.geometry import RunTimeSize
from verifier.contracts.reading import UNREAD, repeated
from verifier.contracts.rules.dimensions import dimensions_of


def _at(position: int, *keys: str) -> str:
    return "".join(["/fields", f"/{position}", *[f"/{key}" for key in keys]])


def unique_names(contract: Contract) -> Iterator[Broken]:
    """R47: field names, variant names and namespaces are unique."""
    for what, names in (
        ("fields", [field.name for field in contract.fields]),
        ("variants", [variant.name for variant in contract.variants]),
        ("namespaces", list(contract.namespaces)),
    ):
        for position, name in repeated(names):
            if name != UNREAD:
                yield Broken(f"/{what}/{position}", "R47", f"{name!r} is there twice among {what}")


def one_declaration_a_key(contract: Contract) -> Iterator[Broken]:
    """N4: no key is matched by two declarations, and fields of parameters are matched exactly.

    A look-up that returns the first declaration that matches (R49) then returns the only one.
    """
    for position, field in enumerate(contract.fields):
        if field.key_match != "prefix":
            continue
        if field.scope == "parameter":
            yield Broken(
                _at(position, "key_match"), "N4", f"{field.name!r} of a parameter is matched by its beginning"
            )
        for other in contract.fields:
            if other is not field and other.name != field.name and other.name.startswith(field.name):
                yield Broken(
                    _at(position, "name"), "N4", f"{field.name!r} also matches the key {other.name!r}"
                )


def every_field_in_a_variant(contract: Contract) -> Iterator[Broken]:
    """N8: each field of parameters is in some variant."""
    used = {name for variant in contract.variants for name in variant.fields}
    for position, field in enumerate(contract.fields):
        if field.scope == "parameter" and field.name not in used and field.name != UNREAD:
            yield Broken(_at(position), "N8", f"{field.name!r} is in no variant")


def geometry_is_possible(contract: Contract) -> Iterator[Broken]:
    """N12: rows and columns need two dimensions, a factor one of the axes, blocks a size."""
    for position, field in enumerate(contract.fields):
        geometry = field.geometry
        match geometry.kind:
            case "block" if geometry.size is None:
                yield Broken(
                    _at(position, "geometry"), "N12", f"the block size of {field.name!r} is not stated"
                )
            case "packed" if geometry.per is None:
                yield Broken(
                    _at(position, "geometry"), "N12", f"how many elements of {field.name!r} share a byte"
                )
            case "codebook" if geometry.entries is None:
                yield Broken(
                    _at(position, "geometry"),
                    "N12",
                    f"the codebook {field.name!r} states no number of entries",
                )
            case "factor" if geometry.axis is None:
                yield Broken(_at(position, "geometry"), "N12", f"the axis of {field.name!r} is not stated")
        yield from _block_field(contract, position, field)
        yield from _dimensions(contract, position, field)


def _block_field(contract: Contract, position: int, field: StateField) -> Iterator[Broken]:
    size = field.geometry.size
    if isinstance(size, RunTimeSize) and size.field not in {other.name for other in contract.fields}:
        yield Broken(_at(position, "geometry", "size"), "N12", f"there is no field {size.field!r}")


def _dimensions(contract: Contract, position: int, field: StateField) -> Iterator[Broken]:
    """The variants that have the field are for parameters with enough dimensions."""
    kind, axis = field.geometry.kind, field.geometry.axis
    need = 2 if kind in ("row", "column") else (axis or 0) + 1 if kind == "factor" else 0
    if kind == "factor" and axis is not None and axis < 0:
        yield Broken(_at(position, "geometry", "axis"), "N12", f"axis {axis} is negative")
    for variant in contract.variants:
        lacking = dimensions_of(variant, contract).least_below(need)
        if field.name in variant.fields and lacking is not None:
            yield Broken(
                _at(position, "geometry"),
                "N12",
                f"{kind} {field.name!r} needs {need} dimensions, {variant.name!r} is for {lacking}",
            )


def scalars_do_not_follow(contract: Contract) -> Iterator[Broken]:
    """N13: a field of one value cannot follow the cut of its parameter."""
    for position, field in enumerate(contract.fields):
        if field.geometry.kind in ("scalar", "identity", "codebook") and field.distribution == "follow":
            yield Broken(
                _at(position, "distribution"),
                "N13",
                f"{field.name!r} is one {field.geometry.kind} for the parameter and cannot follow its cut",
            )


def authority_is_saved(contract: Contract) -> Iterator[Broken]:
    """N15: authoritative fields are saved, derived ones never."""
    for position, field in enumerate(contract.fields):
        if field.scope in ("common", "parameter") and not field.checkpointed:
            yield Broken(
                _at(position, "checkpointed"),
                "N15",
                f"{field.name!r} cannot be computed again and is not saved",
            )
        if field.scope == "derived" and field.checkpointed:
            yield Broken(
                _at(position, "checkpointed"), "N15", f"{field.name!r} is derived and saved all the same"
            )


def learned_codebooks_agree(contract: Contract) -> Iterator[Broken]:
    """N29: a codebook that is learned is common to a group, or all training is replicated without one."""
    sharded = [claim for claim in contract.training if claim.layout != "replicated"]
    alone = next((claim.layout for claim in sharded if claim.group == "none"), None)
    for position, field in enumerate(contract.fields):
        if field.geometry.kind != "codebook" or not field.geometry.learned or not sharded:
            continue
        if field.reduction is None:
            yield Broken(
                _at(position, "reduction"),
                "N29",
                f"{field.name!r} is learned from data that ranks share, and no reduction makes it equal",
            )
        elif alone is not None:
            yield Broken(
                _at(position, "reduction"),
                "N29",
                f"{field.name!r} is learned from {alone} parameters, which are trained without a group",
            )


def dtypes_survive_loading(contract: Contract) -> Iterator[Broken]:
    """N36: a loader that casts to the dtype of the parameter changes every field of another one.

    Values of Python's and the key ``step`` are left alone; so is what every parameter has the dtype of.
    """
    casting = any(claim.dtype_policy == "cast_to_param" for claim in contract.checkpoints)
    for position, field in enumerate(contract.fields):
        like_all = set(contract.precisions) == {field.dtype}
        kept = field.dtype == "param" or field.dtype.startswith("host_") or field.name == "step" or like_all
        if casting and not kept and field.checkpointed and field.scope != "derived":
            yield Broken(
                _at(position, "dtype"),
                "N36",
                f"{field.name!r} is {field.dtype} and comes back in the dtype of the parameter",
            )


RULES = (
    unique_names,
    one_declaration_a_key,
    every_field_in_a_variant,
    geometry_is_possible,
    scalars_do_not_follow,
    authority_is_saved,
    learned_codebooks_agree,
    dtypes_survive_loading,
)
