"""One ``*_optim_states.pt`` file of DeepSpeed: the flat partitions of one rank, without their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verifier.formats.pickles.records import Call, Grammar, Name
from verifier.formats.pickles.torch_zip import FROM_TYPE, TORCH, TensorHeader, read_torch_zip, tensor_header
from verifier.formats.reading.fields import integer, malformed
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.torch_files.moments import ParameterState, parameter_state
from verifier.geometry.strided import INT64_MAX
from verifier.model.origin import Origin

OPTIMIZER = "optimizer_state_dict"
SLICES = "param_slice_mappings"
FILE_NAME = re.compile(
    r"(?:bf16_|fp16_)?zero_pp_rank_(?P<dp>\d{1,7})_mp_rank_(?P<mp>\d{2,7})_optim_states\.pt", re.ASCII
)
MOST_RANKS = 2**20
STAGE_3 = 3

_FRAGMENT = Name("deepspeed.utils.tensor_fragment", "fragment_address")
_STAGE = Name("deepspeed.runtime.zero.config", "ZeroStageEnum")
_SCALERS = frozenset(
    Name("deepspeed.runtime.fp16.loss_scaler", name) for name in ("LossScaler", "DynamicLossScaler")
)
ZERO = TORCH | Grammar(
    names=frozenset({Name("torch", "Tensor"), Name("torch.nn.parameter", "Parameter")}),
    calls=frozenset({FROM_TYPE, _FRAGMENT, _STAGE, *_SCALERS}),
    stateful=frozenset({_FRAGMENT, *_SCALERS}),
)
"""What optimizer shards hold beside what all files of torch.save do."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Where a rank keeps a part of a parameter: its first element in the partition, and its length."""

    start: int
    numel: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroShard:
    """The optimizer state of one data-parallel rank. Numbers are elements.

    Attributes:
        origin: the file.
        name: of the file.
        dp_rank: data-parallel rank by its name.
        mp_rank: the other rank in its name, of model parallelism.
        stage: 1, 2 or 3; None for the optimizer that DeepSpeed has for bfloat16, which is cut as in stage 1.
        counts: into how many partitions each group is cut.
        lengths: of the flat tensors: one for each group, in stage 3 one for each sub-group.
        dtypes: of the flat tensors.
        slices: per group where its parameters are, None when the file does not say.
        paddings: padding of this partition by group, None when the file does not say.
        gaps: padding behind each parameter by group, None when the file does not say.
        states: what the optimizer keeps for each flat tensor.
        has_experts: True when partitions belong to groups of experts.
    """

    origin: Origin
    name: str
    dp_rank: int
    mp_rank: int
    stage: int | None
    counts: tuple[int, ...]
    lengths: tuple[int, ...]
    dtypes: tuple[str, ...] = ()
    slices: tuple[Mapping[str, Slice], ...] | None = None
    paddings: tuple[int, ...] | None = None
    gaps: tuple[tuple[int, ...], ...] | None = None
    states: tuple[ParameterState | None, ...] = ()
    has_experts: bool = False


def ranks_in_name(file_name: str) -> tuple[int, int] | None:
    """(data-parallel, model-parallel) rank in the name of an optimizer file, None for other names."""
    match = FILE_NAME.fullmatch(file_name)
    return None if match is None else (int(match["dp"]), int(match["mp"]))


def is_zero_shard(value: object) -> bool:
    """Whether a value is what DeepSpeed keeps in an optimizer file."""
    return isinstance(value, dict) and isinstance(value.get(OPTIMIZER), dict)


def read_zero_shard(path: Path, origin: Origin, limits: Limits) -> ZeroShard:
    """Read one file, without its tensors.

    Raises:
        FormatError: SM001, SM002, SM003, SM005, SM006 or SM007.
        OSError: the file cannot be read at all.
    """
    return zero_shard(read_torch_zip(path, origin, limits, ZERO), path.name, origin)


