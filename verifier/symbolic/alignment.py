"""Are blocks of b elements never split, for every size and world size? Theory: T26 (c) and (d), T29.

A parameter is cut by a rule: ``chunk`` gives each rank ceil(n / w) elements and the last ones less, as
``torch.chunk`` and DTensor do; ``even`` gives each n / w, for sizes that w divides; ``rows`` cuts the rows of
a matrix as ``chunk`` cuts elements. Which claims hold is arithmetic on the numbers of the claim, and so is
the smallest parameter that is wrong; tests ask z3 the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

CutRule = Literal["chunk", "even", "rows"]
MOST_WORLD = 65_536
"""Of the numbers of ranks that are listed; every number at once is another claim."""


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

    No smaller parameter is wrong over any of the numbers of ranks that were asked about.
    """

    extent: int
    world: int
    cut: int
    block: int


def decide_alignment(claim: AlignmentClaim) -> Aligned | Split:
    """Whether the claim holds for every size.

    Raises:
        ValueError: a number of the claim is out of its range.
    """
    if min(claim.block, claim.multiple, claim.unit) < 1:
        raise ValueError(f"blocks, multiples and columns are at least 1: {claim}")
    for world in claim.worlds or ():
        if not 2 <= world <= MOST_WORLD:
            raise ValueError(f"a world of {world} ranks; from 2 to {MOST_WORLD} are decided")
    if claim.unit % claim.block == 0:
        return Aligned(f"every cut is at a multiple of {claim.unit} elements, whole blocks of {claim.block}")
    if claim.worlds is None:
        return _of_every_world(claim)
    extents = [(extent, world) for world in claim.worlds if (extent := _smallest(claim, world)) is not None]
    if not extents:
        return Aligned(f"no size has a split block over {counted(claim.worlds)} ranks")
    return _split(claim, *min(extents))


def counted(worlds: tuple[int, ...]) -> str:
    """Numbers of ranks in words."""
    return str(worlds[0]) if len(worlds) == 1 else f"{worlds[0]} to {worlds[-1]}"


def _of_every_world(claim: AlignmentClaim) -> Split:
    """As many ranks as there are places have one each (T29): the block divides the unit or is split."""
    extent = claim.multiple if claim.multiple > 1 else 2
    for world in _worlds_of(claim, extent):
        part = -(-extent // world)
        if part < extent and part * claim.unit % claim.block:
            return _split(claim, extent, world)
    return _split(claim, extent, extent)


def _worlds_of(claim: AlignmentClaim, extent: int) -> Iterable[int]:
    """Numbers of ranks for an extent, small ones first and not all of them."""
    few = range(2, min(extent, MOST_WORLD) + 1)
    return few if claim.rule != "even" else (world for world in few if extent % world == 0)


def _smallest(claim: AlignmentClaim, world: int) -> int | None:
    """The smallest extent over so many ranks that has a split block, None where none has (T29)."""
    places = claim.block // math.gcd(claim.block, claim.unit)
    if claim.rule == "even":
        extent = math.lcm(claim.multiple, world)
        return None if extent // world % places == 0 else extent
    part, rest = divmod(claim.multiple, world)
    if rest == 0:
        return None if part % places == 0 else claim.multiple
    if claim.multiple == 1:
        return 2  # one place cannot be cut, two are cut after the first
    if (part + 1) % places:
        return claim.multiple
    return claim.multiple * -(-world // (world - rest))


def _split(claim: AlignmentClaim, extent: int, world: int) -> Split:
    """The first cut, which goes through a block, computed from the definition of the rule.

    Raises:
        RuntimeError: it does not, so what was concluded was wrong.
    """
    part = -(-extent // world)
    cut = part * claim.unit
    if part >= extent or cut % claim.block == 0:
        raise RuntimeError(f"{extent} over {world} ranks should split a block, and does not: {claim}")
    return Split(extent, world, cut, cut // claim.block)
