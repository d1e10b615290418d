"""Contracts that are right, cuts of small parameters and geometries of state, drawn at random."""

from __future__ import annotations

import math
import random
from typing import Any

from verifier.contracts.document import Layout
from verifier.contracts.geometry import Geometry
from verifier.contracts.shards import MemberShard, ParameterCut

NAMES = ("step", "exp_avg", "exp_avg_sq", "momentum_buffer", "codes", "absmax", "row_var", "prev")
GROUP = {"replicated": "none", "flat_shard": "none", "dim_shard": "mesh", "whole_owner": "world"}


def draw_cut(rng: random.Random) -> ParameterCut:
    """A flat cut or a cut of one dimension, uneven, with empty shards."""
    shape = tuple([rng.choice((1, 1, 2, 3, 4, 5, 6)) for _ in range(rng.randint(1, 3))])
    members = tuple([f"rank:{k}" for k in range(rng.randint(1, 4))])
    if rng.random() < 0.5:
        edges = _edges(rng, math.prod(shape), len(members), rng.choice((1, 1, 2, 3, shape[-1])))
        order = list(range(len(members)))
        rng.shuffle(order)
        shards = [MemberShard(member="", offsets=(0,), lengths=(0,))] * len(members)
        for k, place in enumerate(order):
            shards[place] = MemberShard(
                member=members[place], offsets=(edges[k],), lengths=(edges[k + 1] - edges[k],)
            )
        return _cut(shape, members, "flat_shard", shards, None)
    dim = rng.randrange(len(shape))
    edges = _edges(rng, shape[dim], len(members), 1)
    boxes = [
        MemberShard(
            member=member,
            offsets=tuple([edges[k] if d == dim else 0 for d in range(len(shape))]),
            lengths=tuple([edges[k + 1] - edges[k] if d == dim else n for d, n in enumerate(shape)]),
            is_box=True,
        )
        for k, member in enumerate(members)
    ]
    return _cut(shape, members, "dim_shard", boxes, dim)


