"""Our maps of many DTensors beside torch's formula and torch's local tensors, rank by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from torch.distributed.device_mesh import DeviceMesh

from tests.layouts import applied
from tests.layouts.applied import shards_of
from tests.layouts.dtensor_cases import Case, kinds
from tests.layouts.torch_side import Box, as_strided_shards, box, local, mesh_of, rank_of
from verifier.layouts import Shard, StridedShard, dtensor, fsdp_over_tp

NO_BOX = "shards with elements that are not the box which the formula's shape and first offset name"
ORDER_IGNORED = (
    "shards under a shard order that are not where the formula says, which is not told of the order"
)
CONVERTED = "lists whose shard order torch's own conversion to strided placements turns into another layout"


@dataclass(slots=True)
class Run:
    """What a run has seen.

    Attributes:
        lists: placement lists compared.
        by_formula: rank shards compared with torch's formula, in shape and first offset.
        by_value: rank shards compared with torch's local tensor, element by element.
        kinds: how many lists are an example of each kind.
        differences: what differs from us, in words. Each is an error of ours or of torch.
        remarks: what torch says of its own local tensors that is not so, how often.
        examples: the first case of each remark.
    """

    lists: int = 0
    by_formula: int = 0
    by_value: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    remarks: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def remark(self, words: str, case: Case, rank: int | None = None) -> None:
        """Count a remark."""
        self.remarks[words] += 1
        self.examples.setdefault(words, str(case) if rank is None else f"{case}, rank {rank}")


def compare(cases: Iterable[Case]) -> Run:
    """Every rank of every case against torch."""
    run = Run()
    by_ranks: dict[int, list[Case]] = {}
    for case in cases:
        by_ranks.setdefault(case.ranks, []).append(case)
        run.lists += 1
        run.kinds.update(kinds(case, case.map()))
    for ranks, group in sorted(by_ranks.items()):
        expected = [shards_of(case.map()) for case in group]
        formula = [_boxes(replace(case, shard_order=None)) for case in group]
        for rank in range(ranks):
            with rank_of(ranks, rank):
                meshes = {mesh: mesh_of(mesh) for mesh in sorted({case.mesh for case in group})}
                for case, shards, boxes in zip(group, expected, formula, strict=True):
                    _compare_rank(run, case, rank, meshes[case.mesh], shards[rank], boxes[rank])
    return run


def _compare_rank(
    run: Run, case: Case, rank: int, mesh: DeviceMesh, ours: applied.Shard, ours_box: Box
) -> None:
    said = box(case, rank)
    run.by_formula += 1
    if said != ours_box:
        run.differences.append(f"{case}, rank {rank}: torch computes {said}, we {ours_box}")
    held = local(case, mesh)
    run.by_value += 1
    if held.shape != ours.shape or (held != ours).any():
        run.differences.append(f"{case}, rank {rank}: torch holds {held.tolist()}, we {ours.tolist()}")
    if not _is_box(case, held, said):
        run.remark(NO_BOX if case.shard_order is None else ORDER_IGNORED, case, rank)
    if rank == 0 and case.shard_order is not None:
        converted = shards_of(as_strided_shards(case, mesh).map())
        if any(not np.array_equal(converted[one], shard) for one, shard in shards_of(case.map()).items()):
            run.remark(CONVERTED, case)


def _boxes(case: Case) -> list[Box]:
    """What the formula should say of each rank: of an empty shard, that it begins at the end."""
    shapes = [shard.shard_shape for shard in case.map().ranks.values()]
    axes = [one.map() for one in case.on_axis]
    found = []
    for rank, shape in enumerate(shapes):
        pieces = [axis.ranks[rank].pieces for axis in axes]
        offset = [p[0].source.offset if p else extent for p, extent in zip(pieces, case.shape, strict=True)]
        found.append((shape, tuple(offset)))
    return found


def _is_box(case: Case, held: applied.Shard, said: Box) -> bool:
    """Whether a local tensor is what its shape and first offset name; one without elements is."""
    if not held.size:
        return True
    shape, offset = said
    full = np.arange(int(np.prod(case.shape))).reshape(case.shape)
    return np.array_equal(full[tuple(slice(o, o + n) for o, n in zip(offset, shape, strict=True))], held)


def fsdp_over_tp_by_placements(most: int) -> list[tuple[int, int, int]]:
    """(rows, fsdp, tp) for which FSDP2's placements over tensor parallelism are not chunks of chunks."""
    found = []
    for fsdp, tp in ((2, 2), (3, 2), (4, 2), (2, 4), (4, 4)):
        for rows in range(most + 1):
            named = dtensor((rows,), (fsdp, tp), [StridedShard(0, tp), Shard(0)])
            made = fsdp_over_tp((rows,), fsdp, tp)
            if any(not np.array_equal(a, shards_of(made)[r]) for r, a in shards_of(named).items()):
                found.append((rows, fsdp, tp))
    return found
