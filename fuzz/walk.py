"""The reference for whole maps: visit every address, look at every element, compare.

Nothing here is clever, so that it can be believed by reading it once. Of the verifier only the data of a map
is used (``model``): no address is computed by its geometry, no demand is stated by its obligations. Cost:
every address of every piece, one by one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece, Scale
from verifier.model.shard_map import ShardMap

MOST_ADDRESSES = 200_000
"""Larger maps are refused: this is a reference, not a tool."""

Family = Literal[
    "write-bounds",
    "overlap",
    "hole",
    "read-bounds",
    "uncovered",
    "repeated",
    "holders",
    "scale-conflict",
    "sign",
    "scale",
    "width",
    "reference",
    "scale-rule",
    "unit",
]

CODES: dict[Family, frozenset[str]] = {
    "write-bounds": frozenset({"SM101"}),
    "overlap": frozenset({"SM201", "SM202"}),
    "hole": frozenset({"SM203"}),
    "read-bounds": frozenset({"SM102"}),
    "uncovered": frozenset({"SM301"}),
    "repeated": frozenset({"SM302"}),
    "holders": frozenset({"SM107", "SM108", "SM401", "SM402", "SM403"}),
    "scale-conflict": frozenset({"SM303"}),
    "sign": frozenset({"SM105"}),
    "scale": frozenset({"SM106"}),
    "width": frozenset({"SM109"}),
    "reference": frozenset({"SM501"}),
    "scale-rule": frozenset({"SM505"}),
    "unit": frozenset({"SM506"}),
}
"""The diagnostic codes by which a verifier may report each violated condition."""

SHARD_SIDE: frozenset[Family] = frozenset({"write-bounds", "overlap", "hole"})
PARAMETER_SIDE: frozenset[Family] = frozenset(
    {"read-bounds", "uncovered", "repeated", "holders", "scale-conflict"}
)


@dataclass(frozen=True, slots=True)
class Violation:
    """A condition that does not hold.

    Attributes:
        rank: the rank it is about, None for the whole map.
        wrong: all wrong addresses, ascending: of the shard for ``SHARD_SIDE``, of the parameter for
            ``PARAMETER_SIDE``, else none.
        pairs: for "reference", the (source, dest) pairs by which the rank differs, ascending.
    """

    family: Family
    rank: int | None
    wrong: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found: nothing, when the map is right."""

    violations: tuple[Violation, ...]

    @property
    def ok(self) -> bool:
        """True when every condition holds."""
        return not self.violations

    @property
    def families(self) -> frozenset[Family]:
        """The conditions that do not hold."""
        return frozenset(violation.family for violation in self.violations)

    def least_on_shard(self, rank: int) -> int | None:
        """The least wrong address of a rank's shard."""
        return min(
            (v.wrong[0] for v in self.violations if v.family in SHARD_SIDE and v.rank == rank), default=None
        )

    @property
    def least_on_parameter(self) -> int | None:
        """The least wrong address of the parameter."""
        return min((v.wrong[0] for v in self.violations if v.family in PARAMETER_SIDE), default=None)

    def least_pair(self, rank: int) -> tuple[int, int] | None:
        """The least (source, dest) pair by which a rank differs from the reference."""
        return min((v.pairs[0] for v in self.violations if v.rank == rank and v.pairs), default=None)


@dataclass(frozen=True, slots=True)
class Copy:
    """One element moved by one piece of one rank."""

    rank: int
    piece: Piece
    source: int
    dest: int


def walk(shard_map: ShardMap, expectation: Expectation) -> Walk:
    """Every condition that the map violates under the expectation.

    Raises:
        ValueError: the map is too large to be walked.
    """
    copies = list(_copies(shard_map))
    return Walk(
        (
            *_shards(shard_map, expectation, copies),
            *_parameter(shard_map, expectation, copies),
            *_pieces(expectation, copies),
            *_reference(shard_map, expectation, copies),
            *_scale_rule(expectation, copies),
            *_units(expectation, copies),
        )
    )


def addresses(view: StridedView) -> list[int]:
    """The address of every index of a view, the last axis fastest."""
    if 0 in view.shape:
        return []
    reached = [view.offset]
    for extent, stride in zip(view.shape, view.strides, strict=True):
        reached = [address + i * stride for address in reached for i in range(extent)]
    return reached


def _copies(shard_map: ShardMap) -> Iterator[Copy]:
    sizes = [shard_map.logical_shape] + [shard.shard_shape for shard in shard_map.ranks.values()]
    shapes = [piece.source.shape for shard in shard_map.ranks.values() for piece in shard.pieces]
    if sum(math.prod(shape) for shape in sizes + shapes) > MOST_ADDRESSES:
        raise ValueError(f"more than {MOST_ADDRESSES} addresses to visit")
    for rank, shard in shard_map.ranks.items():
        for piece in shard.pieces:
            for source, dest in zip(addresses(piece.source), addresses(piece.dest), strict=True):
                yield Copy(rank, piece, source, dest)


def _violation(family: Family, rank: int | None, wrong: Iterable[int]) -> Iterator[Violation]:
    found = tuple(sorted(set(wrong)))
    if found:
        yield Violation(family, rank, found)


