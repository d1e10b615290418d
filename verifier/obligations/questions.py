"""The five questions that every demand on a map comes down to.

Each is a statement about multisets of addresses, free of maps, ranks and files, so that an engine needs
to know nothing else. ``defect place`` below is where an engine reports the statement to fail.
"""

from __future__ import annotations

from dataclasses import dataclass

from verifier.geometry.strided import StridedView


@dataclass(frozen=True, slots=True)
class Tiling:
    """Each address of ``0..size`` is visited exactly once and nothing outside is visited. Theory: T3.

    Defect place: (address,); excess is visits minus visits demanded (1 inside, 0 outside).
    """

    size: int
    views: tuple[StridedView, ...]


@dataclass(frozen=True, slots=True)
class Packing:
    """No address is visited twice and nothing outside ``0..size`` is visited. Theory: T8.

    Defect place: (address,); excess is visits minus visits allowed (1 inside, 0 outside), always positive.
    """

    size: int
    views: tuple[StridedView, ...]


@dataclass(frozen=True, slots=True)
class SameAddresses:
    """Two multisets of addresses are equal. Theory: T4.

    Defect place: (address,); excess is visits of ``left`` minus visits of ``right``.
    """

    left: tuple[StridedView, ...]
    right: tuple[StridedView, ...]


@dataclass(frozen=True, slots=True)
class PairView:
    """A block of (source, dest) address pairs: both views have one shape and run in step.

    Raises:
        ValueError: the shapes differ.
    """

    source: StridedView
    dest: StridedView

    def __post_init__(self) -> None:
        if self.source.shape != self.dest.shape:
            raise ValueError(f"source shape {self.source.shape} but dest shape {self.dest.shape}")


@dataclass(frozen=True, slots=True)
class SamePairs:
    """Two multisets of (source, dest) pairs are equal: the same function, however it is cut. Theory: T5.

    Defect place: (source, dest), ordered by source first; excess as for SameAddresses.
    """

    left: tuple[PairView, ...]
    right: tuple[PairView, ...]


@dataclass(frozen=True, slots=True)
class UnitBoundaries:
    """The set visited by ``views`` begins and ends only at multiples of ``unit`` or at ``size``. Theory: T9.

    The views stay inside ``0..size`` and visit each address at most once; otherwise the answer is Unknown or
    about the set. Defect place: (address,) of the least boundary inside a unit; excess +1 where the set
    begins, -1 where it ends.

    Raises:
        ValueError: the unit is not positive.
    """

    size: int
    unit: int
    views: tuple[StridedView, ...]

    def __post_init__(self) -> None:
        if self.unit < 1:
            raise ValueError(f"a unit of {self.unit} elements")


Question = Tiling | Packing | SameAddresses | SamePairs | UnitBoundaries
