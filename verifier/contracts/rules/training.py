"""Rules about what an optimizer trains: R50, N6, N7, N13 in part, N18 to N20, N40."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract, Training
from verifier.contracts.reading import repeated
from verifier.contracts.rules.coverage import covers


def _at(position: int, *keys: str) -> str:
    return "".join(["/training", f"/{position}", *[f"/{key}" for key in keys]])


def claims_have_a_variant(contract: Contract) -> Iterator[Broken]:
    """N6: whatever is trained has an initialised variant that says how its state looks."""
    if contract.children:
        return
    for position, claim in enumerate(contract.training):
        if not any(covers(variant, claim) for variant in contract.variants):
            yield Broken(
                _at(position),
                "N6",
                f"{claim.layout} parameters are trained and no initialised variant is for them",
            )


def variants_are_trained(contract: Contract) -> Iterator[Broken]:
    """N7: a variant is for layouts, modes and ranks that are trained, unless it is for migration only."""
    if contract.children:
        return
    trained = {(claim.layout, claim.mode) for claim in contract.training}
    layouts, modes = {layout for layout, _ in trained}, {mode for _, mode in trained}
    for position, variant in enumerate(contract.variants):
        if variant.migration_only:
            continue
        for layout in variant.layouts if contract.training else ():
            if layout not in layouts:
                what = f"{layout}, which nobody trains"
            elif variant.mode in modes - {None} and (layout, variant.mode) not in trained:
                what = f"{layout} in mode {variant.mode!r}, which nobody trains"
            else:
                continue
            yield Broken(f"/variants/{position}/layouts", "N7", f"{variant.name!r} is for {what}")
        outside = set(variant.ranks or ()) - set(contract.ranks or variant.ranks or ())
        if outside:
            yield Broken(
                f"/variants/{position}/ranks",
                "N7",
                f"{variant.name!r} is for {min(outside)} dimensions, unsupported",
            )


def claims_are_there_once(contract: Contract) -> Iterator[Broken]:
    """N18: there is training, there are precisions, and no two claims contradict each other.

    The same claim once more is only remarked upon.
    """
    if not contract.training:
        yield Broken("/training", "N18", "nothing is trained")
    if not contract.precisions:
        yield Broken("/precisions", "N18", "no precision is supported")
    if contract.ranks == ():
        yield Broken("/ranks", "N18", "parameters of no number of dimensions are supported")
    for position, precision in repeated(contract.precisions):
        yield Broken(
            f"/precisions/{position}", "N18", f"the precision {precision} is listed twice", remark=True
        )
    claims: dict[tuple[object, ...], Training] = {}
    for position, claim in enumerate(contract.training):
        first = claims.setdefault((claim.layout, claim.mode, claim.mesh_dims), claim)
        if first is not claim and first == claim:
            what = f"the claim for {claim.layout} parameters is made twice"
            yield Broken(_at(position), "N18", what, remark=True)
        elif first is not claim:
            yield Broken(_at(position), "N18", f"two claims for {claim.layout} parameters differ")


def meshes_belong_to_dimension_shards(contract: Contract) -> Iterator[Broken]:
    """N19: a claim for dimension shards states its mesh and a group; no other claim has a mesh.

    One dimension is cut along one axis (R26), so that the mesh has one.
    """
    for position, claim in enumerate(contract.training):
        if claim.layout != "dim_shard" and claim.mesh_dims:
            yield Broken(_at(position, "mesh_dims"), "N19", f"{claim.layout} parameters have no mesh")
        if claim.layout == "dim_shard" and not claim.mesh_dims:
            yield Broken(_at(position), "N19", "which meshes shard a dimension is not stated")
        for axes in claim.mesh_dims or () if claim.layout == "dim_shard" else ():
            if axes != 1:
                yield Broken(
                    _at(position, "mesh_dims"), "N19", f"a mesh of {axes} axes, of which one cuts a dimension"
                )
        if claim.layout == "dim_shard" and claim.group == "none":
            yield Broken(_at(position, "group"), "N19", "shards of a dimension have a group")


def groups_do_what_needs_them(contract: Contract) -> Iterator[Broken]:
    """N20: whole matrices of sharded parameters, a synchronisation and ownership need a group."""
    for position, claim in enumerate(contract.training):
        needs = [
            what
            for what, needed in (
                ("the whole matrix", claim.needs_full_matrix and claim.layout != "replicated"),
                ("a synchronisation after the step", claim.post_sync),
                ("ownership", claim.layout == "whole_owner"),
            )
            if needed
        ]
        if needs and claim.group == "none":
            yield Broken(_at(position, "group"), "N20", f"{needs[0]} needs a group, and there is none")


def reads_fit_the_layout(contract: Contract) -> Iterator[Broken]:
    """N13: an update that reads rows, columns or the matrix cannot live on flat shards. One that reads beyond
    a shard needs a group to live on shards.
    """
    if contract.update is None or contract.update.reads not in ("row_col", "matrix", "tensor", "global"):
        return
    for position, claim in enumerate(contract.training):
        if claim.layout == "flat_shard" and contract.update.reads in ("row_col", "matrix"):
            yield Broken(
                _at(position, "layout"),
                "N13",
                f"the update reads {contract.update.reads}: a flat shard does not hold whole rows",
            )
        elif claim.layout in ("flat_shard", "dim_shard") and claim.group == "none":
            yield Broken(
                _at(position, "group"), "N13", f"the update reads {contract.update.reads} beyond the shard"
            )


def geometry_fits_the_layout(contract: Contract) -> Iterator[Broken]:
    """N13: one value for a row or column of state cannot follow a flat shard, which cuts rows.

    Where the update is one of single elements, flat shards may end at whole rows: each cut is asked.
    """
    flat = [position for position, claim in enumerate(contract.training) if claim.layout == "flat_shard"]
    declared = {field.name: field for field in contract.fields}
    reads_rows = contract.update is not None and contract.update.reads in ("row_col", "matrix")
    if not flat or not reads_rows:
        return
    for position, variant in enumerate(contract.variants):
        for name in variant.fields if "flat_shard" in variant.layouts else ():
            if name in declared and declared[name].geometry.kind in ("row", "column"):
                yield Broken(
                    f"/variants/{position}/layouts",
                    "N13",
                    f"{name!r} is one value for a row; flat shards cut rows",
                )


RULES = (
    claims_have_a_variant,
    variants_are_trained,
    claims_are_there_once,
    meshes_belong_to_dimension_shards,
    groups_do_what_needs_them,
    reads_fit_the_layout,
    geometry_fits_the_layout,
)
