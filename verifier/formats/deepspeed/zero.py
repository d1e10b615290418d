"""ZeRO optimizer shards: where every parameter is in the flat partitions of the data-parallel ranks.

The file of a rank states how long its partition is and, in stages 1 and 2, which slice of which parameter is
where in it. Nothing states which part of a parameter a slice is: that follows from the order of ranks. The
model states give the shapes, in the order of the buffer; from them the place of everything can be computed
(``zero_layout``), and what the files state is held against it.

Under tensor parallelism all of it is about the shards of one tensor-parallel rank. That these make up the
parameter is what the affine map proves, and that ``param_shapes`` are its shapes is checked beside it: both
proofs together are the whole way from optimizer state to parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from verifier.formats.deepspeed.model_states import PARAM_SHAPES, ModelStates
from verifier.formats.deepspeed.statement_faults import (
    other_ranks,
    other_steps,
    statement_faults,
    unlisted_names,
)
from verifier.formats.deepspeed.zero_files import file_faults, missing_model_states, missing_shards
from verifier.formats.deepspeed.zero_groups import group_subjects
from verifier.formats.deepspeed.zero_maps import Named
from verifier.formats.deepspeed.zero_moments import counted_moments, moment_faults
from verifier.formats.deepspeed.zero_parts import part_subjects
from verifier.formats.deepspeed.zero_shards import STAGE_3, ZeroShard
from verifier.formats.reading.document import Document, Refusal, Subject
from verifier.formats.reading.refusal import some
from verifier.formats.torch_files.rank_agreement import disagree
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault


@dataclass(slots=True)
class ZeroPart:
    """What the optimizer shards add to the document of a checkpoint."""

    subjects: list[Subject] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    remarks: list[Fault] = field(default_factory=list)
    checks: dict[str, int] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)


def zero_part(
    shards: Sequence[ZeroShard],
    files: Sequence[ModelStates],
    refusals: Sequence[Refusal],
    *,
    mapped: frozenset[str],
) -> ZeroPart:
    """The optimizer shards of a checkpoint.

    Args:
        shards: the files that could be read.
        files: the model states, in the order of ranks: one for each model-parallel rank, in stage 3 one for
            each data-parallel rank too.
        refusals: the files of the checkpoint that could not be read.
        mapped: names of parameters that have an affine map.
    """
    made = ZeroPart(faults=list(other_steps(files)))
    states: dict[int, list[ModelStates]] = {}
    for one in files:
        states.setdefault(_mp_rank(one), []).append(one)
    by_rank: dict[int, list[ZeroShard]] = {}
    for shard in sorted(shards, key=lambda shard: shard.dp_rank):
        by_rank.setdefault(shard.mp_rank, []).append(shard)
    several = len(by_rank) > 1
    for mp_rank, mine in sorted(by_rank.items()):
        named = Named(mapped, mp_rank if several else None)
        _one_mp_rank(mine, states.get(mp_rank, []), refusals, named, made)
    if shards:
        bare = states.keys() - by_rank.keys()
        made.faults.extend(missing_shards(shards[0], bare, len(states), refusals))
        for mp_rank in sorted(bare):
            made.unchecked.append(f"the optimizer shards of model-parallel rank {mp_rank}: none can be read")
    if several and not mapped:
        made.unchecked.append(
            f"how {len(by_rank)} model-parallel ranks make up each parameter: no affine map says it"
        )
    return made


def shard_document(shard: ZeroShard, origin: Origin) -> Document:
    """The document of one optimizer file by itself: only its moments can be held against its partition."""
    faults = list(moment_faults([shard], lambda one, group: [one.lengths[group], *_whole(one, group)]))
    moments = counted_moments([shard])
    return Document(
        file=origin.file,
        kind="deepspeed",
        faults=tuple(faults),
        checks={"moments": moments} if moments and not faults else {},
        unchecked=(
            "the files of other ranks: one file was named, not its directory",
            "where parameters are in its partitions: the model states are not read",
        ),
    )


def _whole(shard: ZeroShard, group: int) -> list[int]:
    """The length of a partition with its padding, where the file states that."""
    stated = (shard.paddings or ())[group : group + 1]
    return [shard.lengths[group] + padding for padding in stated]


def _one_mp_rank(
    shards: Sequence[ZeroShard],
    states: Sequence[ModelStates],
    refusals: Sequence[Refusal],
    named: Named,
    made: ZeroPart,
) -> None:
    """What the shards of one model-parallel rank come to, added to ``made``."""
    mp_rank = shards[0].mp_rank
    which = f"the optimizer shards of model-parallel rank {mp_rank}"
    ranks, faults = file_faults(shards, mp_rank, refusals)
    made.faults.extend(faults)
    if ranks is not None:
        names = [*(PurePosixPath(one.origin.file).name for one in states), *(one.name for one in refusals)]
        made.faults.extend(missing_model_states(shards, ranks, names))
    made.faults.extend(statement_faults(states, ranks))
    for one in states:
        unlisted = unlisted_names(one, shards[0].stage)
        made.faults.extend(unlisted.faults)
        made.remarks.extend(unlisted.remarks)
        made.unchecked.extend(unlisted.notes)
    if any(shard.has_experts for shard in shards):
        made.unchecked.append(f"{which}: their partitions are of groups of experts")
    elif ranks is None:
        made.unchecked.append(f"where parameters are in {which}: not all files are there, readable and agree")
    elif not states or states[0].groups is None:
        made.unchecked.append(f"where parameters are in {which}: no {PARAM_SHAPES} can be read for them")
    else:
        made.faults.extend((*_other_shapes(states), *other_ranks(states, shards[0], ranks)))
        _layout(shards, states[0], ranks, named, made)


def _mp_rank(states: ModelStates) -> int:
    return states.partition[1] if states.partition is not None else states.rank or 0


def _other_shapes(states: Sequence[ModelStates]) -> Iterator[Fault]:
    """Model states of several data-parallel ranks describe the same parameters, in the same order."""
    base = states[0]
    ours = [list(group.items()) for group in base.groups or ()]
    differing = [one for one in states if [list(group.items()) for group in one.groups or ()] != ours]
    if differing:
        yield disagree(
            PARAM_SHAPES,
            "lists other parameters",
            stated=f"{base.origin.file} lists {sum(map(len, ours))}",
            file=differing[0].origin.file,
            count=len(differing),
        )


def _layout(
    shards: Sequence[ZeroShard], states: ModelStates, ranks: int, named: Named, made: ZeroPart
) -> None:
    groups = states.groups or ()
    if states.frozen:
        made.unchecked.append(f"frozen parameters, which have no optimizer state: {some(states.frozen)}")
    base = shards[0]
    if base.stage == STAGE_3:
        found = part_subjects(shards, groups, ranks, named, states.origin)
    elif len(groups) != len(base.lengths):
        made.faults.append(
            disagree(
                PARAM_SHAPES,
                f"has {len(groups)} parameter groups",
                stated=f"{base.name} has {len(base.lengths)}",
                file=states.origin.file,
            )
        )
        return
    else:
        found = group_subjects(shards, groups, ranks, named, states.origin)
    unfit = list(moment_faults(shards, found.lengths))
    made.subjects.extend(found.subjects)
    made.faults.extend((*found.faults, *unfit))
    made.unchecked.extend(found.unchecked)
    partitions = sum(len(shard.lengths) for shard in shards)
    counts = {
        "optimizer shard files": len(shards),
        "flat partitions": 0 if found.faults else partitions,
        "moments": 0 if unfit else counted_moments(shards),
    }
    for what, count in counts.items():
        if count:
            made.checks[what] = made.checks.get(what, 0) + count
