"""A map that was taken from real code, and how it compares with one that was declared. Free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import Scale
from verifier.model.shard_map import RankShard, ShardMap
from verifier.oracle.lift_blocks import Integers, addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """What a function does, as a map.

    Attributes:
        shard_map: the map; ``locations`` are all ranks that were seen to hold the elements.
        padding: per rank, views of its shard that share no address: cells that hold a constant.
        unwritten: per rank, how many cells nobody wrote; ranks without such cells are left out. They are not
            padding: nobody knows what they hold.
        unheld: how many elements of the parameter no rank holds.
        notes: what a reader should know, one sentence each.
        dtypes: of the tensors for which the function is known to do this, e.g. "torch.int64".
        probe: how it was found out, e.g. "torch.bfloat16, 3 digit passes".
    """

    shard_map: ShardMap
    padding: Mapping[int, tuple[StridedView, ...]]
    unwritten: Mapping[int, int]
    unheld: int
    notes: tuple[str, ...]
    dtypes: tuple[str, ...]
    probe: str

    def expectation(self) -> Expectation:
        """What to demand of the map: soundness, with the padding declared as holes."""
        holes = {
            rank: tuple(int(cell) for view in views for cell in addresses(view))
            for rank, views in self.padding.items()
        }
        return Expectation(holes={rank: cells for rank, cells in holes.items() if cells})


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a declared map is not what the code does.

    Attributes:
        rank: whose shard, None when the parameters differ.
        cell: the least shard address that differs, None when whole shards cannot be compared.
        count: how many cells of the rank differ.
        lifted: what the code does there, a noun phrase.
        declared: what the map says.
    """

    rank: int | None
    cell: int | None
    count: int
    lifted: str
    declared: str

    def __str__(self) -> str:
        if self.rank is None:
            return f"the code has {self.lifted}, the map {self.declared}"
        place = f"rank {self.rank}" if self.cell is None else f"rank {self.rank}, shard address {self.cell}"
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        return f"{place}: the code has {self.lifted}, the map {self.declared}{more}"


def compare_lifted(lifted: Lifted, declared: ShardMap) -> tuple[Difference, ...]:
    """Cell by cell, at most one difference a rank; empty when the map does what the code does.

    Locations are not compared; they follow, and the checks of each map speak of them.
    """
    found = lifted.shard_map
    if found.logical_shape != declared.logical_shape:
        shapes = f"a parameter of {found.logical_shape}", f"one of {declared.logical_shape}"
        return (Difference(None, None, 0, *shapes),)
    if found.ranks.keys() != declared.ranks.keys():
        return (Difference(None, None, 0, f"ranks {[*found.ranks]}", f"ranks {[*declared.ranks]}"),)
    pairs = [(rank, shard, declared.ranks[rank]) for rank, shard in found.ranks.items()]
    differences = [_difference(rank, ours, theirs) for rank, ours, theirs in pairs]
    return tuple([one for one in differences if one is not None])


def _difference(rank: int, found: RankShard, declared: RankShard) -> Difference | None:
    if found.shard_shape != declared.shard_shape:
        shapes = f"a shard of {found.shard_shape}", f"one of {declared.shard_shape}"
        return Difference(rank, None, found.numel, *shapes)
    scales: dict[Scale, int] = {}
    ours, our_scales = _contents(found, scales)
    theirs, their_scales = _contents(declared, scales)
    wrong = np.flatnonzero((ours != theirs) | (our_scales != their_scales))
    outside = _outside(declared)
    if outside is not None:
        return Difference(rank, None, len(wrong), f"{found.numel} cells", f"writes shard address {outside}")
    if not len(wrong):
        return None
    cell = int(wrong[0])
    names = list(scales)
    words = [
        words_of(int(content[cell]), names[int(scale[cell])] if content[cell] >= 0 else 1)
        for content, scale in ((ours, our_scales), (theirs, their_scales))
    ]
    return Difference(rank, cell, len(wrong), *words)


def _contents(shard: RankShard, scales: dict[Scale, int]) -> tuple[Integers, Integers]:
    """For each cell its element, -1 for none, and the number of its scale; later pieces overwrite."""
    source = np.full(shard.numel, -1, dtype=np.int64)
    scale = np.full(shard.numel, -1, dtype=np.int64)
    for piece in shard.pieces:
        cells, elements = addresses(piece.dest), addresses(piece.source)
        inside = (cells >= 0) & (cells < shard.numel)
        source[cells[inside]] = elements[inside]
        scale[cells[inside]] = scales.setdefault(piece.scale, len(scales))
    return source, scale


def _outside(shard: RankShard) -> int | None:
    """An address outside of the shard that a piece writes."""
    for piece in shard.pieces:
        cells = addresses(piece.dest)
        wrong = cells[(cells < 0) | (cells >= shard.numel)]
        if len(wrong):
            return int(wrong[0])
    return None


def words_of(element: int, scale: Scale) -> str:
    """An element and its scale, as a noun phrase; a negative element is none."""
    if element < 0:
        return "no element"
    return f"element {element}" if scale == 1 else f"element {element} times {scale}"
