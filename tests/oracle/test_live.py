"""Models as their ranks would build them: what torch says, and what it really holds."""

import functools
import os

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.planner import SavePlan
from torch.distributed.tensor import DTensor, Shard

from tests.oracle.live_models import (
    Build,
    Holder,
    distributed,
    fsdp_over_tp,
    mesh_of,
    ordered,
    packed,
    partial,
    tensor_parallel,
)
from verifier.oracle.live import inspect_model
from verifier.oracle.live_errors import BuildFailedError, GroupInUseError, NoSuchRankError, StaleMeshError
from verifier.oracle.live_group import as_rank
from verifier.oracle.live_parameter import Box, LiveParameter

TORCH_2_13 = pytest.mark.skipif(
    not torch.__version__.startswith("2.13."), reason=f"torch 2.13 does this; torch is {torch.__version__}"
)


def named(build: Build, world: int, name: str) -> LiveParameter:
    (found,) = [one for one in inspect_model(build, world).parameters if one.name == name]
    return found


def rows_held(build: Build, world: int) -> dict[int, list[int]]:
    """The numbers of the rows of the first weight on each rank, built with values."""

    def rows() -> list[int]:
        return [int(row) for row in next(build().parameters()).to_local()[:, 0].tolist()]

    return {rank: as_rank(rank, world, rows) for rank in range(world)}


def rows_written(parameter: LiveParameter) -> dict[int, list[int]]:
    """The rows a checkpoint records for the local tensor of each rank."""
    found = {}
    for rank, shard in parameter.shards.items():
        assert shard.written is not None
        (box,) = shard.written
        found[rank] = list(range(box.offset[0], box.offset[0] + box.sizes[0]))
    return found


def test_even_fsdp_over_tensor_parallelism_is_what_torch_states() -> None:
    build = fsdp_over_tp(12, 3, 2)
    weight = named(build, 6, "0.weight")
    assert weight.layout.global_shape == (12, 2)
    assert weight.layout.mesh_shape == (3, 2)
    assert weight.layout.mesh_dim_names == ("fsdp", "tp")
    assert [(p.kind, p.dim, p.split_factor) for p in weight.layout.placements] == [
        ("strided", 0, 2),
        ("shard", 0, 1),
    ]
    assert weight.meshes == ((0, 1, 2, 3, 4, 5),)
    assert [shard.stated.offset for shard in weight.shards.values()] == [
        (0, 0),
        (6, 0),
        (2, 0),
        (8, 0),
        (4, 0),
        (10, 0),
    ]
    assert all(shard.written == (shard.stated,) for shard in weight.shards.values())
    assert rows_held(build, 6) == rows_written(weight)


@TORCH_2_13
def test_uneven_fsdp_over_tensor_parallelism_writes_rows_under_the_wrong_place() -> None:
    build = fsdp_over_tp(7, 3, 2)
    weight = named(build, 6, "0.weight")
    assert [shard.held[0] for shard in weight.shards.values()] == [2, 1, 2, 1, 0, 1]
    assert [shard.stated.sizes[0] for shard in weight.shards.values()] == [2, 1, 2, 1, 1, 0]
    held, written = rows_held(build, 6), rows_written(weight)
    assert (held[4], held[5]) == ([], [6])
    assert (written[4], written[5]) == ([6], [])
    assert {r: held[r] for r in range(4)} == {r: written[r] for r in range(4)}
    saved = [as_rank(rank, 6, functools.partial(local_plan, build, rank)) for rank in range(6)]
    as_rank(0, 6, functools.partial(global_plan, build, saved))  # accepted: the metadata alone is right


@TORCH_2_13
def test_uneven_fsdp_over_tensor_parallelism_may_not_even_be_saved() -> None:
    build = fsdp_over_tp(13, 3, 2)
    assert [shard.held[0] for shard in named(build, 6, "0.weight").shards.values()] == [3, 2, 3, 2, 1, 2]
    saved = [as_rank(rank, 6, functools.partial(local_plan, build, rank)) for rank in range(6)]
    with pytest.raises(ValueError, match="validate"):
        as_rank(0, 6, functools.partial(global_plan, build, saved))


def local_plan(build: Build, rank: int) -> SavePlan:
    planner = DefaultSavePlanner()
    planner.set_up_planner(build().state_dict(), is_coordinator=rank == 0)
    return planner.create_local_plan()


def global_plan(build: Build, plans: list[SavePlan]) -> None:
    planner = DefaultSavePlanner()
    planner.set_up_planner(build().state_dict(), is_coordinator=True)
    planner.create_global_plan(plans)


@TORCH_2_13
def test_a_shard_order_is_not_told_to_the_checkpoint_writer() -> None:
    found = named(lambda: Holder(a_buffer=ordered(15)), 4, "a_buffer")
    assert found.layout.shard_order == ((0, (1, 0)),)
    assert not found.layout.default_order
    held = {
        rank: as_rank(rank, 4, lambda: [int(row) for row in ordered(15).to_local()[:, 0].tolist()])
        for rank in range(4)
    }
    written = rows_written(found)
    assert (held[1], written[1]) == ([8, 9, 10, 11], [4, 5, 6, 7])
    assert (held[2], written[2]) == ([4, 5, 6, 7], [8, 9, 10, 11])


