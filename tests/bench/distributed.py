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


Tensor = tuple[Sequence[int], list[Box]]
"""A shape and the blocks that are stored of it."""


def sharded_tensor(maps: Sequence[ShardMap]) -> Run:
    """``validate_non_overlapping_shards_metadata`` and ``check_tensor``."""
    return check_sharded([(m.logical_shape, parameter_boxes(m)) for m in maps])


def check_sharded(tensors: Sequence[Tensor]) -> Run:
    """The same, of tensors."""
    from torch.distributed._shard.metadata import ShardMetadata
    from torch.distributed._shard.sharding_spec._internals import (
        check_tensor,
        validate_non_overlapping_shards_metadata,
    )

    shards = [
        ([ShardMetadata(list(low), list(extents), "rank:0/cpu") for low, extents in boxes], list(shape))
        for shape, boxes in tensors
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
    return check_plan([(m.logical_shape, parameter_boxes(m)) for m in maps])


def check_plan(tensors: Sequence[Tensor]) -> Run:
    """The same, of tensors."""
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

    stored: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
    for position, (shape, boxes) in enumerate(tensors):
        chunks = [ChunkStorageMetadata(Size(low), Size(extents)) for low, extents in boxes]
        stored[f"weight.{position}"] = TensorStorageMetadata(TensorProperties(), Size(shape), chunks)
    metadata = Metadata(state_dict_metadata=stored)
    plans = [SavePlan([]), SavePlan([])]  # the volumes are compared only when there are two

    def run() -> bool:
        return not _validate_global_plan(plans, metadata)

    return run
