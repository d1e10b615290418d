"""Contracts for optimizers of tests, from their fields."""

from __future__ import annotations

from typing import Any

from verifier.contracts.decoding import decode_contract
from verifier.contracts.document import Contract
from verifier.contracts.reading import Notes, Value
from verifier.contracts.rules import broken_rules

LAYOUTS = ["replicated", "flat_shard", "dim_shard"]


def field(name: str, dtype: str = "param", kind: str = "parameter") -> dict[str, Any]:
    """A field with a value for each element, or one value for the parameter."""
    return {
        "name": name,
        "scope": "parameter",
        "geometry": {"kind": kind},
        "dtype": dtype,
        "checkpointed": True,
        "optional": False,
        "distribution": {"parameter": "follow", "opaque": "none"}.get(kind, "replicate"),
    }


def declared(*fields: dict[str, Any]) -> Contract:
    """The contract of an elementwise optimizer with these fields, made in the first step or later."""
    fresh = {"name": "fresh", "fields": [], "layouts": LAYOUTS, "extent": "metadata", "initialized": False}
    names = [one["name"] for one in fields]
    made = {"name": "all", "fields": names, "layouts": LAYOUTS, "extent": "local", "initialized": True}
    document = {
        "schema_version": 1,
        "implementation": "tests.Optimizer",
        "fields": list(fields),
        "variants": [fresh, made],
        "update": {"reads": "elementwise", "empty_shard": "noop"},
        "training": [
            {"layout": "replicated", "group": "none"},
            {"layout": "flat_shard", "group": "none"},
            {"layout": "dim_shard", "group": "mesh", "mesh_dims": [1]},
        ],
        "checkpoints": [
            {
                "transport": "native",
                "same": LAYOUTS,
                "changing": [],
                "changes": [],
                "group": "none",
                "collective": False,
                "atomic": False,
            }
        ],
        "precisions": ["float32"],
    }
    notes = Notes()
    contract = decode_contract(Value(document, "", notes))
    assert not notes.broken
    assert list(broken_rules(contract)) == []
    return contract
