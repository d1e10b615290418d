"""One piece of a shard map: the same block seen in the parameter and in the shard."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NewType

from verifier.geometry.strided import StridedView

ParameterAddress = NewType("ParameterAddress", int)
"""A flat row-major position in the full parameter, in elements."""
ShardAddress = NewType("ShardAddress", int)
"""A flat position in the buffer of one rank, in elements. Never mixed with a ParameterAddress."""

ONE = Fraction(1)

Scale = Fraction | float
"""The exact rational of an IEEE double, or the double itself where it is infinite or NaN."""


def exact_scale(value: float) -> Scale:
    """The exact rational a double stands for; infinities and NaN stay floats and are refuted as SM106."""
    try:
        return Fraction(value)
    except (OverflowError, ValueError):
        return float(value)


@dataclass(frozen=True, slots=True)
class Piece:
    """A block held by a rank: ``dest`` in its shard holds ``scale`` times ``source`` of the parameter.

    ``locations`` are all ranks that claim to hold exactly these elements, the own rank included,
    in ascending order.

    Raises:
        ValueError: source and dest differ in shape.
    """

    source: StridedView
    dest: StridedView
    locations: tuple[int, ...]
    scale: Scale = ONE

    def __post_init__(self) -> None:
        if self.source.shape != self.dest.shape:
            raise ValueError(f"source shape {self.source.shape} but dest shape {self.dest.shape}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape both sides share."""
        return self.source.shape

    @property
    def numel(self) -> int:
        """How many elements the piece carries."""
        return self.source.numel

    @property
    def is_empty(self) -> bool:
        """True when the piece carries nothing; such a piece is never wrong."""
        return self.source.is_empty
