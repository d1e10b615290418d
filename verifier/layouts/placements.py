"""DTensor placements as plain values; torch is not needed."""

from verifier.model.placements import Placement, Replicate, Shard, StridedShard

__all__ = ["Placement", "Replicate", "Shard", "StridedShard"]
