"""One piece of a shard map: the same block seen in the parameter and in the shard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from operator import lt
from typing import NewType

from verifier.geometry.integers import admitted
from verifier.geometry.strided import StridedView
from verifier.model.numbers import NUMBER_LIMIT, require_distinct, require_small

ParameterAddress = NewType("ParameterAddress", int)
"""A flat row-major position in the full parameter, in elements."""
ShardAddress = NewType("ShardAddress", int)
"""A flat position in the buffer of one rank, in elements. Never mixed with a ParameterAddress."""

ONE = Fraction(1)

Scale = Fraction | float
"""The exact rational of an IEEE double, or the double itself where it is infinite or NaN."""


SCALE_BITS = 1100
"""Numerator and denominator of every finite double have fewer bits; a wider scale is not one of a double."""


def exact_scale(value: float) -> Scale:
    """The exact rational a double stands for; infinities and NaN stay floats and are refuted as SM106."""
    try:
        return Fraction(value)
    except (OverflowError, ValueError):
        return float(value)


def require_locations(locations: tuple[int, ...]) -> None:
    """Refuse what is not a tuple of ascending, distinct plain integers from 0 on.

    Raises:
        TypeError: not a tuple of plain integers.
        ValueError: negative, repeated, too large or out of order.
    """
    if type(locations) is tuple and not locations:
        return
    # Ascending ones lie between the first and the last: a replicated parameter names all ranks in each piece.
    if (
        type(locations) is not tuple
        or {*map(type, locations)} != {int}
        or locations[0] < 0
        or locations[-1] >= NUMBER_LIMIT
        or not all(map(lt, locations, locations[1:]))
    ):
        require_distinct("locations", locations)
        raise ValueError("locations are not ascending; sort them")


def require_scale(scale: object) -> None:
    """Refuse what is no Scale.

    Raises:
        TypeError: ``scale`` is neither a Fraction of plain integers nor a float.
        ValueError: a finite float, which has to be given as its exact rational, or a rational of no double.
    """
    if type(scale) is float:
        if math.isfinite(scale):
            raise ValueError(f"scale {scale!r} is a finite float; convert it with exact_scale()")
        return
    if type(scale) is not Fraction:
        raise TypeError(f"scale is a {type(scale).__name__}; convert it with exact_scale()")
    if type(scale.numerator) is not int or type(scale.denominator) is not int:
        raise TypeError("scale is a Fraction of no plain ints; convert numpy integers with int()")
    if max(scale.numerator.bit_length(), scale.denominator.bit_length()) > SCALE_BITS:
        raise ValueError(f"scale has over {SCALE_BITS} bits; give the exact rational of a double")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block held by a rank: ``dest`` in its shard holds ``scale`` times ``source`` of the parameter.

    ``locations`` are all ranks that claim to hold exactly these elements, the own rank included,
    in ascending order.

    Raises:
        TypeError: locations is not a tuple of plain integers, source or dest no view, scale no Scale.
        ValueError: source and dest differ in shape, locations are not ascending from 0 on, or a number is
            beyond what a map can hold.
    """

    source: StridedView
    dest: StridedView
    locations: tuple[int, ...]
    scale: Scale = ONE

    def __post_init__(self) -> None:
        source, dest = self.source, self.dest
        if type(source) is not StridedView or type(dest) is not StridedView:
            raise TypeError("source and dest of a piece must each be a StridedView")
        if source.shape != dest.shape:
            raise ValueError(
                f"source shape {source.shape} but dest shape {dest.shape}; a piece has one shape"
            )
        numbers = (source.offset, dest.offset, *source.shape, *source.strides, *dest.strides)
        if admitted() or max(numbers) >= NUMBER_LIMIT or min(numbers) <= -NUMBER_LIMIT:
            require_small("a piece", numbers)
        require_locations(self.locations)
        if self.scale is not ONE:
            require_scale(self.scale)

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