@TORCH_2_13
def test_a_shard_order_is_lost_when_a_parameter_is_made_of_its_tensor() -> None:
    """Torch moves nothing and forgets the order; nothing is left from which it could be seen."""

    def orders() -> list[object]:
        tensor = DTensor(ordered(15).to_local().float(), ordered(15)._spec, requires_grad=False)
        return [one._spec.shard_order for one in (tensor, tensor.detach(), nn.Parameter(tensor))]

    kept, detached, parameter = as_rank(1, 4, orders)
    assert kept == ((0, (1, 0)),)
    assert detached == parameter == ((0, (0, 1)),)


def test_a_strided_shard_is_recorded_as_a_box_that_it_is_not() -> None:
    weight = named(packed, 2, "weight")
    assert weight.shards[1].written == (Box((3, 0), (6, 4)),)
    assert weight.shards[1].held == (6, 4)


def test_each_group_of_ranks_has_a_mesh_of_its_own() -> None:
    weight = named(tensor_parallel(2, 2), 4, "0.weight")
    assert weight.meshes == ((0, 1), (2, 3))
    assert [shard.stated.offset[0] for shard in weight.shards.values()] == [0, 4, 0, 4]


def test_a_checkpoint_of_summands_is_refused() -> None:
    (shard, _) = named(partial, 2, "weight").shards.values()
    assert shard.written is None
    assert "partial placements" in shard.refusal


def test_plain_tensors_are_counted_and_tied_ones_met_once() -> None:
    def build() -> nn.Module:
        model = nn.Sequential(Holder(weight=distributed([Shard(0)], 4)), nn.Linear(2, 2), nn.BatchNorm1d(2))
        model.add_module("again", Holder())
        model.again.register_parameter("tied", model[0].weight)
        model.again.register_buffer("scratch", torch.empty(3), persistent=False)
        return model

    found = inspect_model(build, 2)
    assert [one.name for one in found.parameters] == ["0.weight"]
    assert found.plain[:2] == ("1.weight", "1.bias")
    assert "again.scratch" not in (*found.plain, *found.plain_buffers)
    assert "2.running_mean" in found.plain_buffers


def test_some_ranks_alone() -> None:
    found = inspect_model(fsdp_over_tp(8, 2, 2), 4, ranks=[3, 1, 3])
    assert found.ranks == (1, 3)
    assert list(found.parameters[0].shards) == [1, 3]
    assert found.parameters[0].meshes == ((0, 1, 2, 3),)


def test_tensors_are_made_without_memory() -> None:
    devices: set[str] = set()

    def build() -> nn.Module:
        model = fsdp_over_tp(8, 2, 2)()
        devices.update(one.to_local().device.type for one in model.parameters())
        return model

    inspect_model(build, 4)
    assert devices == {"meta"}


@pytest.mark.parametrize("failing", [False, True])
def test_nothing_is_left_behind(failing: bool) -> None:
    from torch.distributed.tensor import _random as mesh_random

    torch.manual_seed(5)
    before = (dict(os.environ), torch.get_default_dtype(), torch.get_default_device())
    state, tracker = torch.random.get_rng_state(), mesh_random._rng_tracker

    def build() -> nn.Module:
        os.environ["SHARDPROOF_TEST"] = "1"
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(6)
        torch.set_default_device("meta")
        mesh_random._rng_tracker = object()  # random operators on a mesh of GPUs set it for the process
        model = Holder(weight=distributed([Shard(0)], 4))
        if failing:
            raise RuntimeError("no such layer")
        return model

    if failing:
        with pytest.raises(BuildFailedError, match="rank 0: RuntimeError while the model was built: no such"):
            inspect_model(build, 2)
    else:
        inspect_model(build, 2)
    assert not dist.is_initialized()
    assert (dict(os.environ), torch.get_default_dtype(), torch.get_default_device()) == before
    assert torch.equal(torch.random.get_rng_state(), state)
    assert mesh_random._rng_tracker is tracker


def test_a_process_group_of_the_caller_is_left_alone() -> None:
    def nested() -> None:
        with pytest.raises(GroupInUseError):
            inspect_model(packed, 2)
        assert dist.is_initialized()

    as_rank(0, 2, nested)


def test_a_model_may_destroy_the_group_itself() -> None:
    def build() -> nn.Module:
        dist.destroy_process_group()
        return nn.Linear(2, 2)

    assert inspect_model(build, 1).plain == ("weight", "bias")


def test_a_mesh_kept_from_another_rank_is_an_error() -> None:
    mesh = functools.cache(mesh_of)

    def build() -> nn.Module:
        return Holder(weight=torch.distributed.tensor.zeros(4, device_mesh=mesh((2,), ("tp",))))

    with pytest.raises(StaleMeshError, match="rank 1: weight"):
        inspect_model(build, 2)


def test_what_is_no_model_and_no_world_is_refused() -> None:
    with pytest.raises(BuildFailedError, match="a NoneType was built"):
        inspect_model(lambda: None, 1)
    with pytest.raises(NoSuchRankError):
        inspect_model(packed, 0)
    with pytest.raises(NoSuchRankError):
        inspect_model(packed, 2, ranks=[2])
