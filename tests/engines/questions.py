"""Random questions, about half of them true, small enough to list.

A question starts from blocks whose truth is known: a whole range, or arbitrary views with the rest filled
in. The blocks are then recut and rewritten in ways that keep every visit (cut, factor, merge, flip, permute,
axes of extent 1), which gives true questions that do not look it. A wrong one is a true one with a single
number changed. The generators take a ``random.Random``; the strategies only hand one to them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from verifier.geometry.strided import StridedView
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

MOST = 48
"""Most addresses of one block or range."""

WRONG = 0.7
"""Share of the questions that get a wrong number. Some wrong numbers change nothing: half stay true."""


@dataclass(frozen=True, slots=True)
class Block:
    """Points in one address space, or pairs of points in two: an extent and one stride a space per axis."""

    offsets: tuple[int, ...]
    axes: tuple[tuple[int, tuple[int, ...]], ...]

    def view(self, space: int = 0) -> StridedView:
        return StridedView(
            self.offsets[space],
            tuple(extent for extent, _ in self.axes),
            tuple(strides[space] for _, strides in self.axes),
        )

    def pair(self) -> PairView:
        return PairView(self.view(0), self.view(1))

    def points(self) -> list[tuple[int, ...]]:
        """All visits: one address in each space."""
        views = [self.view(space) for space in range(len(self.offsets))]
        indices = itertools.product(*(range(extent) for extent, _ in self.axes))
        return [tuple(view.address(index) for view in views) for index in indices]


def run(low: int, high: int) -> Block:
    """The addresses low <= a < high."""
    return Block((low,), ((high - low, (1,)),))


# Rewriting: every visit is kept.


def cut(rng: random.Random, block: Block) -> list[Block]:
    """The block in two along one axis; a cut at an end leaves an empty block behind."""
    if not block.axes:
        return [block]
    k = rng.randrange(len(block.axes))
    extent, strides = block.axes[k]
    at = rng.randint(0, extent)
    moved = tuple(offset + at * stride for offset, stride in zip(block.offsets, strides, strict=True))
    return [
        _with_axis(block, k, [(at, strides)]),
        replace(_with_axis(block, k, [(extent - at, strides)]), offsets=moved),
    ]


def factor(rng: random.Random, block: Block) -> Block:
    """One axis of extent ``inner * outer`` as two, where it has a divisor."""
    choices = [
        (k, inner)
        for k, (extent, _) in enumerate(block.axes)
        for inner in range(2, extent)
        if extent % inner == 0
    ]
    if not choices or len(block.axes) >= 5:
        return block
    k, inner = rng.choice(choices)
    extent, strides = block.axes[k]
    outer = tuple(stride * inner for stride in strides)
    return _with_axis(block, k, [(extent // inner, outer), (inner, strides)])


def merge(block: Block) -> Block:
    """Neighbouring axes joined wherever the outer one continues the inner one."""
    axes: list[tuple[int, tuple[int, ...]]] = []
    for extent, strides in block.axes:
        if axes and axes[-1][1] == tuple(stride * extent for stride in strides):
            axes[-1] = (axes[-1][0] * extent, strides)
        else:
            axes.append((extent, strides))
    return replace(block, axes=tuple(axes))


def flip(rng: random.Random, block: Block) -> Block:
    """One axis walked backwards."""
    candidates = [k for k, (extent, _) in enumerate(block.axes) if extent > 0]
    if not candidates:
        return block
    k = rng.choice(candidates)
    extent, strides = block.axes[k]
    moved = tuple(o + (extent - 1) * s for o, s in zip(block.offsets, strides, strict=True))
    return replace(_with_axis(block, k, [(extent, tuple(-s for s in strides))]), offsets=moved)


def rewritten(rng: random.Random, block: Block) -> Block:
    """The same visits, written otherwise."""
    if rng.random() < 0.3:
        block = merge(block)
    if rng.random() < 0.3:
        block = flip(rng, block)
    axes = list(block.axes)
    if len(axes) < 5 and rng.random() < 0.2:
        stray = tuple(rng.randint(-9, 9) for _ in block.offsets)
        axes.insert(rng.randint(0, len(axes)), (1, stray))
    if rng.random() < 0.5:
        rng.shuffle(axes)
    return replace(block, axes=tuple(axes))


def recut(rng: random.Random, blocks: Iterable[Block], steps: int = 6) -> list[Block]:
    """The same visits, cut otherwise."""
    pieces = list(blocks)
    for _ in range(rng.randint(0, steps) if pieces else 0):
        k = rng.randrange(len(pieces))
        pieces[k] = factor(rng, pieces[k])
        pieces[k : k + 1] = cut(rng, pieces[k]) if rng.random() < 0.7 else [pieces[k]]
    rng.shuffle(pieces)
    return [rewritten(rng, piece) for piece in pieces]


def _with_axis(block: Block, k: int, axes: Sequence[tuple[int, tuple[int, ...]]]) -> Block:
    return replace(block, axes=block.axes[:k] + tuple(axes) + block.axes[k + 1 :])


# Arbitrary blocks, and one wrong number.


def arbitrary(rng: random.Random, spaces: int = 1) -> Block:
    """Up to 5 axes of one family of strides in each space; now and then empty or a point."""
    extents: list[int] = []
    numel = 1
    for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5))):
        extent = rng.choice((1, 2, 2, 3, 3, 4, 5, 7))
        extents.append(extent if numel * extent <= MOST else 1)
        numel *= extents[-1]
    if extents and rng.random() < 0.06:
        extents[rng.randrange(len(extents))] = 0
    columns = [rng.choice((chain, coprime, wrap, loose))(rng, extents) for _ in range(spaces)]
    axes = tuple(zip(extents, zip(*columns, strict=True), strict=True)) if extents else ()
    return Block(tuple(rng.randint(-3, 9) for _ in range(spaces)), axes)


def chain(rng: random.Random, extents: Sequence[int]) -> list[int]:
    """Strides of which each divides the next, with or without room between."""
    strides, stride = [], rng.choice((1, 1, 1, 2, 3))
    for extent in extents:
        strides.append(stride)
        stride *= rng.choice((max(extent, 1), max(extent, 1), extent + 1, 2))
    return strides


def coprime(rng: random.Random, extents: Sequence[int]) -> list[int]:
    """Small primes in any order."""
    return rng.sample((2, 3, 5, 7, 11), len(extents))


def wrap(rng: random.Random, extents: Sequence[int]) -> list[int]:
    """Strides about the width of a row, so that blocks run over its end."""
    width = rng.randint(2, 9)
    return [rng.choice((1, width - 1, width, width, width + 1)) for _ in extents]


def loose(rng: random.Random, extents: Sequence[int]) -> list[int]:
    """Any small strides, 0 and negative ones too."""
    return [rng.randint(-6, 9) for _ in extents]


def with_wrong_number(rng: random.Random, blocks: Sequence[Block]) -> list[Block]:
    """The blocks with one offset, extent or stride changed."""
    changed = list(blocks)
    if not changed:
        return changed
    k = rng.randrange(len(changed))
    block = changed[k]
    change = rng.choice((-2, -1, 1, 2, 3))
    space = rng.randrange(len(block.offsets))
    axis = rng.randrange(len(block.axes)) if block.axes else None
    if axis is None or rng.random() < 0.4:
        offsets = list(block.offsets)
        offsets[space] += change
        changed[k] = replace(block, offsets=tuple(offsets))
        return changed
    extent, strides = block.axes[axis]
    if rng.random() < 0.5:
        changed[k] = _with_axis(block, axis, [(max(0, extent + change), strides)])
    else:
        stride_list = list(strides)
        stride_list[space] += change
        changed[k] = _with_axis(block, axis, [(extent, tuple(stride_list))])
    return changed


# Questions.


def filled(rng: random.Random, low: int, high: int) -> list[Block]:
    """Blocks that visit low <= a < high once each: arbitrary ones that fit, and runs for what they leave."""
    free = set(range(low, high))
    blocks: list[Block] = []
    for _ in range(rng.randint(0, 6)):
        block = arbitrary(rng)
        if not block.view().is_empty:
            shift = rng.randint(low, max(low, high - 1)) - block.view().lowest
            block = replace(block, offsets=(block.offsets[0] + shift,))
        addresses = [address for (address,) in block.points()]
        if len(set(addresses)) == len(addresses) and free.issuperset(addresses):
            blocks.append(block)
            free.difference_update(addresses)
    start = low
    for address in range(low, high + 1):
        if address not in free:
            if start < address:
                blocks.append(run(start, address))
            start = address + 1
    return blocks


def tiles(rng: random.Random, low: int, high: int) -> list[Block]:
    """Blocks that visit low <= a < high once each: a recut run, or arbitrary blocks filled up."""
    if rng.random() < 0.5:
        return recut(rng, filled(rng, low, high), steps=3)
    return recut(rng, [run(low, high)], steps=10)


def tiling(rng: random.Random) -> Tiling:
    size = rng.choice((0, 1, 6, 12, 16, 24, 30, 36, 48, rng.randint(1, MOST)))
    if rng.random() < 0.1:
        blocks = [arbitrary(rng) for _ in range(rng.randint(0, 4))]
    else:
        blocks = tiles(rng, 0, size)
        if rng.random() < WRONG:
            if rng.random() < 0.1:
                return Tiling(size + rng.choice((-1, 1)) if size else 1, _views(blocks))
            blocks = with_wrong_number(rng, blocks)
    return Tiling(size, _views(blocks))


def packing(rng: random.Random) -> Packing:
    size = rng.choice((0, 1, 12, 16, 24, 36, rng.randint(1, MOST)))
    if rng.random() < 0.1:
        blocks = [arbitrary(rng) for _ in range(rng.randint(0, 4))]
    else:
        blocks = [block for block in tiles(rng, 0, size) if rng.random() < 0.9]
        if rng.random() < WRONG + 0.15:
            blocks = with_wrong_number(rng, blocks)
    return Packing(size, _views(blocks))


def same_addresses(rng: random.Random) -> SameAddresses:
    left, right = _sides(rng, spaces=1)
    return SameAddresses(_views(left), _views(right))


def same_pairs(rng: random.Random) -> SamePairs:
    left, right = _sides(rng, spaces=2)
    return SamePairs(tuple(block.pair() for block in left), tuple(block.pair() for block in right))


def unit_boundaries(rng: random.Random) -> UnitBoundaries:
    """Blocks that are a set within 0..size, as the question demands."""
    unit = rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 16))
    size = rng.randint(0, MOST)
    multiples = [*range(0, size, unit), size]
    marks = sorted(rng.sample(multiples, min(len(multiples), rng.randint(1, 7))))
    if rng.random() < WRONG:
        marks = sorted({rng.randint(0, size) if rng.random() < 0.6 else mark for mark in marks})
    blocks: list[Block] = []
    for low, high in itertools.pairwise(marks):
        if rng.random() < 0.8:
            blocks += tiles(rng, low, high)
    return UnitBoundaries(size, unit, _views(blocks))


def _sides(rng: random.Random, spaces: int) -> tuple[list[Block], list[Block]]:
    """Two ways to cut the same arbitrary blocks, one of them with a wrong number now and then."""
    if spaces == 1 and rng.random() < 0.4:
        size = rng.randint(0, MOST)
        left, right = tiles(rng, 0, size), tiles(rng, 0, size)
    else:
        blocks = [arbitrary(rng, spaces) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
        left, right = recut(rng, blocks), recut(rng, blocks)
    if rng.random() < WRONG + 0.15:
        left = with_wrong_number(rng, left)
    return (left, right) if rng.random() < 0.5 else (right, left)


def _views(blocks: Iterable[Block]) -> tuple[StridedView, ...]:
    return tuple(block.view() for block in blocks)


GENERATORS: dict[str, Callable[[random.Random], Question]] = {
    "tiling": tiling,
    "packing": packing,
    "same-addresses": same_addresses,
    "same-pairs": same_pairs,
    "unit-boundaries": unit_boundaries,
}
"""One generator per type of question."""


def strategy(kind: str) -> st.SearchStrategy[Question]:
    """Questions of one type for hypothesis, which then also shrinks them."""
    return st.randoms(use_true_random=False).map(GENERATORS[kind])


def questions() -> st.SearchStrategy[Question]:
    """Questions of every type."""
    return st.one_of(*(strategy(kind) for kind in GENERATORS))
