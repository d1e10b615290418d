"""N24: what is claimed to move has a map; what moves under some cuts only is remarked upon."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fuzz.contracts.small import PLAIN, composite
from tests.contracts.damaging import with_value
from verifier.contracts.cases import Checked, check_document

CHANGING = {"changing": ["dim_shard"], "changes": ["placement_reshard"], "group": "world", "collective": True}


def moving(layout: str, geometry: dict[str, Any], **field: Any) -> dict[str, Any]:
    """A contract for matrices of one layout, which may come back in another cut of it."""
    made = copy.deepcopy(PLAIN)
    made["fields"][0] |= {"geometry": geometry, **field}
    made["variants"][0] |= {"layouts": [layout], "extent": "local", "ranks": [2]}
    made["ranks"] = [2]
    mesh = {"group": "mesh", "mesh_dims": [1]} if layout == "dim_shard" else {"group": "world"}
    made["training"] = [{"layout": layout, **mesh}]
    made["checkpoints"][0] |= {"same": [layout], **CHANGING, "changing": [layout]}
    return made


def found(document: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    checked: Checked = check_document(document, "x")
    return checked.rules, checked.remarks


def mean(*axes: int) -> dict[str, Any]:
    return {"axes": [*axes], "op": "mean", "weighting": "sum_then_divide"}


ROW, COLUMN, FACTOR = {"kind": "row"}, {"kind": "column"}, {"kind": "factor", "axis": 0}


@pytest.mark.parametrize(
    ("document", "rules", "remarks"),
    [
        (moving("dim_shard", {"kind": "parameter"}), (), ()),
        (moving("dim_shard", {"kind": "block", "size": 4}), (), ()),
        (moving("dim_shard", ROW), ("N24",), ()),
        (moving("dim_shard", ROW, reduction=mean(-1)), (), ()),
        (moving("dim_shard", ROW, reduction=mean(1)), (), ()),
        (moving("dim_shard", ROW, reduction=mean(0)), ("N24",), ()),
        (moving("dim_shard", COLUMN, reduction=mean(-2)), (), ()),
        (moving("dim_shard", COLUMN, reduction=mean(-1)), ("N24",), ()),
        (moving("dim_shard", FACTOR), ("N24",), ()),
        (moving("dim_shard", FACTOR, reduction={"axes": [1], "op": "sum"}), (), ("N24",)),
        (moving("flat_shard", FACTOR, reduction={"axes": [1], "op": "sum"}), ("N24",), ()),
        (moving("flat_shard", ROW), (), ()),  # each cut is asked, as for blocks
        (moving("dim_shard", {"kind": "parameter"}, distribution="none"), ("N24",), ()),
    ],
)
def test_a_field_moves_with_its_parameter(
    document: Any, rules: tuple[str, ...], remarks: tuple[str, ...]
) -> None:
    assert found(document) == (rules, remarks)


def test_a_factor_of_vectors_never_moves() -> None:
    vectors = moving("dim_shard", FACTOR, reduction={"axes": [0], "op": "sum"})
    vectors["ranks"] = vectors["variants"][0]["ranks"] = [1]
    assert found(vectors) == (("N24",), ())


def test_every_field_that_does_not_move_is_named() -> None:
    two = moving("dim_shard", ROW)
    two["fields"].append({**two["fields"][0], "name": "other", "geometry": {"kind": "opaque"}})
    two["variants"][0]["fields"] = ["buffer", "other"]
    messages = [broken.message for broken in check_document(two, "x").errors]
    assert messages == [
        "dim_shard may change, but 'buffer' has no map where dimension 1 of 2 is cut: no reduction over this "
        "axis is declared",
        "dim_shard may change, but 'other' is opaque",
    ]


@pytest.mark.parametrize(
    ("distribution", "kind", "rules"),
    [
        ("replicate", "opaque", ()),
        ("owner", "opaque", ("N13",)),
        ("follow", "opaque", ("N24",)),
        ("none", "opaque", ("N24",)),
        ("none", "scalar", ("N24",)),
        ("replicate", "scalar", ()),
    ],
)
def test_state_that_is_common_belongs_to_every_rank(distribution: str, kind: str, rules: Any) -> None:
    common = moving("dim_shard", {"kind": "parameter"})
    field = {**common["fields"][0], "name": "seen", "scope": "common"}
    common["fields"].append({**field, "geometry": {"kind": kind}, "distribution": distribution})
    assert found(common) == (rules, ())
    common["checkpoints"][0] |= PLAIN["checkpoints"][0] | {"same": ["dim_shard"]}
    assert "N24" not in found(common)[0]


def parent(child: dict[str, Any], **claim: Any) -> dict[str, Any]:
    """A composite with one child, which claims what the child trains and that slices may change."""
    made = composite()
    made["children"][0]["contract"] = child
    made["training"] = child["training"]
    made["checkpoints"][0] |= {"same": ["dim_shard"], **CHANGING, **claim}
    return made


def settled(child: dict[str, Any]) -> dict[str, Any]:
    """The child without its claim."""
    return with_value(child, ("checkpoints", 0), PLAIN["checkpoints"][0] | {"same": ["dim_shard"]})


CANONICAL = {"transport": "canonical_global", "atomic": True, "atomic_scope": "group"}


def test_a_composite_moves_what_its_children_move() -> None:
    child = moving("dim_shard", {"kind": "parameter"})
    assert found(parent(child)) == ((), ())
    assert found(parent(settled(child))) == (("N24",), ())
    assert found(parent(child, changes=["placement_reshard"], changing=[])) == (("R52",), ())


def test_under_a_canonical_transport_state_of_children_has_a_map() -> None:
    flags = {"capabilities": {"canonical_state_io": True}}
    child = settled(moving("dim_shard", {"kind": "parameter"}))
    assert found({**parent(child, **CANONICAL), **flags}) == ((), ())
    child["fields"][0]["geometry"] = {"kind": "opaque"}
    checked = check_document({**parent(child, **CANONICAL), **flags}, "x")
    (broken,) = checked.errors
    assert broken.message == "dim_shard may change, but 'buffer' of the child 'inner' is opaque"
    assert broken.pointer == "/checkpoints/0/changing"


def test_of_a_child_without_a_contract_nothing_is_known() -> None:
    unknown = composite()
    unknown["children"][0]["contract"] = None
    unknown["checkpoints"][0] |= {**CHANGING, "changing": ["replicated"]}
    assert found(unknown) == (("N24",), ())
