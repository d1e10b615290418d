"""Partitions of DeepSpeed's layers as they run, against the maps the same layers publish.

A published map of the wrong axis is a right map by itself; only what the partition does can show it.
"""

from typing import Any

import pytest
import torch
from torch import nn

from verifier import Proved, Refuted, ShardMap, check_map, map_from_affine, same_function
from verifier.oracle.lift import lift
from verifier.oracle.lifted import compare_lifted

layers = pytest.importorskip("deepspeed.module_inject.layers", reason="DeepSpeed is not installed")


def partitioned(kind: str, weight: torch.Tensor, rank: int, world: int) -> Any:
    """A layer of DeepSpeed as one rank of a tensor parallel group has it; no group is needed to cut."""
    module = nn.Linear(1, 1, bias=False)
    module.weight = nn.Parameter(weight.clone(), requires_grad=False)
    layer = getattr(layers, kind)(module, None)
    layer.tp_world_size, layer.tp_index = world, rank
    layer._freeze_partition_sizes(layer._orig_weight_shape[1 if "llreduce" in kind else 0])
    layer._tp_partition([layer.weight])
    return layer


def published(kind: str, shape: tuple[int, int], world: int) -> ShardMap:
    layer = partitioned(kind, torch.zeros(shape), 0, world)
    layer._mark_uc_metadata()
    meta = getattr(layer.weight, layers.DS_AUTOTP_UC_META)
    return map_from_affine(meta["conversion"]["affine_map"])


def held(kind: str, tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
    return partitioned(kind, tensor, rank, world).weight.data


@pytest.mark.parametrize("kind", ["LinearLayer", "LinearAllreduce"])
@pytest.mark.parametrize("shape", [(6, 6), (8, 5), (5, 9)])
def test_a_linear_layer_does_what_it_publishes(kind: str, shape: tuple[int, int]) -> None:
    lifted = lift(lambda t, rank, world: held(kind, t, rank, world), shape, 2)
    assert isinstance(same_function(lifted.shard_map, published(kind, shape, 2)), Proved)


@pytest.mark.parametrize(
    ("kind", "lifted_shape", "declared_shape"),
    [("conv_LinearLayer", (6, 3), (3, 6)), ("Conv_LinearALlreduce", (6, 3), (6, 3))],
)
def test_layers_of_transposed_weights_publish_another_function(
    kind: str, lifted_shape: tuple[int, int], declared_shape: tuple[int, int]
) -> None:
    lifted = lift(lambda t, rank, world: held(kind, t, rank, world), (6, 6), 2)
    declared = published(kind, (6, 6), 2)
    assert isinstance(check_map(declared).verdict, Proved)
    assert isinstance(same_function(lifted.shard_map, declared), Refuted)
    assert lifted.shard_map.ranks[0].shard_shape == lifted_shape
    assert declared.ranks[0].shard_shape == declared_shape
    assert len(compare_lifted(lifted, declared)) == 2
