"""DTensor placements as plain values; torch is not needed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shard:
    """The tensor dimension ``dim`` is cut like ``torch.chunk``; -1 is the last one."""

    dim: int


@dataclass(frozen=True, slots=True)
class Replicate:
    """Nothing is cut."""


@dataclass(frozen=True, slots=True)
class StridedShard:
    """``dim`` is cut into ``split_factor`` chunks, each of these over the mesh; a rank has its part of each.

    torch writes it where a dimension of the mesh that comes later has cut the tensor before: FSDP2 over
    tensor parallelism of degree t is ``StridedShard(0, t), Shard(0)``.
    """

    dim: int
    split_factor: int


Placement = Shard | Replicate | StridedShard
