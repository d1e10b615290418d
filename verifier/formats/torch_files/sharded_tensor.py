"""ShardedTensors of torch in files of torch.save, as FSDP1 saves them by rank, as inert records.

Each says the whole layout: shape, and for every shard its offsets, sizes and rank; with it come the shards of
the rank that wrote the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verifier.formats.pickles.records import Call, Grammar, Name
from verifier.formats.pickles.torch_zip import FROM_TYPE, TORCH, TensorHeader, shape_of, tensor_header
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.rank_boxes import Box
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.torch_files.record_paths import records_in, tensor_name
from verifier.geometry.strided import INT64_MAX
from verifier.model.origin import Origin

_SHARD = "torch.distributed._shard"
_METADATA = f"{_SHARD}.sharded_tensor.metadata"
SHARDED_TENSOR = Name(f"{_SHARD}.sharded_tensor.api", "ShardedTensor")
_GROUP = Name(SHARDED_TENSOR.module, "ShardedTensor.ProcessGroupState")
_WRAPPER = Name("torch._utils", "_rebuild_wrapper_subclass")
_LOCAL = Name(f"{_SHARD}.sharded_tensor.shard", "Shard")
_OF_TENSOR = Name(_METADATA, "ShardedTensorMetadata")
_OF_SHARD = Name(f"{_SHARD}.metadata", "ShardMetadata")
_DEVICE = Name("torch.distributed.remote_device", "_remote_device")
_RECORDS = frozenset(
    {
        *(_LOCAL, _OF_TENSOR, _OF_SHARD, _DEVICE, _GROUP, Name(_METADATA, "TensorProperties")),
        Name(f"{_SHARD}.sharding_spec.chunk_sharding_spec", "ChunkShardingSpec"),
        Name(f"{_SHARD}.sharding_spec.api", "EnumerableShardingSpec"),
    }
)
FSDP1 = TORCH | Grammar(
    names=frozenset({SHARDED_TENSOR, Name("torch.nn.parameter", "Parameter"), Name("torch", "Tensor")}),
    calls=frozenset(
        {
            *(FROM_TYPE, _WRAPPER, Name("torch.serialization", "_get_layout")),
            Name(_METADATA, "MEM_FORMAT_ENCODING"),
            *_RECORDS,
        }
    ),
    stateful=_RECORDS,
    nested=frozenset({_GROUP}),
)
"""What files of torch.save with ShardedTensors hold."""

_HELP = "save it again with torch.distributed.checkpoint, which every release of torch reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedTensor:
    """One ShardedTensor as one rank saved it.

    Attributes:
        shape: of the whole tensor.
        shards: (rank, box) of all shards; the rank is None where only a worker's name is stated.
        local: (box, header) of the shards in this file.
        writer: the rank that saved the file, None when it is not stated.
    """

    shape: tuple[int, ...]
    shards: tuple[tuple[int | None, Box], ...]
    local: tuple[tuple[Box, TensorHeader], ...]
    writer: int | None


@dataclass(frozen=True, slots=True)
class ShardedTensors:
    """The ShardedTensors of one file by name. ``plain`` are the names of other tensors."""

    tensors: Mapping[str, ShardedTensor]
    plain: tuple[str, ...]
    refused: Mapping[str, FormatError]


def sharded_tensors(value: object, origin: Origin) -> ShardedTensors:
    """All ShardedTensors in nested mappings and lists; a name is the path to a tensor, joined by dots."""
    tensors: dict[str, ShardedTensor] = {}
    plain: list[str] = []
    refused: dict[str, FormatError] = {}
    for name, place, record in records_in(value, origin):
        if not _is_sharded(record):
            if tensor_header(record) is not None:
                plain.append(name)
            continue
        try:
            if tensor_name(name, place) in tensors:
                raise FormatError(
                    "SM003", f"two tensors are called {shown(name)}", place, help="rename one of them"
                )
            tensors[name] = _sharded(record.args[3], place)
        except FormatError as error:
            refused[shown(name)] = error
    return ShardedTensors(tensors, tuple(plain), refused)


def _is_sharded(record: Call) -> bool:
    return record.function == FROM_TYPE and len(record.args) == 4 and record.args[1] == SHARDED_TENSOR


def _sharded(state: object, place: Origin) -> ShardedTensor:
    if not isinstance(state, tuple) or len(state) < 3 or not isinstance(state[0], list):
        raise malformed("no state of a ShardedTensor", place, _HELP)
    fields = _fields(state[1], _OF_TENSOR, place)
    shape, shards = shape_of(fields.get("size")), fields.get("shards_metadata")
    if shape is None or not isinstance(shards, list):
        raise malformed("a ShardedTensor without a size or shards", place, _HELP)
    group = _fields(state[2], _GROUP, place)
    return ShardedTensor(
        shape=shape,
        shards=tuple(_shard(shard, len(shape), place) for shard in shards),
        local=tuple(_local(shard, len(shape), place) for shard in state[0]),
        writer=_rank(group.get("global_rank")),
    )


def _local(record: object, axes: int, place: Origin) -> tuple[Box, TensorHeader]:
    fields = _fields(record, _LOCAL, place)
    header = tensor_header(fields.get("tensor"))
    if header is None:
        raise malformed("a shard without a tensor", place, _HELP)
    _, box = _shard(fields.get("metadata"), axes, place)
    return box, header


def _shard(record: object, axes: int, place: Origin) -> tuple[int | None, Box]:
    fields = _fields(record, _OF_SHARD, place)
    offsets, sizes = (_numbers(fields.get(key), place) for key in ("shard_offsets", "shard_sizes"))
    if len(offsets) != axes or len(sizes) != axes:
        raise FormatError(
            "SM103",
            f"a shard has {len(offsets)} offsets and {len(sizes)} sizes for a tensor of {axes} axes",
            place,
            help=_HELP,
        )
    if min(sizes, default=0) < 0:
        raise FormatError("SM104", f"a shard has the size {min(sizes)}", place, help=_HELP)
    placement = fields.get("placement")
    rank = None if placement is None else _rank(_fields(placement, _DEVICE, place).get("_rank"))
    return rank, (offsets, sizes)


def _numbers(value: object, place: Origin) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not {*map(type, value)} <= {int}:
        raise malformed("offsets or sizes of a shard are no integers", place, _HELP)
    if any(abs(number) > INT64_MAX for number in value):
        raise FormatError("SM109", "an offset or size of a shard does not fit 64 bits", place, help=_HELP)
    return tuple(value)


def _rank(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= INT64_MAX else None


def _fields(record: object, kind: Name, place: Origin) -> Mapping[object, object]:
    """The fields of a record, which classes with slots save as the second of a pair."""
    state = record.state if isinstance(record, Call) and record.function == kind else None
    fields = state[1] if isinstance(state, tuple) and len(state) == 2 else state
    if not isinstance(fields, dict):
        raise malformed(f"no {kind.name}, or one without fields", place, _HELP)
    return fields
