"""Are blocks of b elements never split, for every size and world size? Theory: T26 (c) and (d).

A parameter is cut by a rule: ``chunk`` gives each rank ceil(n / w) elements and the last ones less, as
``torch.chunk`` and DTensor do; ``even`` gives each n / w, for sizes that w divides; ``rows`` cuts the rows of
a matrix as ``chunk`` cuts elements. With a number for w all of it is linear in n, with division and remainder
by numbers, which z3 decides. A counterexample is computed again without z3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import z3

CutRule = Literal["chunk", "even", "rows"]
MOST_WORLD = 64
RLIMIT = 20_000_000
"""z3 steps for one world size; the usual one takes some ten thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentClaim:
    """No block is split, whatever the size.

    Attributes:
        block: elements of one block.
        rule: how a parameter is cut.
        worlds: numbers of ranks, at least 2 and at most MOST_WORLD each; None for every number.
        columns: of a matrix that is cut by rows; None for every number.
        multiple: which the extent that is cut (elements, or rows) is a multiple of.
    """

    block: int
    rule: CutRule
    worlds: tuple[int, ...] | None
    columns: int | None = None
    multiple: int = 1

    @property
    def unit(self) -> int:
        """Elements at one place of the extent. Every number of columns is right iff one column is."""
        return 1 if self.rule != "rows" or self.columns is None else self.columns


@dataclass(frozen=True, slots=True)
class Aligned:
    """The claim is true; ``reason`` says what was shown."""

    reason: str


@dataclass(frozen=True, slots=True)
class Split:
    """A parameter with a block on two ranks: the cut before element ``cut`` goes through it.

    ``smallest`` says that no smaller one is wrong.
    """

    extent: int
    world: int
    cut: int
    block: int
    smallest: bool = True


@dataclass(frozen=True, slots=True)
class Unclear:
    """Neither was shown."""

    reason: str


def decide_alignment(claim: AlignmentClaim, *, rlimit: int = RLIMIT) -> Aligned | Split | Unclear:
    """Whether the claim holds for every size.

    Raises:
        ValueError: a number of the claim is out of its range.
    """
    if min(claim.block, claim.multiple, claim.unit) < 1:
        raise ValueError(f"blocks, multiples and columns are at least 1: {claim}")
    if claim.unit % claim.block == 0:
        return Aligned(f"every cut is at a multiple of {claim.unit} elements, whole blocks of {claim.block}")
    if claim.worlds is not None:
        return _of_worlds(claim, claim.worlds, rlimit)
    found = _of_worlds(claim, range(2, MOST_WORLD + 1), rlimit)
    if isinstance(found, Split):
        return found
    return Unclear(
        f"no counterexample with up to {MOST_WORLD} ranks; for every number of ranks sizes are products of "
        "unknowns, which no method here decides"
    )


def _of_worlds(claim: AlignmentClaim, worlds: Iterable[int], rlimit: int) -> Aligned | Split | Unclear:
    best: Split | None = None
    undecided: list[int] = []
    listed = list(worlds)
    for world in listed:
        if not 2 <= world <= MOST_WORLD:
            raise ValueError(f"a world of {world} ranks; from 2 to {MOST_WORLD} are decided")
        found = _smallest(claim, world, None if best is None else best.extent, rlimit)
        if isinstance(found, Split):
            best = found
            if best.extent == claim.multiple:
                break  # nothing is smaller
        elif found is None:
            undecided.append(world)
    if best is not None:
        return replace(best, smallest=best.smallest and not undecided)
    if undecided:
        return Unclear(f"z3 gave up on {undecided[0]} ranks")
    return Aligned(f"no size has a split block, for {len(listed)} numbers of ranks from {listed[0]} on")


def _smallest(
    claim: AlignmentClaim, world: int, below: int | None, rlimit: int
) -> Split | Literal["none"] | None:
    """The smallest parameter with a split block, below an extent; None where z3 gives up on all of them."""
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", rlimit)
    times = z3.Int("times", context)
    extent = claim.multiple * times
    solver.add(times >= 1, _splits(claim, world, extent))
    if below is not None:
        solver.add(extent < below)
    answer = solver.check()
    if answer != z3.sat:
        return "none" if answer == z3.unsat else None
    high, low, answer = solver.model()[times].as_long(), 1, z3.unsat
    while low < high and answer != z3.unknown:
        middle = (low + high) // 2
        solver.push()
        solver.add(times <= middle)
        answer = solver.check()
        if answer == z3.sat:
            high = solver.model()[times].as_long()
        elif answer == z3.unsat:
            low = middle + 1
        solver.pop()
    return replace(_recounted(claim, world, claim.multiple * high), smallest=low == high)


def _splits(claim: AlignmentClaim, world: int, extent: Any) -> Any:
    """The formula: some cut between two ranks with elements is no multiple of the block."""
    part = extent / world if claim.rule == "even" else (extent + (world - 1)) / world
    cuts = [z3.And(k * part < extent, (k * part * claim.unit) % claim.block != 0) for k in range(1, world)]
    fits = [extent % world == 0] if claim.rule == "even" else []
    return z3.And(*fits, z3.Or(*cuts))


def _recounted(claim: AlignmentClaim, world: int, extent: int) -> Split:
    """The first cut through a block, by arithmetic.

    Raises:
        RuntimeError: there is none, so z3 was wrong.
    """
    part = -(-extent // world)
    for k in range(1, world):
        cut = k * part * claim.unit
        if k * part < extent and cut % claim.block:
            return Split(extent, world, cut, cut // claim.block)
    raise RuntimeError(f"z3 says that {extent} over {world} ranks splits a block, and it does not: {claim}")
