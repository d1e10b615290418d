"""torch's checks of sharded tensors and of save plans; boxes of the parameter only, replicas left out."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.maps import Box, view_box
from tests.bench.measure import Run
from verifier.model.shard_map import ShardMap


def preload() -> dict[str, str]:
    """Load torch before anything is timed; the version."""
    import torch
    import torch.distributed.checkpoint.default_planner

    return {"torch": torch.__version__}


def parameter_boxes(shard_map: ShardMap) -> list[Box]:
    """The blocks of the parameter, each once: their peers know no replicas."""
    views = dict.fromkeys(piece.source for _, _, piece in shard_map.pieces())
    return [view_box(view, shard_map.logical_shape) for view in views]


def sharded_tensor(maps: Sequence[ShardMap]) -> Run:
    """``validate_non_overlapping_shards_metadata`` and ``check_tensor``."""
    from torch.distributed._shard.metadata import ShardMetadata
    from torch.distributed._shard.sharding_spec._internals import (
        check_tensor,
        validate_non_overlapping_shards_metadata,
    )

    shards = [
        (
            [ShardMetadata(list(low), list(extents), "rank:0/cpu") for low, extents in parameter_boxes(m)],
            m.logical_shape,
        )
        for m in maps
    ]

    def run() -> bool:
        try:
            for metadata, shape in shards:
                validate_non_overlapping_shards_metadata(metadata)
                check_tensor(metadata, shape)
        except ValueError:
            return False
        return True

    return run


def save_plan(maps: Sequence[ShardMap]) -> Run:
    """``_validate_global_plan`` of the distributed checkpoint, for a plan of several ranks."""
    from torch import Size
    from torch.distributed.checkpoint.default_planner import _validate_global_plan
    from torch.distributed.checkpoint.metadata import (
        BytesStorageMetadata,
        ChunkStorageMetadata,
        Metadata,
        TensorProperties,
        TensorStorageMetadata,
    )
    from torch.distributed.checkpoint.planner import SavePlan

    tensors: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
    for position, shard_map in enumerate(maps):
        chunks = [
            ChunkStorageMetadata(Size(low), Size(extents)) for low, extents in parameter_boxes(shard_map)
        ]
        tensors[f"{position}.{shard_map.name}"] = TensorStorageMetadata(
            TensorProperties(), Size(shard_map.logical_shape), chunks
        )
    metadata = Metadata(state_dict_metadata=tensors)
    plans = [SavePlan([]), SavePlan([])]  # the volumes are compared only when there are two

    def run() -> bool:
        return not _validate_global_plan(plans, metadata)

    return run
