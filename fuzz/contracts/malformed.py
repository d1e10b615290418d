"""Documents that a reader of the reference vocabulary accepts and should not, each with its rule.

Each is a valid document but for one place.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fuzz.contracts.small import CUT, OWNED, PLAIN, SHARDED, composite

_Place = tuple[Any, ...]
_Item = tuple[str, Any, _Place, Any, str]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A document that is wrong in one place.

    Attributes:
        what: is wrong.
        right: the document without it.
        document: with it.
        rule: that it breaks.
        remark: whether that is remarked upon and no error.
    """

    what: str
    right: Any
    document: Any
    rule: str
    remark: bool = False


def _field(name: str, **changes: Any) -> dict[str, Any]:
    """Another field like the one of the plain contract."""
    return {**PLAIN["fields"][0], "name": name, **changes}


def _variant(name: str, **changes: Any) -> dict[str, Any]:
    """Another variant like the one of the plain contract."""
    return {**PLAIN["variants"][0], "name": name, **changes}


def _claim(**changes: Any) -> dict[str, Any]:
    """A checkpoint claim like that of the plain contract."""
    return {**PLAIN["checkpoints"][0], **changes}


_CHANGING = {
    "transport": "canonical_global",
    "group": "world",
    "collective": True,
    "atomic": True,
    "atomic_scope": "group",
    "changing": ["flat_shard"],
    "changes": ["placement_reshard"],
}
"""A claim over a change of topology that is right for the sharded contract."""