def _shards(shard_map: ShardMap, expectation: Expectation, copies: Sequence[Copy]) -> Iterator[Violation]:
    """Each cell of a shard is written exactly once, declared padding at most once, nothing else is."""
    for rank, shard in shard_map.ranks.items():
        size = math.prod(shard.shard_shape)
        writes = Counter(copy.dest for copy in copies if copy.rank == rank)
        padding = expectation.holes.get(rank, ())
        yield from _violation("write-bounds", rank, [a for a in writes if not 0 <= a < size])
        yield from _violation("overlap", rank, [a for a in range(size) if writes[a] > 1])
        yield from _violation("hole", rank, [a for a in range(size) if not writes[a] and a not in padding])


def _parameter(shard_map: ShardMap, expectation: Expectation, copies: Sequence[Copy]) -> Iterator[Violation]:
    """Each element is held by exactly the declared ranks, once by each, under one scale."""
    size = math.prod(shard_map.logical_shape)
    yield from _violation("read-bounds", None, [c.source for c in copies if not 0 <= c.source < size])
    if expectation.lookup:
        return
    by_element: dict[int, list[Copy]] = {}
    for copy in copies:
        by_element.setdefault(copy.source, []).append(copy)
    wrong: dict[Family, list[int]] = {"uncovered": [], "repeated": [], "holders": [], "scale-conflict": []}
    for element in range(size):
        held = by_element.get(element, [])
        ranks = {copy.rank for copy in held}
        if not held and expectation.cover and element not in expectation.gaps:
            wrong["uncovered"].append(element)
        if len(held) > len(ranks):
            wrong["repeated"].append(element)
        if any(set(copy.piece.locations) != ranks for copy in held):
            wrong["holders"].append(element)
        if not expectation.partial and len({_distinct(copy.piece.scale) for copy in held}) > 1:
            wrong["scale-conflict"].append(element)
    for family, elements in wrong.items():
        yield from _violation(family, None, elements)


def _distinct(scale: Scale) -> Scale | str:
    """A scale that is equal to itself, NaN included."""
    return scale if scale == scale else "nan"


def _pieces(expectation: Expectation, copies: Sequence[Copy]) -> Iterator[Violation]:
    """What can be seen of one piece: signs of strides, scales, the width of its numbers and addresses."""
    most, widest = 2 ** (expectation.index_bits - 1) - 1, 2**63 - 1
    found: set[tuple[Family, int]] = set()
    found.update(("width", copy.rank) for copy in copies if max(copy.source, copy.dest) > most)
    for rank, piece in {(copy.rank, id(copy.piece)): (copy.rank, copy.piece) for copy in copies}.values():
        numbers = [*piece.source.shape, piece.source.offset, piece.dest.offset]
        numbers += [*piece.source.strides, *piece.dest.strides]
        # torch.as_strided refuses a negative stride even on an axis of extent 1, where nobody walks it.
        if min(piece.source.strides + piece.dest.strides, default=0) < 0:
            found.add(("sign", rank))
        if any(abs(number) > widest for number in numbers):
            found.add(("width", rank))
        if not isinstance(piece.scale, Fraction) or piece.scale == 0:
            found.add(("scale", rank))
    for family, rank in sorted(found):
        yield Violation(family, rank)


def _reference(shard_map: ShardMap, expectation: Expectation, copies: Sequence[Copy]) -> Iterator[Violation]:
    """The map copies the same elements to the same cells under the same scales as its reference."""
    reference = expectation.reference
    if reference is None:
        return
    here, there = (
        (m.logical_shape, {rank: shard.shard_shape for rank, shard in m.ranks.items()})
        for m in (shard_map, reference)
    )
    if here != there:
        yield Violation("reference", None)
        return
    theirs = list(_copies(reference))
    for rank in shard_map.ranks:
        ours, other = (
            Counter((c.source, c.dest, _distinct(c.piece.scale)) for c in found if c.rank == rank)
            for found in (copies, theirs)
        )
        different = {triple[:2] for triple in ours.keys() | other.keys() if ours[triple] != other[triple]}
        if different:
            yield Violation("reference", rank, pairs=tuple(sorted(different)))


def _scale_rule(expectation: Expectation, copies: Sequence[Copy]) -> Iterator[Violation]:
    """Every scale is the demanded one; where scales are summed, they sum to 1 over the holders."""
    if expectation.scale is not None and any(c.piece.scale != expectation.scale for c in copies):
        yield Violation("scale-rule", None)
    if expectation.partial:
        sums: dict[int, Fraction] = {}
        for copy in copies:
            scale = copy.piece.scale
            if isinstance(scale, Fraction):
                sums[copy.source] = sums.get(copy.source, Fraction(0)) + scale
        tolerance = Fraction(expectation.sum_ulps, 2**53)
        if any(abs(total - 1) > tolerance for total in sums.values()):
            yield Violation("scale-rule", None)


def _units(expectation: Expectation, copies: Sequence[Copy]) -> Iterator[Violation]:
    """Each storage unit of the parameter has at most one writing rank."""
    if expectation.write_unit is None:
        return
    writers: dict[int, set[int]] = {}
    for copy in copies:
        writers.setdefault(copy.source // expectation.write_unit, set()).add(copy.rank)
    if any(len(ranks) > 1 for ranks in writers.values()):
        yield Violation("unit", None)
