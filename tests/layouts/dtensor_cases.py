"""Random DTensor layouts: a mesh, a shape, placements and sometimes a shard order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verifier.layouts import Placement, Replicate, Shard, ShardOrder, StridedShard, dtensor
from verifier.model.shard_map import ShardMap

MESHES = (
    *((1,), (2,), (3,), (4,), (5,), (8,)),
    *((2, 2), (2, 3), (3, 2), (4, 2), (2, 4), (3, 3), (1, 4), (4, 1)),
    *((2, 2, 2), (2, 3, 2), (3, 2, 2), (2, 1, 3), (2, 2, 4), (4, 2, 2)),
)
EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 0)


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments of ``dtensor``."""

    shape: tuple[int, ...]
    mesh: tuple[int, ...]
    placements: tuple[Placement, ...]
    shard_order: ShardOrder | None = None

    def map(self) -> ShardMap:
        """Our map of it."""
        return dtensor(self.shape, self.mesh, self.placements, self.shard_order)

    @property
    def ranks(self) -> int:
        """Of the mesh."""
        return int(np.prod(self.mesh))

    def coordinate(self, rank: int) -> list[int]:
        """The place of a rank in the mesh."""
        return [int(one) for one in np.unravel_index(rank, self.mesh)]

    @property
    def on_axis(self) -> tuple[Case, ...]:
        """For each tensor dimension the same cuts of it alone, as one-dimensional cases."""
        found = []
        for axis, extent in enumerate(self.shape):
            kept = [_moved(one, axis) for one in self.placements]
            found.append(Case((extent,), self.mesh, tuple(kept)))
        return tuple(found)

    def __str__(self) -> str:
        words = f"shape {self.shape}, mesh {self.mesh}, {', '.join(map(_short, self.placements))}"
        return words if self.shard_order is None else f"{words}, order {self.shard_order}"


def case_at(seed: int, index: int) -> Case:
    """One case of a run; the same for the same numbers."""
    rng = random.Random(f"dtensor:{seed}:{index}")
    mesh = rng.choice(MESHES)
    most = (len(EXTENTS), 7, 4)
    shape = tuple(rng.choice(EXTENTS[: most[axis]]) for axis in range(rng.randint(1, 3)))
    plain = rng.random() < 0.3
    placements = tuple(_placement(rng, len(shape), plain) for _ in mesh)
    if plain and rng.random() < 0.8:
        return Case(shape, mesh, placements, _order(rng, placements))
    return Case(shape, mesh, placements)


def kinds(case: Case, shard_map: ShardMap) -> list[str]:
    """What the case is an example of."""
    cut = Counter(one.dim for one in case.placements if not isinstance(one, Replicate))
    shards = shard_map.ranks.values()
    found = {
        f"{len(case.mesh)} mesh dimension{'s' if len(case.mesh) > 1 else ''}": True,
        "strided": any(isinstance(one, StridedShard) and one.split_factor > 1 for one in case.placements),
        "replicated": any(isinstance(one, Replicate) for one in case.placements),
        "a dimension cut more than once": any(count > 1 for count in cut.values()),
        "shard order not from the left": case.shard_order is not None
        and any(list(dims) != sorted(dims) for _, dims in case.shard_order),
        "uneven": len({shard.shard_shape for shard in shards}) > 1,
        "an empty shard": any(shard.numel == 0 for shard in shards),
        "a shard that is no box": any(len(shard.pieces) > 1 for shard in shards),
        "a parameter without elements": shard_map.numel == 0,
    }
    return [name for name, is_one in found.items() if is_one]


def _placement(rng: random.Random, dimensions: int, plain: bool) -> Placement:
    kind = rng.random()
    if kind < 0.2:
        return Replicate()
    dim = 0 if rng.random() < 0.6 else rng.randrange(dimensions)
    return Shard(dim) if plain or kind < 0.6 else StridedShard(dim, rng.randint(1, 4))


def _order(rng: random.Random, placements: Sequence[Placement]) -> ShardOrder:
    cutting: dict[int, list[int]] = {}
    for mesh_dim, one in enumerate(placements):
        if isinstance(one, Shard):
            cutting.setdefault(one.dim, []).append(mesh_dim)
    return tuple((dim, tuple(rng.sample(dims, len(dims)))) for dim, dims in sorted(cutting.items()))


def _moved(placement: Placement, axis: int) -> Placement:
    if isinstance(placement, Replicate) or placement.dim != axis:
        return Replicate()
    return Shard(0) if isinstance(placement, Shard) else StridedShard(0, placement.split_factor)


def _short(placement: Placement) -> str:
    if isinstance(placement, Replicate):
        return "R"
    if isinstance(placement, Shard):
        return f"S({placement.dim})"
    return f"SS({placement.dim}, {placement.split_factor})"
