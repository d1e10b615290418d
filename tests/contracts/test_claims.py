"""Claims that contradict each other, or say nothing, are errors; what may be meant is remarked upon."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fuzz.contracts.small import OWNED, PLAIN, SHARDED, composite
from tests.contracts.damaging import with_value
from verifier.contracts.cases import check_document

Found = tuple[tuple[str, ...], tuple[str, ...]]
NOTHING: Found = ((), ())


def found(document: Any) -> Found:
    checked = check_document(document, "x")
    return checked.rules, checked.remarks


def error(rule: str) -> Found:
    return (rule,), ()


def remark(rule: str) -> Found:
    return (), (rule,)


def field(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The document with another first field."""
    return with_value(document, ("fields", 0), document["fields"][0] | changes)


def variant(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The document with another first variant."""
    return with_value(document, ("variants", 0), document["variants"][0] | changes)


def made_of(**geometry: Any) -> dict[str, Any]:
    """Matrices with such state; one value for the parameter is equal everywhere."""
    one = geometry["kind"] in ("scalar", "identity", "codebook")
    matrices = variant(PLAIN, ranks=[2]) | {"ranks": [2]}
    return field(matrices, geometry=geometry, distribution="replicate" if one else "follow")


@pytest.mark.parametrize(
    "geometry",
    [
        {"kind": "parameter", "size": 7},
        {"kind": "parameter", "domain": "shard"},
        {"kind": "packed", "per": 2, "domain": "row"},
        {"kind": "packed", "per": 2, "entries": 2},
        {"kind": "row", "axis": 1},
        {"kind": "block", "size": 2, "keepdim": True},
        {"kind": "block", "size": 2, "learned": True},
        {"kind": "scalar", "per": 2},
        {"kind": "codebook", "entries": 2, "domain": "row"},
        {"kind": "factor", "axis": 0, "size": 2},
    ],
)
def test_N12_a_member_of_another_kind_says_nothing(geometry: dict[str, Any]) -> None:
    checked = check_document(made_of(**geometry), "x")
    assert checked.rules == ("N12",)
    assert checked.errors[0].pointer == f"/fields/0/geometry/{[*geometry][-1]}"


def test_N12_what_a_kind_is_without_may_be_written_down() -> None:
    assert found(made_of(kind="packed", per=2, domain="tensor", keepdim=False, learned=False)) == NOTHING


def test_N12_members_of_a_kind_that_nobody_knows_are_not_judged() -> None:
    assert found(made_of(kind="blocks", size=4)) == error("R38")


def test_N12_blocks_of_rows_need_a_dimension() -> None:
    rows = {"kind": "block", "size": 2, "domain": "row"}
    assert found(field(PLAIN, geometry=rows)) == error("N12")
    assert found(field(variant(PLAIN, exclude_ranks=[0]), geometry=rows)) == remark("N6")
    assert found(made_of(**rows)) == NOTHING


@pytest.mark.parametrize(
    ("holder", "listed", "rules"),
    [
        ({"geometry": {"kind": "scalar"}, "distribution": "replicate"}, True, ()),
        ({"geometry": {"kind": "identity"}, "distribution": "replicate"}, True, ()),
        ({}, True, ("N12",)),
        ({"geometry": {"kind": "scalar"}, "distribution": "replicate"}, False, ("N12",)),
        ({"geometry": {"kind": "scalar"}, "distribution": "replicate", "scope": "common"}, False, ()),
        ({"name": "buffer", "geometry": {"kind": "block", "size": {"field": "buffer"}}}, True, ("N12",)),
    ],
)
def test_N12_a_block_size_is_one_number_elsewhere(holder: Any, listed: bool, rules: tuple[str, ...]) -> None:
    held = {**PLAIN["fields"][0], "name": "size", **holder}
    blocks = field(PLAIN, geometry={"kind": "block", "size": {"field": held["name"]}})
    if held["name"] == "size":
        blocks["fields"].append(held)
    if listed and held["name"] == "size":
        blocks["variants"][0]["fields"] = ["buffer", "size"]
    elif held.get("scope") == "parameter" and held["name"] == "size":
        blocks["variants"].append(
            {**PLAIN["variants"][0], "name": "before", "fields": ["size"], "initialized": False}
        )
    assert found(blocks)[0] == rules


@pytest.mark.parametrize(
    ("reduction", "rules"),
    [
        ({"axes": [-1], "op": "mean", "weighting": "sum_then_divide"}, ()),
        ({"axes": [1, 0], "op": "mean", "weighting": "mean_of_means"}, ()),
        ({"axes": [1], "op": "sum", "weighting": "sum_then_divide"}, ()),
        ({"axes": [1], "op": "max"}, ()),
        ({"axes": [2], "op": "sum"}, ("N12",)),
        ({"axes": [-3], "op": "sum"}, ("N12",)),
        ({"axes": [], "op": "sum"}, ("N12",)),
        ({"axes": [1, 1], "op": "sum"}, ("N12",)),
        ({"axes": [1, -1], "op": "sum"}, ("N12",)),
        ({"axes": [1], "op": "max", "weighting": "mean_of_means"}, ("N12",)),
        ({"axes": [1], "op": "max", "weighting": "sum_then_divide"}, ("N12",)),
        ({"axes": [1], "op": "sum", "weighting": "mean_of_means"}, ("N12",)),
    ],
)
def test_N12_a_reduction_is_over_axes_there_are(reduction: Any, rules: tuple[str, ...]) -> None:
    assert found(field(made_of(kind="row"), reduction=reduction)) == (rules, ())


def test_N12_a_factor_is_a_sum_and_a_codebook_has_no_axes() -> None:
    factor = made_of(kind="factor", axis=0)
    assert found(field(factor, reduction={"axes": [1], "op": "sum"})) == NOTHING
    assert found(field(factor, reduction={"axes": [1], "op": "max"})) == error("N12")
    book = made_of(kind="codebook", entries=4, learned=True)
    assert found(field(book, reduction={"axes": [], "op": "mean"})) == NOTHING


@pytest.mark.parametrize(
    ("document", "rules"),
    [
        (field(SHARDED, distribution="replicate"), ("N13",)),
        (field(SHARDED, distribution="replicate", reduction={"axes": [0], "op": "sum"}), ("N12",)),
        (field(PLAIN, distribution="replicate"), ()),
        (field(SHARDED, distribution="replicate", geometry={"kind": "opaque"}), ()),
        (field(SHARDED, distribution="owner"), ("N13",)),
        (field(PLAIN, distribution="owner"), ("N13",)),
        (field(OWNED, distribution="owner"), ()),
        (field(SHARDED, distribution="none"), ()),
    ],
)
def test_N13_a_distribution_fits_what_members_hold(document: Any, rules: tuple[str, ...]) -> None:
    assert found(document) == (rules, ())


def slices(extent: str, distribution: str) -> dict[str, Any]:
    """State of slices of a dimension, which a group may gather."""
    cut = variant(field(PLAIN, distribution=distribution), layouts=["dim_shard"], extent=extent)
    claim = {"layout": "dim_shard", "group": "mesh", "mesh_dims": [1]}
    saved = PLAIN["checkpoints"][0] | {"same": ["dim_shard"]}
    return cut | {"training": [claim], "checkpoints": [saved]}


def test_N13_state_of_the_whole_parameter_may_be_equal_everywhere() -> None:
    assert found(slices("local", "replicate")) == error("N13")
    assert found(slices("global", "replicate")) == NOTHING
    assert found(slices("global", "follow")) == NOTHING


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (variant(PLAIN, ranks=[2]), remark("N6")),
        (variant(PLAIN, ranks=[2]) | {"ranks": [2]}, NOTHING),
        (variant(PLAIN, exclude_ranks=[5]), remark("N6")),
        (variant(PLAIN, predicate={"id": "large", "min_numel": 4096}), remark("N6")),
        (variant(PLAIN, predicate={"id": "large", "min_numel": 1}), NOTHING),
        (variant(PLAIN, predicate={"id": "small", "below_numel": 4096}), remark("N6")),
        (variant(PLAIN, predicate={"id": "small", "below_numel": 4096}) | {"ranks": [0]}, NOTHING),
    ],
)
def test_N6_parameters_that_are_left_out(document: Any, expected: Found) -> None:
    assert found(document) == expected


def test_N6_variants_together_leave_nothing_out() -> None:
    both = variant(PLAIN, predicate={"id": "small", "below_numel": 8})
    both["variants"].append(both["variants"][0] | {"name": "large", "predicate": {"id": "l", "min_numel": 8}})
    assert found(both) == NOTHING
    both["variants"][1]["predicate"]["min_numel"] = 9
    checked = check_document(both, "x")
    assert checked.remarks == ("N6",)
    assert checked.broken[0].message.endswith("is for replicated parameters with 1 dimensions and 8 elements")


@pytest.mark.parametrize(
    "document",
    [
        variant(PLAIN, exclude_ranks=[2]) | {"ranks": [2]},
        variant(PLAIN, exclude_ranks=[1, 2], ranks=[2, 3]) | {"ranks": [2]},
        variant(PLAIN, predicate={"id": "x", "min_numel": 10, "below_numel": 5}),
        variant(PLAIN, predicate={"id": "x", "min_numel": 5, "below_numel": 5}),
        variant(PLAIN, predicate={"id": "x", "below_numel": 0}),
    ],
)
def test_R46_a_variant_is_for_something(document: Any) -> None:
    assert "R46" in found(document)[0]


def test_N11_non_owners_are_described_or_pruned() -> None:
    pruned = OWNED | {"capabilities": {"non_owners_pruned": True}}
    assert found(pruned) == error("N11")
    assert found(pruned | {"variants": OWNED["variants"][:1]}) == NOTHING
    assert found(PLAIN | {"capabilities": {"non_owners_pruned": True}}) == error("N11")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, NOTHING),
        ({"training": [PLAIN["training"][0], {"layout": "flat_shard", "group": "none"}]}, error("R59")),
        ({"training": [{**PLAIN["training"][0], "mode": "fast"}]}, (("R59",), ("N28",))),
        ({"precisions": ["float32", "float64"]}, error("R59")),
    ],
)
def test_R59_a_composite_trains_what_its_children_do(changes: dict[str, Any], expected: Found) -> None:
    assert found(composite() | changes) == expected


def test_N28_what_children_train_is_claimed() -> None:
    parent = composite()
    parent["children"][0]["contract"] = SHARDED
    assert found(parent) == remark("N28")
    parent["children"][0]["contract"] = None
    parent["precisions"] = ["float64"]
    assert found(parent) == NOTHING


SCALED = field(PLAIN, scale_power=-1) | {
    "hyperparameters": {"lr": {"scale_power": 2}, "momentum": {"scale_power": 0}},
    "scale_equations": [
        {"name": "mean", "terms": {"buffer": 1, "grad": -1}},
        {"name": "update", "terms": {"lr": 1, "buffer": 1, "param": -1}},
    ],
}


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("hyperparameters", "eps"), {"scale_power": 7}),
        (("hyperparameters", "eps"), {}),
        (("hyperparameters", "lr"), {"scale_power": 7}),
        (("fields", 0, "scale_power"), 0),
        (("scale_equations", 0, "terms"), {}),
        (("scale_equations", 0, "terms"), {"buffer": 0}),
    ],
)
def test_N34_powers_follow_from_equations(at: Any, value: Any) -> None:
    assert found(SCALED) == NOTHING
    assert found(with_value(SCALED, at, value)) == error("N34")


def test_N34_powers_are_integers() -> None:
    halves = field(PLAIN) | {"scale_equations": [{"name": "root", "terms": {"buffer": 2, "grad": -1}}]}
    checked = check_document(halves, "x")
    assert checked.rules == ("N34",)
    assert checked.errors[0].message == "'buffer' would have the power -1/2, which is no integer"


def test_N34_powers_without_equations_are_remarked_upon() -> None:
    assert found(SCALED | {"scale_equations": []}) == remark("N34")
    assert found(field(PLAIN, scale_power=0)) == NOTHING


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"atomic_scope": "group"}, ("N25",)),
        ({"atomic_scope": None}, ()),
        ({"same": ["replicated", "replicated"]}, ("R51",)),
        ({"mesh_dims": [7]}, ("N19",)),
        ({"mesh_dims": None}, ()),
    ],
)
def test_checkpoint_claims(changes: dict[str, Any], rules: tuple[str, ...]) -> None:
    assert found(with_value(PLAIN, ("checkpoints", 0), PLAIN["checkpoints"][0] | changes)) == (rules, ())


@pytest.mark.parametrize(
    ("axes", "rules"), [([1], ()), ([7], ("N19",)), ([1, 2], ("N19",)), ([1, 1], ("R50",))]
)
def test_N19_meshes_of_a_checkpoint_are_those_of_slices(axes: list[int], rules: tuple[str, ...]) -> None:
    cut = slices("local", "follow")
    cut["checkpoints"][0]["mesh_dims"] = axes
    assert found(cut) == (rules, ())


def test_the_same_layouts_in_another_order_are_the_same_claim() -> None:
    twice = copy.deepcopy(SHARDED)
    twice["checkpoints"].append(twice["checkpoints"][0] | {"same": ["flat_shard", "replicated"]})
    assert found(twice) == error("R51")


def test_every_missing_member_is_named() -> None:
    messages = [
        broken.message for broken in check_document({"implementation": "x", "fields": []}, "x").broken
    ]
    missing = {f"there is no {name}" for name in ("variants", "training", "checkpoints", "schema_version")}
    assert missing <= {*messages}


def test_what_one_rule_says_of_one_place_has_an_end() -> None:
    many = copy.deepcopy(PLAIN)
    many["variants"] = [{**PLAIN["variants"][0], "name": f"v{k}"} for k in range(200)]
    checked = check_document(many, "x")
    assert checked.rules == ("N5",)
    assert len(checked.errors) < 200 * 21
