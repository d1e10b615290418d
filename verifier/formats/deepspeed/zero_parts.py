"""Stage 3 of ZeRO: each parameter cut by itself, the parts of a rank one after another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from verifier.formats.deepspeed.model_states import PARAM_SHAPES
from verifier.formats.deepspeed.statements import Shape
from verifier.formats.deepspeed.zero_groups import undeclared
from verifier.formats.deepspeed.zero_layout import part, part_fragments
from verifier.formats.deepspeed.zero_maps import Named, Placed, fragment_subject
from verifier.formats.deepspeed.zero_shards import ZeroShard
from verifier.model.origin import Origin

MOST_PIECES = 2**21
"""Where parameters are follows from their order alone, so no map is made of more."""


def part_subjects(
    shards: Sequence[ZeroShard],
    groups: Sequence[Mapping[str, Shape]],
    ranks: int,
    named: Named,
    origin: Origin,
) -> Placed:
    """The maps of all parameters, and what is wrong with partitions; arguments as for ``group_subjects``."""
    parameters = [
        (number, name, shape) for number, group in enumerate(groups) for name, shape in group.items()
    ]
    total = sum(part(math.prod(shape), ranks) for _, _, shape in parameters)
    wrong = [shard for shard in shards if sum(shard.lengths) != total]
    placed = Placed(lambda shard, group: [] if wrong else [shard.lengths[group]])
    if wrong:
        placed.faults.append(
            undeclared(
                f"the partition of rank {wrong[0].dp_rank}",
                f"has {sum(wrong[0].lengths)} elements",
                stated=f"the parts of {len(parameters)} parameters on {ranks} ranks make it {total}",
                file=wrong[0].name,
                count=len(wrong),
            )
        )
        return placed
    if len(parameters) * ranks > MOST_PIECES:
        placed.unchecked.append(f"where {len(parameters)} parameters are on {ranks} ranks: only lengths are")
        return placed
    before = 0
    for number, name, shape in parameters:
        numel = math.prod(shape)
        here = origin.child(PARAM_SHAPES, number, name)
        fragments = part_fragments(numel, before, ranks)
        placed.subjects.append(fragment_subject(named.label(name), shape, fragments, here))
        before += part(numel, ranks)
    return placed