_FIELDS: list[_Item] = [
    ("a field name that is a number", PLAIN, ("fields", 0, "name"), 7, "R37"),
    ("a field name with blanks", PLAIN, ("fields", 0, "name"), " m ", "R37"),
    ("modes in one text", PLAIN, ("fields", 0, "modes"), "exact", "N1"),
    ("no fields but an object", PLAIN, ("fields",), {}, "N2"),
    (
        "a prefix that shadows a field",
        PLAIN,
        ("fields",),
        [_field("buffer"), _field("buf", key_match="prefix")],
        "N4",
    ),
    ("rows of a vector", PLAIN, ("fields", 0, "geometry"), {"kind": "row"}, "N12"),
]
_VARIANTS: list[_Item] = [
    ("fields in one text", PLAIN, ("variants", 0, "fields"), "buffer", "N1"),
    ("layouts in one text", PLAIN, ("variants", 0, "layouts"), "replicated", "N1"),
    ("layouts in an object", PLAIN, ("variants", 0, "layouts"), {"replicated": True}, "N1"),
    ("a layout that is a number", PLAIN, ("variants", 0, "layouts"), [3], "R43"),
    ("a field twice", PLAIN, ("variants", 0, "fields"), ["buffer", "buffer"], "R43"),
    (
        "every field inactive",
        PLAIN,
        ("variants",),
        [_variant("all"), _variant("old", inactive=["buffer"], migration_only=True)],
        "N14",
    ),
    ("inactive outside migration", PLAIN, ("variants", 0, "inactive"), ["buffer"], "N14"),
    ("ranks of nothing", PLAIN, ("variants", 0, "ranks"), [], "R46"),
    ("metadata that is initialised", PLAIN, ("variants", 0, "extent"), "metadata", "N9"),
    (
        "metadata with a tensor",
        PLAIN,
        ("variants",),
        [_variant("all"), _variant("before", initialized=False, extent="metadata")],
        "N9",
    ),
    ("owner extent, any role", OWNED, ("variants", 0, "role"), "any", "N11"),
    ("owner role on replicas", PLAIN, ("variants", 0, "role"), "owner", "N11"),
    ("a non-owner with everything", OWNED, ("variants", 1, "extent"), "global", "N11"),
    ("a mode that is a number", PLAIN, ("variants", 0, "mode"), 5, "N1"),
    ("twins", PLAIN, ("variants",), [_variant("all"), _variant("other", initialized=False)], "N5"),
    ("global extent of flat shards", SHARDED, ("variants", 0, "extent"), "global", "N10"),
    ("an optional field required", PLAIN, ("fields", 0, "optional"), True, "N16"),
    (
        "a field of another mode",
        PLAIN | {"training": [PLAIN["training"][0], {**PLAIN["training"][0], "mode": "fast"}]},
        ("fields",),
        [_field("buffer", modes=["slow"])],
        "N17",
    ),
]
_TRAINING: list[_Item] = [
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
_CHECKPOINTS: list[_Item] = [
    ("saved layouts in one text", PLAIN, ("checkpoints", 0, "same"), "replicated", "N1"),
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
_CHANGES: list[tuple[str, _Place, Any, str]] = [
    ("a change without a collective", ("collective",), False, "N23"),
    ("owners of flat shards", ("changes",), ["owner_redistribution"], "N23"),
    ("a local change", ("transport",), "canonical_local", "N23"),
    ("a change of what is not saved", ("same",), ["replicated"], "N21"),
]
_ROOT: list[_Item] = [
    ("an implementation that is a number", PLAIN, ("implementation",), 3, "R55"),
    ("a child that has a role", composite(), ("children", 0), {"role": "muon"}, "R54"),
    ("a child that is somebody else", composite(), ("children", 0, "implementation"), "other.Adam", "N28"),
    ("a child without a namespace", composite(), ("namespaces",), [], "N28"),
    ("namespaces without children", PLAIN, ("namespaces",), ["muon"], "N28"),
    (
        "an atomic composite of children that are not",
        composite(),
        ("checkpoints", 0),
        _claim(transport="composite", atomic=True, atomic_scope="instance"),
        "N25",
    ),
]
_CUTS: list[_Item] = [
    ("a name with a blank inside", CUT, ("map", "parameter", "fqn"), "a layer", "R1"),
    ("a name with a tab inside", CUT, ("map", "parameter", "fqn"), "a\tlayer", "R1"),
    ("a shape without order", CUT, ("map", "parameter", "shape"), {"4": None}, "N32"),
    ("members without order", CUT, ("map", "group", "members"), {"a": 0, "b": 1}, "N32"),
]

_RESHARDED: dict[str, Any] = {
    **SHARDED,
    "capabilities": {"canonical_state_io": True},
    "checkpoints": [{**SHARDED["checkpoints"][0], **_CHANGING}],
}
"""The sharded contract with that claim."""


def _cuts(*named: tuple[str, list[str]]) -> dict[str, Any]:
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


_TWO = _cuts(("w", ["a"]), ("v", ["a"]))
_ERRORS = (
    Malformed("names that differ in case", _TWO, _cuts(("w", ["a"]), ("W", ["a"])), "N31"),
    Malformed(
        "a reshard claim over an opaque field",
        _RESHARDED,
        {**_RESHARDED, "fields": [_field("buffer", geometry={"kind": "opaque"})]},
        "N24",
    ),
)
_REMARKS = (
    ("two groups of a name", _TWO, _cuts(("w", ["a", "b"]), ("v", ["a", "c"])), "N30"),
    ("a name that begins another", _TWO, _cuts(("w", ["a"]), ("w.v", ["a"])), "N31"),
    ("a field in no variant", PLAIN, {**PLAIN, "fields": [*PLAIN["fields"], _field("unused")]}, "N8"),
    ("a claim twice", PLAIN, {**PLAIN, "training": PLAIN["training"] * 2}, "N18"),
    ("a member that nobody knows", PLAIN, {**PLAIN, "colour": "red"}, "N3"),
)


def _with(document: Any, at: _Place, value: Any) -> Any:
    """A copy of the document with another value at one place."""
    changed = copy.deepcopy(document)
    holder = changed
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = value
    return changed


def malformed() -> Iterator[Malformed]:
    """All of them."""
    for what, right, at, value, rule in (*_FIELDS, *_VARIANTS, *_TRAINING, *_CHECKPOINTS, *_ROOT, *_CUTS):
        yield Malformed(what, right, _with(right, at, value), rule)
    for what, at, value, rule in _CHANGES:
        document = _with(_RESHARDED, ("checkpoints", 0, *at), value)
        yield Malformed(what, _RESHARDED, document, rule)
    yield from _ERRORS
    for what, right, document, rule in _REMARKS:
        yield Malformed(what, right, document, rule, remark=True)
