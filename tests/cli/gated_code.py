"""Code as people write it, to be gated: partition functions, weight loaders, models. Some of it is wrong."""

SHARDS = '''\
import torch

from verifier.layouts import qkv, vocabulary

HEADS, KV_HEADS, HEAD_DIM, HIDDEN = 4, 2, 2, 3


def rows(tensor, rank, world):
    return tensor.chunk(world)[rank]


def first_rows(tensor, rank, world):
    """The rank is forgotten."""
    return tensor.chunk(world)[0]


def padded(tensor, rank, world):
    """Rows of a vocabulary, with zeros where there are none."""
    each = -(-len(tensor) // world)
    mine = tensor[rank * each : (rank + 1) * each]
    return torch.cat([mine, mine.new_zeros(each - len(mine), *tensor.shape[1:])])


def halved(tensor, rank, world):
    return tensor.chunk(world)[rank] / 2


def summed(tensor, rank, world):
    return tensor.chunk(world)[rank] + 1


def floats_differ(tensor, rank, world):
    """Floating point tensors all go the way of rank 0."""
    return tensor.chunk(world)[0 if tensor.is_floating_point() else rank]


def short(tensor, rank):
    return tensor


def leaves(tensor, rank, world):
    raise SystemExit(0)


def chatty(tensor, rank, world):
    print("cutting")
    return tensor.chunk(world)[rank]


def as_trained(ranks):
    return qkv(HEADS, KV_HEADS, HEAD_DIM, HIDDEN, ranks)


def as_padded(shape, ranks):
    return vocabulary(shape[0], shape[1], ranks)


def needs_more(shape, heads):
    return None


def no_map():
    return None
'''

LOADERS = '''\
import torch

from verifier.oracle.lift_calls import Loading

HEADS, KV_HEADS, HEAD_DIM, HIDDEN = 4, 2, 2, 3
PARTS = {name: (heads * HEAD_DIM, HIDDEN) for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS))}


def fused(rank, world, place):
    sizes = {name: rows // world for name, (rows, _) in PARTS.items()}
    starts = {"q": 0, "k": sizes["q"], "v": sizes["q"] + sizes["k"]}

    def load(parameter, loaded, shard_id):
        size = sizes[shard_id]
        own = loaded.narrow(0, place * size, size)
        parameter.data.narrow(0, starts[shard_id], size).copy_(own)

    parameter = torch.nn.Parameter(torch.empty(sum(sizes.values()), HIDDEN), requires_grad=False)
    return Loading(parameter, load, PARTS)


def right(rank, world):
    return fused(rank, world, rank)


def first_shard(rank, world):
    """Every rank loads shard 0."""
    return fused(rank, world, 0)


def naive(rank, world):
    """One fused tensor in the checkpoint, cut without a look at its parts."""
    rows = sum(rows for rows, _ in PARTS.values())

    def load(parameter, loaded, shard_id):
        parameter.copy_(loaded.chunk(world)[rank])

    return Loading(torch.empty(rows // world, HIDDEN), load, {"qkv": (rows, HIDDEN)})


def keeps_tail(rank, world):
    """The last row is never written."""

    def load(parameter, loaded, shard_id):
        parameter[:-1] = loaded.chunk(world)[rank][:-1]

    return Loading(torch.empty(4 // world, 2), load, {0: (4, 2)})


def weight_loader(parameter, loaded, shard_id):
    """What --loader does not take: it does not say how it is called."""


def no_parts(rank, world):
    return Loading(torch.empty(1), weight_loader, [1])


def raises(rank, world):
    raise KeyError("qkv")
'''

MODELS = '''\
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor._dtensor_spec import DTensorSpec, ShardOrderEntry
from torch.distributed.tensor._redistribute import redistribute_local_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def feed_forward(hidden):
    """Two layers, tensor parallel over 2 ranks, under FSDP over 3."""
    mesh = init_device_mesh("cpu", (3, 2), mesh_dim_names=("fsdp", "tp"))
    model = nn.Sequential(nn.Linear(2, hidden), nn.Linear(hidden, 2))
    plan = {"0": ColwiseParallel(), "1": RowwiseParallel()}
    parallelize_module(model, mesh["tp"], plan, src_data_rank=None)
    return fully_shard(model, mesh=mesh["fsdp"])


def even():
    return feed_forward(12)


def uneven():
    return feed_forward(7)


def reordered():
    """Rows that the second dimension of the mesh cuts first."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
    whole = distribute_tensor(torch.empty(15, 1), mesh, [Replicate()] * 2, src_data_rank=None)
    order = (ShardOrderEntry(0, (1, 0)),)
    spec = DTensorSpec(mesh, (Shard(0), Shard(0)), tensor_meta=whole._spec.tensor_meta, shard_order=order)
    local = redistribute_local_tensor(whole.to_local(), whole._spec, spec)
    model = nn.Module()
    model.register_buffer("table", DTensor(local, spec, requires_grad=False))
    return model


def summands():
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
    model = nn.Module()
    model.weight = nn.Parameter(DTensor.from_local(torch.empty(3, 4), mesh, [Partial()]))
    return model


def chatty():
    print("building")
    return even()


def plain():
    return nn.Linear(2, 2)


def raises():
    raise RuntimeError("there is no such file")


def leaves():
    raise SystemExit(0)


def no_module():
    return None
'''
