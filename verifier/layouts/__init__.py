"""Reference layouts: maps as they should be, to compare real ones with.

Each constructor returns a ``ShardMap``, or a ``Padded`` one with its padding, and refuses by name
(``BadLayout``) what describes no layout. Numbers of ranks, segments and blocks are plain integers; sizes may
be symbolic, which is how the constructors are proved for all sizes at once. No constructor counts elements:
the cost is that of the pieces.
"""

from verifier.layouts.contiguous import contiguous, replicated, split
from verifier.layouts.dtensor import ShardOrder, dtensor
from verifier.layouts.errors import BadLayout
from verifier.layouts.flat import flat, flat_each
from verifier.layouts.fused import Cut, Ruled, Whole, fused, gate_up, segmented
from verifier.layouts.gather import block_gather, experts
from verifier.layouts.heads import attention_heads, qkv
from verifier.layouts.nested import AxisCut, fsdp_over_tp, nested, tp_over_fsdp
from verifier.layouts.padding import Padded
from verifier.layouts.placements import Placement, Replicate, Shard, StridedShard
from verifier.layouts.rules import chunk, even, floor_first, floor_last
from verifier.layouts.vocabulary import vocabulary

__all__ = [
    "AxisCut",
    "BadLayout",
    "Cut",
    "Padded",
    "Placement",
    "Replicate",
    "Ruled",
    "Shard",
    "ShardOrder",
    "StridedShard",
    "Whole",
    "attention_heads",
    "block_gather",
    "chunk",
    "contiguous",
    "dtensor",
    "even",
    "experts",
    "flat",
    "flat_each",
    "floor_first",
    "floor_last",
    "fsdp_over_tp",
    "fused",
    "gate_up",
    "nested",
    "qkv",
    "replicated",
    "segmented",
    "split",
    "tp_over_fsdp",
    "vocabulary",
]
