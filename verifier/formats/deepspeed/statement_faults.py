"""Model states of ZeRO held against themselves: the lists of names, and ``module``, which has all of them.

A converter goes by the lists alone, so a name that a list has lost is lost without a message. Only what no
right checkpoint can have is a fault. A name in no list is at most a warning where a right one may have it:
DeepSpeed lists neither trainable parameters that no optimizer got, nor the second name of a module that
another has twice, nor what a layer adds to its state dict by itself, nor, in stage 1, frozen parameters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verifier.formats.deepspeed.model_states import PARAM_SHAPES, ModelStates
from verifier.formats.deepspeed.statements import BUFFERS, DP_RANKS, FRAGMENTS, FROZEN_SHAPES, SHARED, STEPS
from verifier.formats.deepspeed.zero_layout import part
from verifier.formats.deepspeed.zero_shards import ZeroShard
from verifier.formats.pickles.torch_zip import TensorHeader
from verifier.formats.reading.refusal import shown, some
from verifier.formats.torch_files.rank_agreement import disagree, first_counted
from verifier.obligations.faults import Count, Fault, Value

PLACEHOLDER = (0,)
"""The shape in ``module`` of a parameter that stage 3 has cut."""

FIRST = (0, 0)
LISTING_STAGES = (2, 3)
"""Of ZeRO, those that list frozen parameters."""

MOST_STEPS = 64
"""Of a name that are looked at."""

EXTRA = "_extra_state"
"""What torch calls the state of a module that is neither parameter nor buffer."""


def statement_faults(files: Sequence[ModelStates], ranks: int | None) -> Iterator[Fault]:
    """What the files of one model-parallel rank state of their parameters and cannot all be true.

    Args:
        files: its model states: one, in stage 3 one for each data-parallel rank.
        ranks: how many data-parallel ranks there are, None when that is not certain.
    """
    checks: tuple[Callable[[ModelStates], Iterator[Fault]], ...] = (
        _shapes,
        _fragment_names,
        lambda states: _fragment_sizes(states, ranks),
        _shared,
    )
    for check in checks:
        found = [fault for states in files for fault in check(states)]
        if found:
            yield first_counted(found)


def other_steps(files: Sequence[ModelStates]) -> Iterator[Fault]:
    """Files of one save were written after the same step."""
    stated = [one for one in files if one.says.steps is not None]
    differing = [one for one in stated if one.says.steps != stated[0].says.steps]
    if differing:
        yield disagree(
            STEPS,
            f"is {differing[0].says.steps}",
            stated=f"{stated[0].origin.file} says {stated[0].says.steps}",
            file=differing[0].origin.file,
            count=len(differing),
        )


def other_ranks(files: Sequence[ModelStates], shard: ZeroShard, ranks: int) -> Iterator[Fault]:
    """Model states that count other data-parallel ranks than there are partitions.

    Some releases leave sequence-parallel ranks out of the number, and MiCS saves one of several copies.
    """
    wrong = [
        one
        for one in files
        if one.says.dp_ranks
        and ranks % one.says.dp_ranks
        and (one.partition is None or ranks == 1 or one.says.dp_ranks % ranks)
    ]
    if wrong:
        yield disagree(
            DP_RANKS,
            f"is {wrong[0].says.dp_ranks}",
            stated=f"partition_count in {shard.name} is {ranks}",
            file=wrong[0].origin.file,
            count=len(wrong),
        )


def _shapes(states: ModelStates) -> Iterator[Fault]:
    """A parameter has in ``module`` the shape that its list states, unless it is cut."""
    lists = [(PARAM_SHAPES, group) for group in states.groups or ()]
    for descriptor, shapes in (*lists, (FROZEN_SHAPES, states.says.frozen or {})):
        for name, shape in shapes.items():
            header = states.says.module.get(name)
            if header is None or shape is None or header.shape == shape:
                continue
            if states.partition is None or header.shape != PLACEHOLDER:
                yield _fault(
                    states,
                    f"{shown(name)} of module",
                    f"has shape {header.shape}",
                    f"{descriptor} says {shape}",
                )


def _fragment_names(states: ModelStates) -> Iterator[Fault]:
    """Frozen parameters have both a shape and values."""
    frozen, fragments = states.says.frozen, states.says.fragments
    if frozen is None or fragments is None:
        return
    for name in frozen:
        if name not in fragments:
            yield _fault(states, shown(name), f"is not in {FRAGMENTS}", f"{FROZEN_SHAPES} has it")
    for name in fragments:
        if name not in frozen:
            yield _fault(states, shown(name), f"is not in {FROZEN_SHAPES}", f"{FRAGMENTS} has it")


def _fragment_sizes(states: ModelStates, ranks: int | None) -> Iterator[Fault]:
    """What a rank keeps of a frozen parameter is all of it, in stage 3 an equal part."""
    if states.partition is None:
        cuts = [1]
    elif ranks is None:
        return
    else:
        # MiCS cuts over groups of ranks.
        cuts = [cut for cut in range(1, ranks + 1) if ranks % cut == 0]
    for name, header in (states.says.fragments or {}).items():
        shape = (states.says.frozen or {}).get(name)
        if header is None or shape is None:
            continue
        if all(header.numel != part(math.prod(shape), cut) for cut in cuts):
            yield _fault(
                states,
                f"{shown(name)} in {FRAGMENTS}",
                f"has {header.numel} elements",
                f"{FROZEN_SHAPES} says {shape}",
            )


def _shared(states: ModelStates) -> Iterator[Fault]:
    """A further name of a parameter has its shape in ``module``, and its bytes where it shares any."""
    module, shared = states.says.module, states.says.shared or {}
    if states.partition is not None:
        return
    places = _places(states)
    for name, target in shared.items():
        ours, theirs = module.get(name), module.get(target)
        if ours is None or theirs is None:
            continue
        if (ours.storage, ours.offset) == (theirs.storage, theirs.offset):
            continue
        twin = places.get(_place(ours)) if ours.numel else None
        if twin is not None and twin != name:
            yield _fault(
                states,
                f"{shown(name)} in {SHARED}",
                f"is {shown(target)}",
                f"in module it has the bytes of {shown(twin)}",
            )
        elif ours.shape != theirs.shape:
            yield _fault(
                states,
                f"{shown(name)} in {SHARED}",
                f"is {shown(target)}",
                f"in module one has shape {ours.shape}, the other {theirs.shape}",
            )


@dataclass(slots=True)
class Unlisted:
    """Names of ``module`` in none of the lists: those that a list has lost, and those that may be so.

    Where DeepSpeed leaves names out of the lists as a rule, they are only told.
    """

    faults: list[Fault] = field(default_factory=list)
    remarks: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def unlisted_names(states: ModelStates, stage: int | None) -> Unlisted:
    """What is found in the file of the first rank of all: only that one looks for shared parameters."""
    if (states.partition or (0, states.rank)) != FIRST:
        return Unlisted()
    unlisted, absent = _in_no_list(states)
    lost = list(_lost(states, unlisted, absent))
    if lost:
        return Unlisted(faults=[first_counted(lost)])
    if not unlisted:
        return Unlisted()
    if stage not in LISTING_STAGES:
        return Unlisted(notes=[f"names of module that no list has ({len(unlisted)}): {some(unlisted)}"])
    values: dict[str, Value] = {
        "what": shown(unlisted[0]),
        "found": "is in module alone",
        "stated": f"{PARAM_SHAPES}, {FROZEN_SHAPES}, {SHARED} and {BUFFERS} do not have it",
        "reason": "zero_to_fp32 leaves it out",
        "file": states.origin.file,
    }
    count = Count(len(unlisted), exact=True) if len(unlisted) > 1 else None
    return Unlisted(remarks=[Fault(code="CK205", side="map", count=count, values=values)])


def _in_no_list(states: ModelStates) -> tuple[list[str], list[str]]:
    """The names of ``module`` that no list has, and the parameters of the lists that ``module`` has not."""
    says = states.says
    if says.shared is None or says.frozen is None or says.buffers is None or states.groups is None:
        return [], []
    parameters = dict.fromkeys(name for group in states.groups for name in group)
    parameters |= dict.fromkeys((*says.frozen, *(says.fragments or {})))
    stored = {_unwrapped(name) for name in says.module}
    absent = [name for name in parameters if _unwrapped(name) not in stored]
    if len(absent) > max(len(parameters) // 2, 1):
        return [], []  # module has names of its own
    listed = {_unwrapped(name) for name in (*parameters, *says.shared, *says.buffers)}
    unlisted = [
        name
        for name in says.module
        if _unwrapped(name) not in listed and not name.endswith(EXTRA) and not _is_below(name, listed)
    ]
    return unlisted, absent


def _lost(states: ModelStates, unlisted: Sequence[str], absent: Sequence[str]) -> Iterator[Fault]:
    """Names that a list should have: for the others a right checkpoint may look like this."""
    module, places = states.says.module, _places(states)
    siblings = Counter(pattern for name in module for pattern in _siblings(name)) if unlisted else Counter()
    for name in unlisted:
        header, why = module[name], None
        twin = places.get(_place(header)) if header.numel else None
        if states.partition is None:
            if twin is not None and _siblings(name).isdisjoint(_siblings(twin)):
                why = f"it has the bytes of {shown(twin)}, and {SHARED} does not say so"
        elif header.shape == PLACEHOLDER:
            if len(absent) == len(unlisted) == 1:
                why = f"they have {shown(absent[0])}, which module has not"
            elif not absent and all(siblings[pattern] == 1 for pattern in _siblings(name)):
                why = "its values are cut, and nothing says where they are"
        if why is not None:
            yield _fault(states, shown(name), "is in module and in no list of names", why)


def _siblings(name: str) -> frozenset[tuple[str | None, ...]]:
    """What is common to the names one step from this one, as those of a module that another has twice.

    DeepSpeed visits such a module once, so it never notices that the parameters have a second name.
    """
    steps = name.split(".")[:MOST_STEPS]
    return frozenset((*steps[:place], None, *steps[place + 1 :]) for place in range(len(steps)))


def _places(states: ModelStates) -> Mapping[object, str]:
    """The trained parameters of ``module`` by the bytes that they have in the file."""
    module = states.says.module
    names = [name for group in states.groups or () for name in group if name in module]
    return {_place(module[name]): name for name in reversed(names) if module[name].numel}


def _place(header: TensorHeader) -> object:
    return header.storage, header.offset, header.shape, header.strides


def _unwrapped(name: str) -> str:
    """A name without the steps that wrappers add, such as ``_checkpoint_wrapped_module``."""
    *steps, last = name.split(".")
    return ".".join([*(step for step in steps if not step.startswith("_")), last])


def _is_below(name: str, listed: set[str]) -> bool:
    """Whether a name continues that of a parameter, as those of quantised weights do."""
    steps = _unwrapped(name).split(".")[: MOST_STEPS + 1]
    return any(".".join(steps[:length]) in listed for length in range(1, len(steps)))


def _fault(states: ModelStates, what: str, found: str, stated: str) -> Fault:
    return disagree(what, found, stated=stated, file=states.origin.file)
