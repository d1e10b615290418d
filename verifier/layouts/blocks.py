"""Layouts as blocks: each axis is cut into blocks, each rank holds some of them in some order.

A shard is the product of what its rank holds along each axis, packed without gaps, row-major. Blocks are told
apart by their number, never by where they begin, so that widths may be symbolic: who holds an element is
known before any size is.

Theory: T11 (holders).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import NamedTuple

from verifier.geometry.strided import StridedView, row_major
from verifier.layouts.errors import too_large
from verifier.layouts.sizes import Size, known_empty
from verifier.model.piece import ONE, Piece, Scale
from verifier.model.shard_map import RankShard, ShardMap

NAME = "weight"
"""What a map is called that a layout makes."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """One axis.

    Attributes:
        widths: of its blocks, in elements, from the first element on.
        held: per rank, the numbers of the blocks it holds, in the order of its shard, none twice.
    """

    widths: tuple[Size, ...]
    held: Mapping[int, Sequence[int]]

    @property
    def size(self) -> Size:
        """Elements of the axis."""
        return sum(self.widths)


class Run(NamedTuple):
    """Blocks of one rank that follow each other in the parameter too, and that the same ranks hold."""

    block: int
    start: Size
    dest: Size
    width: Size


def uncut(size: Size, ranks: Sequence[int]) -> Blocks:
    """An axis that every rank holds whole."""
    return Blocks((size,), dict.fromkeys(ranks, (0,)))


def along(shape: Sequence[Size], axis: int, blocks: Blocks) -> list[Blocks]:
    """All axes of a shape of which one is cut."""
    ranks = list(blocks.held)
    return [blocks if k == axis else uncut(size, ranks) for k, size in enumerate(shape)]


def pack(axes: Sequence[Blocks], scale: Scale = ONE) -> ShardMap:
    """The map of at least one axis. Blocks that are known to be empty get no piece.

    Raises:
        BadLayout: an address of the parameter is 2**127 or more.
    """
    holders = [_holders(axis) for axis in axes]
    starts = [list(accumulate(axis.widths, initial=0)) for axis in axes]
    shape = tuple(axis.size for axis in axes)
    made: dict[tuple[tuple[int, ...], ...], RankShard] = {}
    shards: dict[int, RankShard] = {}
    with too_large("shape"):
        full = row_major(shape)
        for rank in axes[0].held:
            blocks = tuple(tuple(axis.held[rank]) for axis in axes)
            if blocks not in made:
                runs = [_runs(*known) for known in zip(axes, blocks, starts, holders, strict=True)]
                made[blocks] = _shard(runs, full, holders, scale)
            shards[rank] = made[blocks]
        return ShardMap(name=NAME, logical_shape=shape, ranks=shards)


def _shard(
    runs: Sequence[Sequence[Run]],
    full: tuple[Size, ...],
    holders: Sequence[Sequence[frozenset[int]]],
    scale: Scale,
) -> RankShard:
    """The product of what a rank holds along each axis; ``full`` are the strides of the parameter."""
    shard_shape = tuple(sum(run.width for run in along_axis) for along_axis in runs)
    strides = row_major(shard_shape)
    pieces = []
    for box in product(*runs):
        extents = tuple(run.width for run in box)
        if any(map(known_empty, extents)):
            continue
        everyone = [held[run.block] for held, run in zip(holders, box, strict=True)]
        locations = tuple(sorted(everyone[0].intersection(*everyone[1:])))
        source = sum(run.start * stride for run, stride in zip(box, full, strict=True))
        dest = sum(run.dest * stride for run, stride in zip(box, strides, strict=True))
        views = StridedView(source, extents, full), StridedView(dest, extents, strides)
        pieces.append(Piece(*views, locations, scale))
    return RankShard(shard_shape, tuple(pieces))


def _holders(axis: Blocks) -> list[frozenset[int]]:
    """The ranks that hold each block."""
    held: list[list[int]] = [[] for _ in axis.widths]
    for rank, blocks in axis.held.items():
        for block in blocks:
            held[block].append(rank)
    return [frozenset(ranks) for ranks in held]


def _runs(
    axis: Blocks, blocks: Sequence[int], starts: Sequence[Size], holders: Sequence[frozenset[int]]
) -> list[Run]:
    """Blocks of a rank in its order, those joined that follow each other and have the same holders."""
    runs: list[Run] = []
    dest: Size = 0
    previous = -2
    for block in blocks:
        width = axis.widths[block]
        if block == previous + 1 and holders[block] == holders[previous]:
            runs[-1] = runs[-1]._replace(width=runs[-1].width + width)
        else:
            runs.append(Run(block, starts[block], dest, width))
        dest = dest + width
        previous = block
    return runs
