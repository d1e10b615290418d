"""Rule N12: a geometry has what its kind needs and no more, and so has the reduction of a field."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract, StateField, Variant
from verifier.contracts.geometry import Geometry, Reduction, RunTimeSize
from verifier.contracts.reading import UNREAD, repeated
from verifier.contracts.rules.dimensions import Dimensions, dimensions_of, variants_by_field

MEMBERS: Mapping[str, frozenset[str]] = {
    "row": frozenset({"keepdim"}),
    "column": frozenset({"keepdim"}),
    "block": frozenset({"size", "domain"}),
    "packed": frozenset({"per"}),
    "codebook": frozenset({"entries", "learned"}),
    "factor": frozenset({"axis"}),
}
"""The members of a geometry that say something about state of a kind; other kinds have none."""
NEEDED: Mapping[str, tuple[str, str]] = {
    "block": ("size", "the block size of {} is not stated"),
    "packed": ("per", "how many elements of {} share a byte"),
    "codebook": ("entries", "the codebook {} states no number of entries"),
    "factor": ("axis", "the axis of {} is not stated"),
}
"""The member that a kind cannot do without, and what is said where it is missing."""
ONE_VALUE = ("scalar", "identity")


def _at(position: int, *keys: str) -> str:
    return "".join(["/fields", f"/{position}", *[f"/{key}" for key in keys]])


def geometry_is_possible(contract: Contract) -> Iterator[Broken]:
    """N12: rows and columns need two dimensions, a factor one of the axes, blocks a size."""
    listing = variants_by_field(contract)
    for position, field in enumerate(contract.fields):
        needed, words = NEEDED.get(field.geometry.kind, ("kind", ""))
        if getattr(field.geometry, needed) is None:
            yield Broken(_at(position, "geometry"), "N12", words.format(repr(field.name)))
        yield from _dimensions(contract, position, field, listing.get(field.name, ()))


def _dimensions(
    contract: Contract, position: int, field: StateField, variants: Sequence[Variant]
) -> Iterator[Broken]:
    """The variants that have the field are for parameters with enough dimensions."""
    geometry = field.geometry
    if geometry.kind == "factor" and geometry.axis is not None and geometry.axis < 0:
        yield Broken(_at(position, "geometry", "axis"), "N12", f"axis {geometry.axis} is negative")
    need, what = _needed(geometry), f"{geometry.kind} {field.name!r}"
    if geometry.kind == "block":
        what = f"the blocks of rows {field.name!r}"
    for variant in variants if need else ():
        lacking = dimensions_of(variant, contract).least_below(need)
        if lacking is not None:
            yield Broken(
                _at(position, "geometry"),
                "N12",
                f"{what} needs {need} dimensions, {variant.name!r} is for {lacking}",
            )


def _needed(geometry: Geometry) -> int:
    """The dimensions a parameter has at least; blocks of rows are counted in the last of them."""
    match geometry.kind:
        case "row" | "column":
            return 2
        case "factor":
            return (geometry.axis or 0) + 1
        case "block" if geometry.domain == "row":
            return 1
        case _:
            return 0


def members_belong_to_the_kind(contract: Contract) -> Iterator[Broken]:
    """N12: a geometry states nothing that says nothing about its kind.

    Whoever writes that packed state has blocks in each row means something that will not be done.
    """
    members = [member for member in dataclasses.fields(Geometry) if member.name != "kind"]
    for position, field in enumerate(contract.fields):
        kind = field.geometry.kind
        for member in members:
            stated = getattr(field.geometry, member.name) != member.default
            if stated and member.name not in MEMBERS.get(kind, ()):
                yield Broken(
                    _at(position, "geometry", member.name),
                    "N12",
                    f"{kind} state has no {member.name}, and {field.name!r} states one",
                )


def a_size_of_the_run_is_one_number(contract: Contract) -> Iterator[Broken]:
    """N12: a block size that a field holds is in another field, of one value and there with the blocks."""
    declared, listing = {field.name: field for field in contract.fields}, variants_by_field(contract)
    for position, field in enumerate(contract.fields):
        size = field.geometry.size
        if not isinstance(size, RunTimeSize) or UNREAD in declared or size.field == UNREAD:
            continue
        holder = declared.get(size.field)
        without = [v.name for v in listing.get(field.name, ()) if size.field not in v.fields]
        if holder is None:
            words = f"there is no field {size.field!r}"
        elif holder is field:
            words = f"the block size of {field.name!r} is in the blocks themselves"
        elif holder.geometry.kind not in ONE_VALUE:
            words = f"{size.field!r} is {holder.geometry.kind} state and no number"
        elif holder.scope == "parameter" and without:
            words = f"{without[0]!r} has {field.name!r} without {size.field!r}, which holds its block size"
        else:
            continue
        yield Broken(_at(position, "geometry", "size"), "N12", words)


def reductions_are_possible(contract: Contract) -> Iterator[Broken]:
    """N12: a reduction is over axes that parameters have, each once, and its words fit each other.

    A codebook is made from all elements of all parameters, so that axes say nothing about it.
    """
    listing = variants_by_field(contract)
    for position, field in enumerate(contract.fields):
        reduction = field.reduction
        if reduction is None:
            continue
        for key, words in _contradictions(field, reduction):
            yield Broken(_at(position, "reduction", key), "N12", words)
        if field.geometry.kind != "codebook":
            dimensions = {v.name: dimensions_of(v, contract) for v in listing.get(field.name, ())}
            yield from _axes(_at(position, "reduction", "axes"), field.name, reduction, dimensions)


def _contradictions(field: StateField, reduction: Reduction) -> Iterator[tuple[str, str]]:
    """A weighting is of a mean; a sum may say that it is added up; a factor is a sum."""
    allowed = {"mean": ("sum_then_divide", "mean_of_means"), "sum": ("sum_then_divide",), "max": ()}
    if reduction.weighting is not None and reduction.weighting not in allowed[reduction.op]:
        yield "weighting", f"{reduction.weighting} of a {reduction.op}"
    if field.geometry.kind == "factor" and reduction.op == "max":
        yield "op", f"{field.name!r} is a factor, which adds up products: a max is none"


def _axes(at: str, name: str, reduction: Reduction, variants: Mapping[str, Dimensions]) -> Iterator[Broken]:
    """The axes exist in all parameters that the variants are for."""
    if not reduction.axes:
        yield Broken(at, "N12", f"{name!r} is reduced over no axis")
        return
    need = max(axis + 1 if axis >= 0 else -axis for axis in reduction.axes)
    far = next(axis for axis in reduction.axes if need in (axis + 1, -axis))
    for variant, dimensions in variants.items():
        lacking = dimensions.least_below(need)
        if lacking is not None:
            words = f"{name!r} is reduced over axis {far}, {variant!r} is for {lacking} dimensions"
            yield Broken(at, "N12", words)
            continue
        for count in dimensions.examples():
            for _, axis in repeated(axis % count for axis in reduction.axes):
                yield Broken(at, "N12", f"axis {axis} of {count} is listed twice")
    for _, axis in repeated(reduction.axes):
        yield Broken(at, "N12", f"axis {axis} is listed twice")


RULES = (
    geometry_is_possible,
    members_belong_to_the_kind,
    a_size_of_the_run_is_one_number,
    reductions_are_possible,
)
