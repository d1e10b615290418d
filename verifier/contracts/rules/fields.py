"""Rules about state fields: R47, N4, N8, N15, N29, N36."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract
from verifier.contracts.reading import UNREAD, repeated


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
    authority_is_saved,
    learned_codebooks_agree,
    dtypes_survive_loading,
)