def zero_shard(value: object, name: str, origin: Origin) -> ZeroShard:
    """The shard that the value of a file amounts to.

    Raises:
        FormatError: SM001 when it is no optimizer file, SM002 or SM005 for a malformed one.
    """
    state = value.get(OPTIMIZER) if isinstance(value, dict) else None
    if not isinstance(state, dict):
        raise FormatError(
            "SM001",
            "no optimizer state of DeepSpeed is in this file",
            origin,
            help="name the *_optim_states.pt files, or their directory",
        )
    place = origin.child(OPTIMIZER)
    stage = _stage(state.get("zero_stage"), place.child("zero_stage"))
    flat = "fp32_flat_groups" if stage == STAGE_3 else "single_partition_of_fp32_groups"
    tensors = _flat_tensors(state.get(flat), place.child(flat))
    lengths = tuple([tensor.shape[0] for tensor in tensors])
    base = state.get(OPTIMIZER if stage == STAGE_3 else "base_optimizer_state")
    dp_rank, mp_rank = ranks_in_name(name) or (0, 0)
    return ZeroShard(
        origin=origin,
        name=name,
        dp_rank=dp_rank,
        mp_rank=mp_rank,
        stage=stage,
        counts=_counts(
            state.get("partition_count"),
            1 if stage == STAGE_3 else len(lengths),
            place.child("partition_count"),
        ),
        lengths=lengths,
        dtypes=tuple([tensor.dtype for tensor in tensors]),
        slices=_slices(state.get(SLICES), place.child(SLICES)),
        paddings=_numbers(state.get("group_paddings"), place.child("group_paddings")),
        gaps=_gaps(state.get("param_alignment_paddings"), place.child("param_alignment_paddings")),
        states=_states(base, len(lengths)),
        has_experts="ds_zero_partition_groups" in state,
    )


def _stage(value: object, place: Origin) -> int | None:
    if isinstance(value, Call) and value.function == _STAGE and len(value.args) == 1:
        value = value.args[0]
    if value is None:
        return None
    stage = integer(value, place)
    if stage not in (1, 2, 3):
        raise malformed(f"there is no stage {shown(stage)} of ZeRO", place, "write 1, 2 or 3")
    return stage


def _flat_tensors(value: object, place: Origin) -> list[TensorHeader]:
    if not isinstance(value, list | tuple):
        raise malformed(f"the flat partitions are {shown(value)}", place, "write a list of tensors")
    headers = []
    for position, tensor in enumerate(value):
        header = tensor_header(tensor)
        if header is None or len(header.shape) != 1:
            found = "no tensor" if header is None else f"a tensor of shape {header.shape}"
            raise malformed(f"a flat partition is {found}", place.child(position), "save the flat tensor")
        _amount(header.shape[0], place, position)
        headers.append(header)
    return headers


def _counts(value: object, groups: int, place: Origin) -> tuple[int, ...]:
    """Into how many partitions each group is cut; one number stands for all groups."""
    stated = _numbers(value, place)
    counts = (integer(value, place),) * max(groups, 1) if stated is None else stated
    if not counts or not all(1 <= count <= MOST_RANKS for count in counts):
        raise malformed(f"partition_count is {shown(value)}", place, f"write a number, 1 to {MOST_RANKS}")
    return counts


def _numbers(value: object, place: Origin) -> tuple[int, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    return tuple([_amount(number, place, position) for position, number in enumerate(value)])


def _gaps(value: object, place: Origin) -> tuple[tuple[int, ...], ...] | None:
    if not isinstance(value, list | tuple):
        return None
    return tuple([_numbers(group, place.child(position)) or () for position, group in enumerate(value)])


def _amount(value: object, place: Origin, *keys: str | int) -> int:
    """A number of elements: not negative, and no more than a tensor can have."""
    amount = integer(value, place, *keys)
    if not 0 <= amount <= INT64_MAX:
        raise malformed(f"{shown(amount)} elements", place.child(*keys), "write the number that was meant")
    return amount


def _slices(value: object, place: Origin) -> tuple[Mapping[str, Slice], ...] | None:
    if not isinstance(value, list | tuple):
        return None
    groups = []
    for position, group in enumerate(value):
        if not isinstance(group, dict):
            raise malformed(
                f"the slices of a group are {shown(group)}", place.child(position), "write an object"
            )
        here = place.child(position)
        groups.append(
            {
                name: _slice(record, here.child(name))
                for name, record in group.items()
                if isinstance(name, str)
            }
        )
    return tuple(groups)


def _slice(record: object, place: Origin) -> Slice:
    fields = record.state if isinstance(record, Call) and record.function == _FRAGMENT else None
    if not isinstance(fields, dict):
        raise malformed(f"a slice is {shown(record)}", place, "write start and numel")
    return Slice(_amount(fields.get("start"), place, "start"), _amount(fields.get("numel"), place, "numel"))


def _states(base: object, groups: int) -> tuple[ParameterState | None, ...]:
    """The state of each flat tensor: the optimizer underneath numbers them as its parameters."""
    states: object = base.get("state") if isinstance(base, dict) else base
    found: list[ParameterState | None] = []
    for position in range(groups):
        fields: object = None
        if isinstance(states, dict):
            fields = states.get(position)
        elif isinstance(states, Sequence) and position < len(states):
            fields = states[position]
        label = f"group {position}"
        found.append(parameter_state(label, fields) if isinstance(fields, dict) else None)
    return tuple(found)
