"""Small documents that break no rule."""

from __future__ import annotations

from typing import Any

PLAIN: dict[str, Any] = {
    "schema_version": 1,
    "implementation": "example.SGD",
    "fields": [
        {
            "name": "buffer",
            "scope": "parameter",
            "geometry": {"kind": "parameter"},
            "dtype": "param",
            "checkpointed": True,
            "optional": False,
            "distribution": "follow",
        }
    ],
    "variants": [
        {
            "name": "all",
            "fields": ["buffer"],
            "layouts": ["replicated"],
            "extent": "local",
            "initialized": True,
        }
    ],
    "update": {"reads": "elementwise"},
    "training": [{"layout": "replicated", "group": "none"}],
    "checkpoints": [
        {
            "transport": "native",
            "same": ["replicated"],
            "changing": [],
            "changes": [],
            "group": "none",
            "collective": False,
            "atomic": False,
        }
    ],
    "precisions": ["float32"],
}
"""One field, on replicated parameters."""

SHARDED: dict[str, Any] = {
    **PLAIN,
    "variants": [{**PLAIN["variants"][0], "layouts": ["replicated", "flat_shard"]}],
    "training": [*PLAIN["training"], {"layout": "flat_shard", "group": "none"}],
    "checkpoints": [{**PLAIN["checkpoints"][0], "same": ["replicated", "flat_shard"]}],
}
"""The same on flat shards as well."""

OWNED: dict[str, Any] = {
    **PLAIN,
    "variants": [
        {
            "name": "owner",
            "fields": ["buffer"],
            "layouts": ["whole_owner"],
            "extent": "owner",
            "initialized": True,
            "role": "owner",
        },
        {
            "name": "others",
            "fields": [],
            "layouts": ["whole_owner"],
            "extent": "metadata",
            "initialized": False,
            "role": "non_owner",
        },
    ],
    "training": [{"layout": "whole_owner", "group": "world"}],
    "checkpoints": [{**PLAIN["checkpoints"][0], "same": ["whole_owner"]}],
}
"""The same on parameters with an owner."""

CUT: dict[str, Any] = {
    "map": {
        "parameter": {"fqn": "layer.weight", "shape": [4]},
        "layout": "flat_shard",
        "group": {"name": "dp", "members": ["a", "b"]},
        "shards": [{"member": "a", "offset": 0, "length": 2}, {"member": "b", "offset": 2, "length": 2}],
    }
}
"""A vector in two halves."""


def composite() -> dict[str, Any]:
    """An optimizer with one child, whose contract is the plain one."""
    return {
        "schema_version": 1,
        "implementation": "example.Composite",
        "fields": [],
        "variants": [],
        "training": PLAIN["training"],
        "checkpoints": [{**PLAIN["checkpoints"][0], "transport": "composite"}],
        "precisions": ["float32"],
        "namespaces": ["inner"],
        "children": [{"role": "inner", "implementation": "example.SGD", "contract": PLAIN}],
    }
