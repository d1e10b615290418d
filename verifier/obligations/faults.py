"""A demand that a map does not meet, as data: codes and numbers, no words and no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Side = Literal["shard", "parameter", "piece", "map"]
"""Which address space a fault lives in; ``piece`` and ``map`` faults have no address that matters."""

Value = int | str | tuple[int, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Visit:
    """One way a piece reaches an address: the rank, the piece's position in its list, the index inside it."""

    rank: int
    piece: int
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """How many addresses share a defect. ``exact`` is False when the number is a lower bound."""

    number: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One refuted or undecided demand with its concrete counterexample.

    Attributes:
        code: diagnostic code, e.g. "SM201".
        side: the address space of ``address``.
        rank: the rank it happens on; None for parameter-side and whole-map faults.
        pieces: the pieces at fault as (rank, position), least first; the culprit is the last one.
        address: the least wrong address (a ShardAddress or a ParameterAddress, see ``side``).
        visits: how the pieces reach that address; empty for holes.
        count: how many addresses have this defect; None when it makes no sense for the code.
        others: a few more of them, ascending, the least one first.
        values: further numbers, named per code in ``diagnostics/narrate``.
        consequences: faults with the same cause, not reported by themselves.
        undecided: True when the demand was not refuted but could not be decided.
    """

    code: str
    side: Side
    rank: int | None = None
    pieces: tuple[tuple[int, int], ...] = ()
    address: int | None = None
    visits: tuple[Visit, ...] = ()
    count: Count | None = None
    others: tuple[int, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    consequences: tuple[Fault, ...] = ()
    undecided: bool = False
