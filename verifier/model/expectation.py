"""What the reader of a map may additionally demand, or waive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Demands and waivers beyond soundness. The default asks for exactly soundness.

    Raises:
        ValueError: the index width or the unit is too small, or a look-up table is asked about its holders.

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
        if self.index_bits < 2:
            raise ValueError(f"index_bits {self.index_bits} cannot hold an address")
        if self.write_unit is not None and self.write_unit < 1:
            raise ValueError(f"write_unit {self.write_unit} is not a positive number of elements")
        if self.lookup and (self.partial or self.write_unit is not None):
            raise ValueError("a lookup table has no holders, so neither partial sums nor storage units")
