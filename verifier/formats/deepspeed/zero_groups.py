"""Stages 1 and 2 of ZeRO: parameter groups as flat buffers, cut into equal partitions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from verifier.formats.deepspeed.model_states import PARAM_SHAPES
from verifier.formats.deepspeed.statements import Shape
from verifier.formats.deepspeed.zero_layout import FlatBuffer, Fragment, flat_buffers
from verifier.formats.deepspeed.zero_maps import Named, Placed, fragment_subject
from verifier.formats.deepspeed.zero_shards import SLICES, ZeroShard
from verifier.formats.reading.disagreements import disagreement
from verifier.formats.reading.refusal import shown
from verifier.formats.torch_files.rank_agreement import disagree
from verifier.model.origin import Origin
from verifier.obligations.faults import Count, Fault, Value

GAPS = "param_alignment_paddings"

Group = Mapping[str, Shape]


def group_subjects(
    shards: Sequence[ZeroShard], groups: Sequence[Group], ranks: int, named: Named, origin: Origin
) -> Placed:
    """The maps of all parameters, and what is wrong with the partitions.

    Args:
        shards: of all ``ranks``, in their order, with one flat tensor for each group.
        groups: the parameters of each group with their shapes, in the order of its buffer.
        ranks: how many partitions a group has that is no group of experts.
        named: how the maps are called.
        origin: the model states.
    """
    buffers: dict[int, FlatBuffer] = {}

    def lengths(shard: ZeroShard, group: int) -> Sequence[int]:
        return buffers[group].lengths(shard.dp_rank) if group in buffers else []

    placed = Placed(lengths)
    for number, group in enumerate(groups):
        if any(number >= len(shard.counts) or shard.counts[number] != ranks for shard in shards):
            placed.unchecked.append(
                f"group {number} of the optimizer: its partitions are not one on each rank"
            )
            continue
        gaps, faults = _gaps(shards, number, len(group))
        buffer, wrong = _buffer(shards, number, group, gaps)
        placed.faults.extend((*faults, *wrong))
        if buffer is None or faults:
            continue
        buffers[number] = buffer
        placed.faults.extend((*_paddings(shards, number, buffer), *_strangers(shards, number, group)))
        for position, (name, shape) in enumerate(group.items()):
            stated = _stated(shards, number, name)
            implied = dict(buffer.fragments(position))
            here = origin.child(PARAM_SHAPES, number, name)
            found = [] if stated is None else list(_differences(stated, implied, math.prod(shape)))
            places = implied if stated is None else stated
            placed.subjects.append(fragment_subject(named.label(name), shape, places.items(), here, found))
    return placed


def _gaps(shards: Sequence[ZeroShard], number: int, parameters: int) -> tuple[Sequence[int], list[Fault]]:
    """The padding behind each parameter of a group, which all files state alike; nothing when none does."""
    base = shards[0]
    stated = [() if shard.gaps is None else shard.gaps[number : number + 1] for shard in shards]
    for shard, theirs in zip(shards, stated, strict=True):
        if theirs != stated[0]:
            return [0] * parameters, [
                disagree(
                    f"{GAPS} of group {number}",
                    "differs",
                    stated=f"{base.name} states another",
                    file=shard.name,
                )
            ]
    gaps = stated[0][0] if stated[0] else (0,) * parameters
    if len(gaps) != parameters:
        return [0] * parameters, [
            undeclared(
                f"{GAPS} of group {number}",
                f"has {len(gaps)} numbers",
                stated=f"{PARAM_SHAPES} has {parameters} parameters",
                file=base.name,
            )
        ]
    return gaps, []


def _buffer(
    shards: Sequence[ZeroShard], number: int, group: Group, gaps: Sequence[int]
) -> tuple[FlatBuffer | None, list[Fault]]:
    """The buffer that the partitions of all ranks are as long as; with a fault when there is none."""
    numels = [math.prod(shape) for shape in group.values()]
    candidates = flat_buffers(numels, gaps, len(shards))
    for buffer in candidates:
        if all(shard.lengths[number] in buffer.lengths(shard.dp_rank) for shard in shards):
            return buffer, []
    first = candidates[0]
    wrong = [shard for shard in shards if shard.lengths[number] not in first.lengths(shard.dp_rank)]
    allowed = " or ".join(map(str, first.lengths(wrong[0].dp_rank)))
    return None, [
        undeclared(
            f"the partition of rank {wrong[0].dp_rank} in group {number}",
            f"has {wrong[0].lengths[number]} elements",
            stated=f"{first.end} elements with their paddings on {len(shards)} ranks make it {allowed}",
            file=wrong[0].name,
            count=len(wrong),
        )
    ]


def _paddings(shards: Sequence[ZeroShard], number: int, buffer: FlatBuffer) -> Iterator[Fault]:
    wrong = [
        (shard, shard.paddings[number])
        for shard in shards
        if shard.paddings is not None
        and number < len(shard.paddings)
        and shard.paddings[number] not in buffer.paddings(shard.dp_rank)
    ]
    if wrong:
        shard, stated = wrong[0]
        right = " or ".join(map(str, buffer.paddings(shard.dp_rank)))
        yield undeclared(
            f"group_paddings of group {number}",
            f"is {stated}",
            stated=f"the buffer has {right} elements of padding on rank {shard.dp_rank}",
            file=shard.name,
            count=len(wrong),
        )


def _strangers(shards: Sequence[ZeroShard], number: int, group: Group) -> Iterator[Fault]:
    """Slices of parameters that the group does not have."""
    strange = [
        (shard, name)
        for shard in shards
        if shard.slices is not None and number < len(shard.slices)
        for name in shard.slices[number]
        if name not in group
    ]
    if strange:
        shard, name = strange[0]
        yield disagree(
            shown(name),
            f"is in {SLICES} of group {number}",
            stated=f"{PARAM_SHAPES} has no such parameter in this group",
            file=shard.name,
            count=len(strange),
        )


def _stated(shards: Sequence[ZeroShard], number: int, name: str) -> dict[int, Fragment] | None:
    """The fragments of a parameter by the slices that the files state; None when one of them states none.

    Which part of the parameter a slice is follows from the slices of the ranks before.
    """
    fragments: dict[int, Fragment] = {}
    before = 0
    for shard in shards:
        if shard.slices is None or number >= len(shard.slices):
            return None
        one = shard.slices[number].get(name)
        if one is not None and one.numel:
            fragments[shard.dp_rank] = (before, one.start, one.numel)
            before += one.numel
    return fragments


def _differences(
    stated: Mapping[int, Fragment], implied: Mapping[int, Fragment], numel: int
) -> Iterator[Fault]:
    """Where slices are not what shapes and order make them: the first one.

    Slices that are too few or too many elements are no parameter: the map itself shows that.
    """
    if sum(length for _, _, length in stated.values()) != numel:
        return
    for rank in sorted(stated.keys() | implied.keys()):
        _, *ours = stated.get(rank, (0, 0, 0))
        _, *theirs = implied.get(rank, (0, 0, 0))
        if ours != theirs:
            yield disagreement(
                f"the order of {PARAM_SHAPES}, for start and length on rank {rank},",
                stated=tuple(theirs),
                found=tuple(ours),
            )
            return


def undeclared(what: str, found: str, *, count: int = 1, **more: Value) -> Fault:
    """CK117: padding that is not where the format puts it; ``count`` is of partitions with this fault."""
    counted = Count(count, exact=True) if count > 1 else None
    return Fault(code="CK117", side="map", count=counted, values={"what": what, "found": found, **more})
