"""What the reader of a map may additionally demand, or waive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from verifier.geometry.strided import require_integers
from verifier.model.numbers import require_distinct, require_ranks, require_small
from verifier.model.piece import require_scale
from verifier.model.shard_map import ShardMap

MOST_INDEX_BITS = 64
"""No address may need more: torch counts in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Demands and waivers beyond soundness. The default asks for exactly soundness.

    Raises:
        TypeError: a number is no plain int, a switch no bool, addresses no tuple, scale no Fraction.
        ValueError: the index width is not 2 to 64, the unit is not positive, addresses are negative or listed
            twice, a number is beyond what a map can hold, or a look-up table is asked about its holders.

    Attributes:
        reference: the map the consumer reads; the checked map must be the same function (SM501).
        holes: per rank, shard addresses that may stay unwritten (padding cells).
        gaps: parameter addresses that nobody needs to hold.
        cover: False when not every element of the parameter has to be held.
        lookup: True for a read-only table: only bounds, a full shard and the reference are asked.
        partial: True when the scales of an element sum to 1 over its holders (SM505), within
            ``sum_ulps`` units in the last place of a double.
        scale: the scale every piece must have (SM505), None when not asked.
        index_bits: width of the signed integer that every address must fit (SM109).
        write_unit: elements per storage unit; each unit has one writing rank (SM506). Units that are written
            in part only, next to elements that nobody holds, are left undecided.
    """

    reference: ShardMap | None = None
    holes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    gaps: tuple[int, ...] = ()
    cover: bool = True
    lookup: bool = False
    partial: bool = False
    sum_ulps: int = 4
    scale: Fraction | None = None
    index_bits: int = 64
    write_unit: int | None = None

    def __post_init__(self) -> None:
        self._require_types()
        require_distinct("gaps", self.gaps)
        require_ranks("holes", self.holes)
        for rank, addresses in self.holes.items():
            require_distinct(f"holes of rank {rank}", addresses)
        require_small("the expectation", (self.sum_ulps, self.index_bits, self.write_unit or 1))
        if self.sum_ulps < 0:
            raise ValueError(f"sum_ulps {self.sum_ulps} is negative; write 0 for exact sums")
        if not 2 <= self.index_bits <= MOST_INDEX_BITS:
            raise ValueError(f"index_bits {self.index_bits} is no index width; write 2 to {MOST_INDEX_BITS}")
        if self.write_unit is not None and self.write_unit < 1:
            raise ValueError(f"write_unit {self.write_unit} is no number of elements; write 1 or more")
        if self.lookup and (self.partial or self.write_unit is not None):
            raise ValueError("a lookup table has no holders, so neither partial sums nor storage units")

    def _require_types(self) -> None:
        if self.reference is not None and type(self.reference) is not ShardMap:
            raise TypeError("reference must be a ShardMap or None")
        for switch in ("cover", "lookup", "partial"):
            if type(getattr(self, switch)) is not bool:
                raise TypeError(f"{switch} is no bool; write True or False")
        require_integers("sum_ulps", (self.sum_ulps,))
        require_integers("index_bits", (self.index_bits,))
        if self.write_unit is not None:
            require_integers("write_unit", (self.write_unit,))
        if self.scale is not None:
            if type(self.scale) is not Fraction:
                raise TypeError("scale must be a Fraction or None; convert a float with Fraction()")
            require_scale(self.scale)
