"""Documents that a reader of the reference vocabulary accepts and should not: each is refused with its rule.

Each is a valid document but for one place.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.damaging import with_value
from tests.contracts.valid import CUT, OWNED, PLAIN, SHARDED, composite
from verifier.contracts.cases import check_document

Place = tuple[Any, ...]
Item = tuple[str, Any, Place, Any, str]

TENSOR = {"kind": "parameter"}


def field(name: str, **changes: Any) -> dict[str, Any]:
    """Another field like the one of the plain contract."""
    return {**PLAIN["fields"][0], "name": name, **changes}


def variant(name: str, **changes: Any) -> dict[str, Any]:
    """Another variant like the one of the plain contract."""
    return {**PLAIN["variants"][0], "name": name, **changes}


def claim(**changes: Any) -> dict[str, Any]:
    """A checkpoint claim like that of the plain contract."""
    return {**PLAIN["checkpoints"][0], **changes}


CHANGING = {
    "transport": "canonical_global",
    "group": "world",
    "collective": True,
    "atomic": True,
    "atomic_scope": "group",
    "changing": ["flat_shard"],
    "changes": ["placement_reshard"],
}
"""A claim over a change of topology that is right for the sharded contract."""

FIELDS: list[Item] = [
    ("a field name that is a number", PLAIN, ("fields", 0, "name"), 7, "R37"),
    ("a field name with blanks", PLAIN, ("fields", 0, "name"), " m ", "R37"),
    ("modes in one text", PLAIN, ("fields", 0, "modes"), "exact", "N1"),
    ("no fields but an object", PLAIN, ("fields",), {}, "N2"),
    (
        "a prefix that shadows a field",
        PLAIN,
        ("fields",),
        [field("buffer"), field("buf", key_match="prefix")],
        "N4",
    ),
    ("rows of a vector", PLAIN, ("fields", 0, "geometry"), {"kind": "row"}, "N12"),
]
VARIANTS: list[Item] = [
    ("fields in one text", PLAIN, ("variants", 0, "fields"), "buffer", "N1"),
    ("layouts in one text", PLAIN, ("variants", 0, "layouts"), "replicated", "N1"),
    ("layouts in an object", PLAIN, ("variants", 0, "layouts"), {"replicated": True}, "N1"),
    ("a layout that is a number", PLAIN, ("variants", 0, "layouts"), [3], "R43"),
    ("a field twice", PLAIN, ("variants", 0, "fields"), ["buffer", "buffer"], "R43"),
    (
        "every field inactive",
        PLAIN,
        ("variants",),
        [variant("all"), variant("old", inactive=["buffer"], migration_only=True)],
        "N14",
    ),
    ("inactive outside migration", PLAIN, ("variants", 0, "inactive"), ["buffer"], "N14"),
    ("ranks of nothing", PLAIN, ("variants", 0, "ranks"), [], "R46"),
    ("metadata that is initialised", PLAIN, ("variants", 0, "extent"), "metadata", "N9"),
    (
        "metadata with a tensor",
        PLAIN,
        ("variants",),
        [variant("all"), variant("before", initialized=False, extent="metadata")],
        "N9",
    ),
    ("owner extent, any role", OWNED, ("variants", 0, "role"), "any", "N11"),
    ("owner role on replicas", PLAIN, ("variants", 0, "role"), "owner", "N11"),
    ("a non-owner with everything", OWNED, ("variants", 1, "extent"), "global", "N11"),
    ("a mode that is a number", PLAIN, ("variants", 0, "mode"), 5, "N1"),
    ("twins", PLAIN, ("variants",), [variant("all"), variant("other", initialized=False)], "N5"),
    ("global extent of flat shards", SHARDED, ("variants", 0, "extent"), "global", "N10"),
    ("an optional field required", PLAIN, ("fields", 0, "optional"), True, "N16"),
    (
        "a field of another mode",
        PLAIN | {"training": [PLAIN["training"][0], {**PLAIN["training"][0], "mode": "fast"}]},
        ("fields",),
        [field("buffer", modes=["slow"])],
        "N17",
    ),
]
TRAINING: list[Item] = [
    (
        "a mesh of two axes",
        PLAIN,
        ("training",),
        [*PLAIN["training"], {"layout": "dim_shard", "group": "mesh", "mesh_dims": [2]}],
        "N19",
    ),
    (
        "slices without a group",
        PLAIN,
        ("training",),
        [*PLAIN["training"], {"layout": "dim_shard", "group": "none", "mesh_dims": [1]}],
        "N19",
    ),
    ("owners without a group", OWNED, ("training", 0, "group"), "none", "N20"),
    ("a matrix of flat shards", SHARDED, ("training", 1, "needs_full_matrix"), True, "N20"),
    ("rows that flat shards cut", SHARDED, ("update", "reads"), "row_col", "N13"),
    ("no training", PLAIN, ("training",), [], "N18"),
    ("no precisions", PLAIN, ("precisions",), [], "N18"),
    (
        "training that contradicts itself",
        PLAIN,
        ("training",),
        [*PLAIN["training"], {**PLAIN["training"][0], "post_sync": True, "group": "world"}],
        "N18",
    ),
    (
        "a trained layout without a variant",
        PLAIN,
        ("training",),
        [*PLAIN["training"], {"layout": "flat_shard", "group": "none"}],
        "N6",
    ),
]
CHECKPOINTS: list[Item] = [
    ("layouts in one text", PLAIN, ("checkpoints", 0, "same"), "replicated", "N1"),
    ("an empty claim", PLAIN, ("checkpoints", 0, "same"), [], "N22"),
    ("a change that nobody knows", PLAIN, ("checkpoints", 0, "changes"), ["bogus"], "R52"),
    ("a collective of nobody", PLAIN, ("checkpoints", 0, "collective"), True, "N20"),
    ("a saved layout without a variant", PLAIN, ("checkpoints", 0, "same"), ["flat_shard"], "N21"),
    ("a mode that nobody trains", PLAIN, ("checkpoints", 0, "modes"), ["fast"], "N17"),
    ("canonical state without a transport", PLAIN, ("capabilities",), {"canonical_state_io": True}, "N26"),
    ("a transport without canonical state", PLAIN, ("checkpoints", 0, "transport"), "canonical_local", "N26"),
    ("sharding later without rebinding", PLAIN, ("capabilities",), {"post_sharding": True}, "N27"),
    ("no capabilities but null", PLAIN, ("capabilities",), None, "R53"),
    ("composite without children", PLAIN, ("checkpoints", 0, "transport"), "composite", "N23"),
]
CHANGES: list[Item] = [
    ("a change without a collective", ("collective",), False, "N23"),
    ("owners of flat shards", ("changes",), ["owner_redistribution"], "N23"),
    ("a local change", ("transport",), "canonical_local", "N23"),
    ("a change of what is not saved", ("same",), ["replicated"], "N21"),
]
ROOT: list[Item] = [
    ("an implementation that is a number", PLAIN, ("implementation",), 3, "R55"),
    ("a child that has a role", composite(), ("children", 0), {"role": "muon"}, "R54"),
    ("a child that is somebody else", composite(), ("children", 0, "implementation"), "other.Adam", "N28"),
    ("a child without a namespace", composite(), ("namespaces",), [], "N28"),
    ("namespaces without children", PLAIN, ("namespaces",), ["muon"], "N28"),
    (
        "an atomic composite of children that are not",
        composite(),
        ("checkpoints", 0),
        claim(transport="composite", atomic=True, atomic_scope="instance"),
        "N25",
    ),
]
CUTS: list[Item] = [
    ("a name with a blank inside", CUT, ("map", "parameter", "fqn"), "a layer", "R1"),
    ("a name with a tab inside", CUT, ("map", "parameter", "fqn"), "a\tlayer", "R1"),
    ("a shape without order", CUT, ("map", "parameter", "shape"), {"4": None}, "N32"),
    ("members without order", CUT, ("map", "group", "members"), {"a": 0, "b": 1}, "N32"),
]


@pytest.mark.parametrize(
    "document", [PLAIN, OWNED, SHARDED, composite(), CUT], ids=["plain", "owned", "flat", "composite", "cut"]
)
def test_what_they_are_made_from_is_valid(document: Any) -> None:
    checked = check_document(document, "x")
    assert (checked.verdict, checked.broken) == ("valid", ())


@pytest.mark.parametrize(
    ("document", "at", "value", "rule"),
    [item[1:] for item in (*FIELDS, *VARIANTS, *TRAINING, *CHECKPOINTS, *ROOT, *CUTS)],
    ids=[item[0] for item in (*FIELDS, *VARIANTS, *TRAINING, *CHECKPOINTS, *ROOT, *CUTS)],
)
def test_is_refused_with_its_rule(document: Any, at: Place, value: Any, rule: str) -> None:
    assert rule in check_document(with_value(document, at, value), "x").rules


@pytest.mark.parametrize(
    ("at", "value", "rule"), [item[1:] for item in CHANGES], ids=[item[0] for item in CHANGES]
)
def test_a_change_of_topology_is_refused_with_its_rule(at: Place, value: Any, rule: str) -> None:
    right = {**SHARDED, "capabilities": {"canonical_state_io": True}}
    right["checkpoints"] = [{**SHARDED["checkpoints"][0], **CHANGING}]
    assert check_document(right, "x").verdict == "valid"
    assert rule in check_document(with_value(right, ("checkpoints", 0, *at), value), "x").rules


def test_a_reshard_claim_over_an_opaque_field_is_refused() -> None:
    claims = [{**SHARDED["checkpoints"][0], **CHANGING}]
    right = {**SHARDED, "capabilities": {"canonical_state_io": True}, "checkpoints": claims}
    wrong = with_value(right, ("fields", 0, "geometry"), {"kind": "opaque"})
    assert check_document(wrong, "x").rules == ("N24",)


def cuts(*named: tuple[str, list[str]]) -> dict[str, Any]:
    """Replicated parameters by name, each with the members of the group dp."""
    return {
        "cuts": [
            {
                "parameter": {"fqn": name, "shape": [2]},
                "layout": "replicated",
                "group": {"name": "dp", "members": members},
                "shards": [{"member": member, "offset": 0, "length": 2} for member in members],
            }
            for name, members in named
        ]
    }


def test_names_that_differ_in_case_are_refused() -> None:
    assert check_document(cuts(("w", ["a"]), ("v", ["a"])), "x").broken == ()
    assert check_document(cuts(("w", ["a"]), ("W", ["a"])), "x").rules == ("N31",)


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        (cuts(("w", ["a", "b"]), ("v", ["a", "c"])), "N30"),
        (cuts(("w", ["a"]), ("w.v", ["a"])), "N31"),
        ({**PLAIN, "fields": [*PLAIN["fields"], field("unused")]}, "N8"),
        ({**PLAIN, "training": PLAIN["training"] * 2}, "N18"),
        ({**PLAIN, "colour": "red"}, "N3"),
    ],
    ids=[
        "two groups of a name",
        "a name begins another",
        "a field in no variant",
        "a claim twice",
        "a member",
    ],
)
def test_what_is_no_error_is_remarked_upon(document: Any, rule: str) -> None:
    checked = check_document(document, "x")
    assert (checked.verdict, checked.remarks) == ("valid", (rule,))
