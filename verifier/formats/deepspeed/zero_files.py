"""Which optimizer files of DeepSpeed belong together, and what they state differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from verifier.formats.deepspeed.zero_shards import FILE_NAME, SLICES, STAGE_3, ZeroShard, ranks_in_name
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.gathered import missing_file
from verifier.formats.torch_files.rank_agreement import disagree, first_counted
from verifier.obligations.faults import Fault


def file_faults(
    shards: Sequence[ZeroShard], mp_rank: int, refusals: Sequence[Refusal]
) -> tuple[int | None, list[Fault]]:
    """How many data-parallel ranks there are, and what is wrong with the files of one model-parallel rank.

    The number is None when they are not all there and readable, or do not agree on what they are parts of.
    ``shards`` are in the order of ranks, at least one.
    """
    base = shards[0]
    ranks = max(base.counts, default=0)
    different = [
        *_different(shards, "zero_stage", lambda shard: str(shard.stage)),
        *_different(shards, "partition_count", lambda shard: str(list(shard.counts))),
        *_different(shards, "the number of flat tensors", lambda shard: str(len(shard.lengths))),
        *_different(shards, "the type of flat tensors", lambda shard: ", ".join(shard.dtypes)),
        *_different(shards, SLICES, lambda shard: "absent" if shard.slices is None else "there"),
    ]
    # A file of another save differs in all of them.
    faults = different[:1]
    refused = {found[0] for one in refusals if (found := ranks_in_name(one.name)) and found[1] == mp_rank}
    present = {shard.dp_rank for shard in shards}
    missing = [rank for rank in range(ranks) if rank not in present | refused]
    if missing:
        faults.append(_missing(base, missing, ranks))
    extra = [shard for shard in shards if shard.dp_rank >= ranks]
    if extra:
        faults.append(
            disagree(
                "the file",
                f"is of data-parallel rank {extra[0].dp_rank}",
                stated=f"partition_count in {base.name} is {ranks}",
                file=extra[0].name,
                reason="a save with more ranks left it behind; a converter fails, or mixes two checkpoints",
                count=len(extra),
            )
        )
    return (None if faults or refused else ranks), faults


def missing_model_states(shards: Sequence[ZeroShard], ranks: int, names: Iterable[str]) -> Iterator[Fault]:
    """CK101 for model states that belong to optimizer shards: of each rank in stage 3, else one file.

    ``names`` are those of the model states that are there, readable or not.
    """
    base = shards[0]
    name = f"mp_rank_{base.mp_rank:02d}_model_states.pt"
    expected = [f"zero_pp_rank_{rank}_{name}" for rank in range(ranks)] if base.stage == STAGE_3 else [name]
    there = frozenset(names)
    missing = [one for one in expected if one not in there]
    if missing:
        yield missing_file(
            missing[0],
            len(missing),
            descriptor="the number of optimizer shards beside it",
            stated=len(shards),
        )


def missing_shards(
    base: ZeroShard, mp_ranks: Iterable[int], stated: int, refusals: Sequence[Refusal]
) -> Iterator[Fault]:
    """CK101 for model-parallel ranks whose model states lie beside those of ranks with optimizer shards.

    Args:
        base: a shard of another model-parallel rank.
        mp_ranks: those of which no shard was read.
        stated: how many model-parallel ranks have model states.
        refusals: of files that are there.
    """
    refused = {found[1] for one in refusals if (found := ranks_in_name(one.name))}
    missing = sorted(set(mp_ranks) - refused)
    if missing:
        yield missing_file(
            _renamed(base, 0, missing[0]),
            len(missing),
            descriptor="the number of model-parallel ranks with model states",
            stated=stated,
        )


def _different(shards: Sequence[ZeroShard], what: str, value: Callable[[ZeroShard], str]) -> Iterator[Fault]:
    base = shards[0]
    found = [
        disagree(what, f"is {value(shard)}", stated=f"{base.name} says {value(base)}", file=shard.name)
        for shard in shards[1:]
        if value(shard) != value(base)
    ]
    if found:
        yield first_counted(found)


def _missing(base: ZeroShard, missing: Sequence[int], ranks: int) -> Fault:
    file = _renamed(base, missing[0], base.mp_rank)
    return missing_file(file, len(missing), descriptor="partition_count", stated=ranks, rank=missing[0])


def _renamed(shard: ZeroShard, dp_rank: int, mp_rank: int) -> str:
    """The name that the file of another rank has."""
    match = FILE_NAME.fullmatch(shard.name)
    start = 0 if match is None else match.start("dp")
    return f"{shard.name[:start]}{dp_rank}_mp_rank_{mp_rank:02d}_optim_states.pt"