def _edges(rng: random.Random, size: int, parts: int, step: int) -> list[int]:
    inner = [min(size, rng.randint(0, size) // step * step) for _ in range(parts - 1)]
    return [0, *sorted(inner), size]


def _cut(
    shape: tuple[int, ...],
    members: tuple[str, ...],
    layout: Layout,
    shards: list[MemberShard],
    dim: int | None,
) -> ParameterCut:
    return ParameterCut(
        fqn="w", shape=shape, layout=layout, group="dp", members=members, shards=tuple(shards), dim=dim
    )


def cut_document(cut: ParameterCut) -> dict[str, Any]:
    """A cut as the JSON value it is read from."""
    document: dict[str, Any] = {
        "parameter": {"fqn": cut.fqn, "shape": list(cut.shape)},
        "layout": cut.layout,
        "group": {"name": cut.group, "members": list(cut.members)},
        "shards": [
            {"member": shard.member}
            | (
                {"offsets": list(shard.offsets), "lengths": list(shard.lengths)}
                if shard.is_box
                else {"offset": shard.offsets[0], "length": shard.lengths[0]}
            )
            for shard in cut.shards
        ],
    }
    return document if cut.dim is None else document | {"dim": cut.dim}


def draw_geometry(rng: random.Random, dimensions: int) -> Geometry:
    """A geometry with a support that is known before a run."""
    kinds = ["parameter", "block", "packed", "row_block", "factor"]
    if dimensions >= 2:
        kinds += ["row", "column"]
    match rng.choice(kinds):
        case "block":
            return Geometry(kind="block", size=rng.randint(1, 7))
        case "row_block":
            size = rng.randint(1, 4)
            if rng.random() < 0.2:
                return Geometry(kind="packed", per=size, domain="row")
            return Geometry(kind="block", size=size, domain="row")
        case "packed":
            return Geometry(kind="packed", per=rng.randint(1, 4))
        case "factor":
            return Geometry(kind="factor", axis=rng.randrange(dimensions))
        case "row":
            return Geometry(kind="row", keepdim=rng.random() < 0.5)
        case "column":
            return Geometry(kind="column", keepdim=rng.random() < 0.5)
        case _:
            return Geometry(kind="parameter")


def draw_contract(rng: random.Random) -> dict[str, Any]:
    """A contract that breaks no rule, as a JSON value."""
    owned = rng.random() < 0.2
    layouts = (
        ["whole_owner"] if owned else rng.sample(["replicated", "flat_shard", "dim_shard"], rng.randint(1, 3))
    )
    matrices = rng.random() < 0.4
    fields = [_field(rng, name, layouts, matrices) for name in rng.sample(NAMES, rng.randint(1, 4))]
    document: dict[str, Any] = {
        "schema_version": 1,
        "implementation": "example.Drawn",
        "hyperparameters": {"lr": {"scale_power": None}, "eps": {"scale_power": -1}},
        "fields": fields,
        "variants": _variants(rng, [field["name"] for field in fields], layouts, matrices),
        "update": {"reads": "elementwise", "empty_shard": rng.choice(("noop", "error"))},
        "training": [_training(layout) for layout in layouts],
        "checkpoints": [_native(layouts)],
        "precisions": rng.sample(["float32", "bfloat16", "float64"], rng.randint(1, 3)),
        "ranks": [2] if matrices else None,
    }
    moving = [layout for layout in layouts if layout in ("flat_shard", "dim_shard")]
    if moving and rng.random() < 0.5:
        document["checkpoints"].append(_global(layouts, moving))
        document["capabilities"] = {"canonical_state_io": True}
    if rng.random() < 0.5:
        document["scale_equations"] = _equations(fields)
    else:
        for quantity in (*fields, *document["hyperparameters"].values()):
            quantity["scale_power"] = None
    return document


def _field(rng: random.Random, name: str, layouts: list[str], matrices: bool) -> dict[str, Any]:
    kinds = ["scalar", "identity", "parameter", "parameter", "block", "packed"]
    if matrices and "flat_shard" not in layouts:
        kinds += ["row", "column"]
    kind = rng.choice(kinds)
    more: dict[str, Any] = {"block": {"size": rng.randint(1, 300)}, "packed": {"per": 2}}.get(kind, {})
    field = {
        "name": name,
        "scope": "parameter",
        "geometry": {"kind": kind, **more},
        "dtype": {"packed": "uint8", "scalar": "host_int"}.get(kind, "float32"),
        "checkpointed": True,
        "optional": False,
        "distribution": "replicate" if kind in ("scalar", "identity") else "follow",
        "scale_power": rng.randint(-2, 2),
    }
    if kind in ("row", "column"):
        axis = -1 if kind == "row" else -2
        field["reduction"] = {"axes": [axis], "op": "mean", "weighting": "sum_then_divide"}
    return field


def _variants(
    rng: random.Random, fields: list[str], layouts: list[str], matrices: bool
) -> list[dict[str, Any]]:
    ranks = {"ranks": [2]} if matrices else {}
    own = layouts == ["whole_owner"]
    live = {"extent": "owner", "role": "owner"} if own else {"extent": "local"}
    variants = [{"name": "live", "fields": fields, "layouts": layouts, "initialized": True, **live, **ranks}]
    nothing = {"fields": [], "layouts": layouts, "extent": "metadata", "initialized": False, **ranks}
    if own:
        variants.append({"name": "others", "role": "non_owner", **nothing})
    elif rng.random() < 0.5:
        variants.append({"name": "before", **nothing})
    return variants


def _training(layout: str) -> dict[str, Any]:
    claim: dict[str, Any] = {"layout": layout, "group": GROUP[layout]}
    return claim | {"mesh_dims": [1]} if layout == "dim_shard" else claim


def _native(layouts: list[str]) -> dict[str, Any]:
    return {
        "transport": "native",
        "same": layouts,
        "changing": [],
        "changes": [],
        "group": "none",
        "collective": False,
        "atomic": False,
    }


def _global(layouts: list[str], moving: list[str]) -> dict[str, Any]:
    return {
        "transport": "canonical_global",
        "same": layouts,
        "changing": moving,
        "changes": ["placement_reshard"],
        "group": "world",
        "collective": True,
        "atomic": True,
        "atomic_scope": "group",
    }


def _equations(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One for each field, which its power satisfies, and one for each hyperparameter."""
    powers = [(field["name"], field["scale_power"]) for field in fields]
    equations = [{"name": f"{name} scales", "terms": {name: 1, "grad": power}} for name, power in powers]
    return [
        *equations,
        {"name": "eps is like a gradient", "terms": {"eps": 1, "grad": -1}},
        {"name": "the update is like the parameter", "terms": {"lr": 1, "grad": 1, "param": -1}},
    ]
