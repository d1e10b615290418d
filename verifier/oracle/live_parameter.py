"""What torch says of the DTensors of a model, rank by rank, as plain values. Free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["shard", "strided", "replicate", "partial", "other"]

ShardOrder = tuple[tuple[int, tuple[int, ...]], ...]
"""For each tensor dimension that is cut, the mesh dimensions that cut it, the first cut first."""


@dataclass(frozen=True, slots=True)
class LivePlacement:
    """One placement.

    Attributes:
        kind: "strided" is torch's ``_StridedShard``.
        text: as torch prints it.
        dim: the tensor dimension that is cut, None where none is.
        split_factor: of a strided one, else 1.
    """

    kind: Kind
    text: str
    dim: int | None = None
    split_factor: int = 1


@dataclass(frozen=True, slots=True)
class Box:
    """A block of the global tensor: where it begins and how large it is, for each dimension."""

    offset: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LiveShard:
    """One rank's part of a DTensor.

    Attributes:
        held: shape of the local tensor itself.
        stated: local shape and first offset by torch's formula for mesh and placements, which
            is not told of shard orders.
        written: the blocks a distributed checkpoint (DCP) records for the local tensor; None when it refuses.
        refusal: why it refuses, else empty.
    """

    held: tuple[int, ...]
    stated: Box
    written: tuple[Box, ...] | None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """What all ranks of a DTensor should agree on.

    Attributes:
        global_shape: of the tensor.
        mesh_shape: ranks along each dimension of the mesh.
        mesh_dim_names: empty when the mesh has none.
        placements: one for each dimension of the mesh.
        shard_order: as the spec states it; None when the placements are strided, which is an order already.
        dtype: as torch spells it, without the module.
    """

    global_shape: tuple[int, ...]
    mesh_shape: tuple[int, ...]
    mesh_dim_names: tuple[str, ...]
    placements: tuple[LivePlacement, ...]
    shard_order: ShardOrder | None
    dtype: str

    @property
    def default_order(self) -> bool:
        """Whether every dimension is cut by the dimensions of the mesh from the left."""
        return self.shard_order is None or all(list(dims) == sorted(dims) for _, dims in self.shard_order)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveParameter:
    """One parameter or buffer of a model that is a DTensor.

    Attributes:
        name: as in ``named_parameters``.
        module: the class of the module that owns it.
        layout: what its ranks agree on. Ranks that say something else make up a parameter of their own.
        meshes: the ranks of each mesh it lives on, row-major; more than one when each group of ranks has a
            mesh of its own (tensor parallelism alone in a job with data parallelism).
        shards: by rank.
    """

    name: str
    module: str
    layout: Layout
    meshes: tuple[tuple[int, ...], ...]
    shards: Mapping[int, LiveShard]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A model as the ranks see it.

    Attributes:
        world: how many ranks the group has.
        ranks: those that built the model.
        parameters: DTensors, in the order of the first rank that has them.
        plain: names of parameters that are plain tensors; nothing is said of them.
        plain_buffers: names of such persistent buffers.
        torch_version: the torch that built it.
    """

    world: int
    ranks: tuple[int, ...]
    parameters: tuple[LiveParameter, ...]
    plain: tuple[str, ...]
    plain_buffers: tuple[str, ...]
    torch_version: str
