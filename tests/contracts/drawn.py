"""Cuts of small parameters and geometries of state, drawn at random."""

from __future__ import annotations

import math
import random

from verifier.contracts.geometry import Geometry
from verifier.contracts.shards import MemberShard, ParameterCut


def draw_cut(rng: random.Random) -> ParameterCut:
    """A flat cut or a cut of one dimension, uneven, with empty shards."""
    shape = tuple(rng.choice((1, 1, 2, 3, 4, 5, 6)) for _ in range(rng.randint(1, 3)))
    members = tuple(f"rank:{k}" for k in range(rng.randint(1, 4)))
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
            offsets=tuple(edges[k] if d == dim else 0 for d in range(len(shape))),
            lengths=tuple(edges[k + 1] - edges[k] if d == dim else n for d, n in enumerate(shape)),
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
    layout: str,
    shards: list[MemberShard],
    dim: int | None,
) -> ParameterCut:
    return ParameterCut(
        fqn="w",
        shape=shape,
        layout=layout,  # type: ignore[arg-type]
        group="dp",
        members=members,
        shards=tuple(shards),
        dim=dim,
    )


def draw_geometry(rng: random.Random, dimensions: int) -> Geometry:
    """A geometry with a support that is known before a run."""
    kinds = ["parameter", "block", "packed", "row_block", "factor"]
    if dimensions >= 2:
        kinds += ["row", "column"]
    kind = rng.choice(kinds)
    match kind:
        case "block":
            return Geometry(kind="block", size=rng.randint(1, 7))
        case "row_block":
            return Geometry(kind="block", size=rng.randint(1, 4), domain="row")
        case "packed":
            return Geometry(kind="packed", per=rng.randint(1, 4))
        case "factor":
            return Geometry(kind="factor", axis=rng.randrange(dimensions))
        case _:
            return Geometry(kind=kind, keepdim=rng.random() < 0.5)  # type: ignore[arg-type]
