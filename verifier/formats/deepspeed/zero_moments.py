"""The moments that the optimizer under ZeRO keeps: each as long as the flat partition it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from verifier.formats.deepspeed.zero_shards import ZeroShard
from verifier.formats.reading.refusal import shown
from verifier.formats.torch_files.moments import ParameterState, missing_moments, uneven_moments, unfit
from verifier.obligations.faults import Fault

Lengths = Callable[[ZeroShard, int], Sequence[int]]
"""The lengths that the moments of one flat tensor of a rank may have, in elements; none when nobody knows."""


def moment_faults(shards: Sequence[ZeroShard], lengths: Lengths) -> Iterator[Fault]:
    """CK116 for moments that are missing on some ranks, or not as long as their partition."""
    for group in range(len(shards[0].lengths)):
        held = [
            (shard, replace(state, label=f"group {group} in {shard.name}"))
            for shard in shards
            if group < len(shard.states) and (state := shard.states[group]) is not None
        ]
        if not held:
            continue
        states = [state for _, state in held]
        bare = [shard for shard in shards if not any(shard is one for one, _ in held)]
        if bare:
            yield unfit(
                f"group {group}",
                "has no optimizer state",
                stated=f"it has some in {held[0][0].name}",
                file=bare[0].name,
                count=len(bare),
            )
        yield from missing_moments(states)
        uneven = list(uneven_moments(states))
        yield from uneven
        if not uneven:
            yield from _wrong_lengths(group, held, lengths)


def _wrong_lengths(
    group: int, held: Sequence[tuple[ZeroShard, ParameterState]], lengths: Lengths
) -> Iterator[Fault]:
    wrong = []
    for shard, state in held:
        for name, header in state.moments.items():
            allowed = lengths(shard, group)
            if allowed and (len(header.shape) != 1 or header.shape[0] not in allowed):
                wrong.append((shard, name, header.shape, allowed))
    if wrong:
        shard, name, shape, allowed = wrong[0]
        yield unfit(
            f"{shown(name)} of group {group}",
            f"has shape {shape}",
            stated=f"its flat partition has {' or '.join(map(str, allowed))} elements",
            file=shard.name,
            count=len(wrong),
        )


def counted_moments(shards: Sequence[ZeroShard]) -> int:
    """How many moments the files keep."""
    return sum(len(state.moments) for shard in shards for state in shard.states if state is not None)
