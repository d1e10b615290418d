"""Which element each cell of a shard holds, found by watching a function at work.

Question.   A function takes a tensor to a shard. Is every cell one element times a factor that depends on no
            value, or a constant? If so: which element, which factor, which constant?
Method.     1 The same call twice: equal values, or it is not deterministic. 2 Tensors of zeros, ones, twos
            and minus ones: a cell is a constant, or the ones show its factor. 3 Elements are numbered in
            digits of a base that the dtype holds exactly, digit d sent as d + 1; divided by the factor, each
            pass shows one digit of the number of the element. 4 Random values, small and large, through the
            function and through what was found must give the same shard.
Limits.     1 to 3 are exact for a function of the kind asked about; 4 finds every other one but with
            probability below 2**-64 a cell, unless it tells probes from data.
Precision.  A dtype of m bits holds the integers below 2**m exactly. A function that rounds to fewer bits
            inside fails in 3 or 4, and is asked again with smaller digits by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from verifier.oracle.lift_errors import (
    DataDependentError,
    NotAGatherError,
    NotDeterministicError,
    TooCoarseError,
)
from verifier.oracle.lift_sent import MOST_DIGITS, Elements, Sent

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_BITS = 52
"""Results are compared as doubles."""
LARGEST_VALUE = 2**15
"""Up to which short random values are shifted: half precision goes up to twice as much."""
ODDS = 64
"""A cell that holds something else passes with probability below 2**-64."""


@dataclass(frozen=True, slots=True)
class Shard:
    """What one call left.

    Attributes:
        shape: of the shard.
        dtype: of the shard.
        values: of its cells as doubles, (numel,).
        unwritten: cells of memory that nobody wrote, (numel,); their values mean nothing.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    values: Floats
    unwritten: Mask


Call = Callable[[Elements], Shard]
"""Calls the function for one rank on a tensor with these elements, in row-major order."""


@dataclass(frozen=True, slots=True)
class Cells:
    """What the cells of one shard are.

    Attributes:
        shape: of the shard.
        dtype: of the shard.
        source: the element of each cell, -1 where there is none: int64, (numel,).
        factor: what the element is multiplied by, 0 where there is none: (numel,).
        constant: what stands in cells without element; NaN where nobody wrote, see ``unwritten``: (numel,).
        unwritten: cells of memory that nobody wrote: (numel,).
        passes: how many digits it took.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    source: Integers
    factor: Floats
    constant: Floats
    unwritten: Mask
    passes: int


def exact_bits(dtype: torch.dtype) -> int:
    """All integers below two to this power are values of the dtype; of integers, but the largest value."""
    if dtype == torch.bool:
        return 1
    if dtype.is_floating_point:
        return min(1 - round(math.log2(torch.finfo(dtype).eps)), MOST_BITS)
    return min(int(torch.iinfo(dtype).max).bit_length() - 1, MOST_BITS)


def cells_of(call: Call, sent: Sent, rank: int, bits: int) -> Cells:
    """What each cell of the shard of a rank is, with digits of at most ``bits`` bits.

    Raises:
        NotDeterministicError: two equal calls differ.
        DataDependentError: shape, dtype or written cells differ from call to call.
        NotAGatherError: a cell is no element times a factor, or the function is less precise than its dtype.
        TooCoarseError: the dtype has less than two bits to spare.
    """
    watched = _Watched(call, sent, rank, bits)
    moving, factor = watched.factors()
    precise = min(watched.bits, bits)
    mantissa, _ = np.frexp(factor)
    rounded = moving & (mantissa != 0.5) & (mantissa != -0.5)
    if rounded.any():
        precise -= 2  # a product with another factor than a power of two is rounded
    source, passes = watched.sources(moving, factor, precise)
    watched.require_same(source, factor, precise, rounded)
    first = watched.first
    constant = np.where(moving | first.unwritten, np.nan, first.values)
    return Cells(first.shape, first.dtype, source, factor, constant, first.unwritten, passes)


class _Watched:
    """A function of which every call must have the shape of the first."""

    def __init__(self, call: Call, sent: Sent, rank: int, bits: int) -> None:
        self._call = call
        self._sent = sent
        self._numel = sent.numel
        self._rank = rank
        self.first = call(sent.equal(1))
        mixed = sent.mixed()
        differs = np.flatnonzero(~_same(self.values(mixed), self.values(mixed)))
        if len(differs):
            raise NotDeterministicError(
                rank, f"two equal calls differ, first at shard address {int(differs[0])}"
            )
        self.bits = min(bits, exact_bits(self.first.dtype))
        self._signed = self.first.dtype.is_signed
        self._require_values(2**self.bits - 1)

    def values(self, elements: Elements) -> Floats:
        """The cells after one more call."""
        shard = self._call(elements)
        known = self.first
        if (shard.shape, shard.dtype) != (known.shape, known.dtype):
            was, now = (f"{one.dtype} of {one.shape}" for one in (known, shard))
            raise DataDependentError(self._rank, f"the shard is {was} for one tensor and {now} for another")
        if not np.array_equal(shard.unwritten, known.unwritten):
            raise DataDependentError(self._rank, "which cells are written depends on the values")
        return shard.values

    def _require_values(self, count: int) -> None:
        if count < 2 and self._numel > 1:
            raise TooCoarseError(
                self._rank, f"{self.first.dtype} has too few values to tell {self._numel} elements apart"
            )

    def factors(self) -> tuple[Mask, Floats]:
        """Which cells depend on the tensor, and what they multiply an element by."""
        one, zero, two = self.first.values, self.values(self._sent.equal(0)), self.values(self._sent.equal(2))
        minus = self.values(self._sent.equal(-1)) if self._signed else -one
        constant = _same(one, zero) & _same(one, two) & (_same(one, minus) | (not self._signed))
        constant |= self.first.unwritten
        with np.errstate(invalid="ignore", over="ignore"):
            linear = (zero == 0) & (two == 2 * one) & (minus == -one) & np.isfinite(one) & (one != 0)
        wrong = np.flatnonzero(~constant & ~linear)
        if len(wrong):
            cell = int(wrong[0])
            shown = ", ".join(f"{values[cell]:g}" for values in (zero, one, two, minus))
            raise NotAGatherError(
                self._rank, cell, f"is {shown} for tensors of 0, 1, 2 and -1, which no factor explains"
            )
        return ~constant, np.where(constant, 0.0, one)

    def sources(self, moving: Mask, factor: Floats, bits: int) -> tuple[Integers, int]:
        """The element of each moving cell, -1 for the others, and the number of passes."""
        source = np.full(len(moving), -1, dtype=np.int64)
        if not moving.any():
            return source, 0
        base = min(self._numel, 2**bits - 1) if bits > 0 else 0
        self._require_values(base)
        found = np.zeros(int(moving.sum()), dtype=np.int64)
        passes, weight = 0, 1
        while weight < self._numel or not passes:
            digits = self.values(self._sent.digits(weight, base))[moving] / factor[moving]
            self._require_digits(moving, digits, base)
            found += (np.rint(digits).astype(np.int64) - 1) * weight
            passes, weight = passes + 1, weight * max(base, 2)
        if (found >= self._numel).any():
            cell = int(np.flatnonzero(moving)[np.flatnonzero(found >= self._numel)[0]])
            raise NotAGatherError(self._rank, cell, "names no element of the tensor")
        source[moving] = found
        return source, passes

    def _require_digits(self, moving: Mask, digits: Floats, base: int) -> None:
        with np.errstate(invalid="ignore"):
            near = np.abs(digits - np.rint(digits)) <= 0.25
            wrong = np.flatnonzero(~(near & (np.rint(digits) >= 1) & (np.rint(digits) <= base)))
        if len(wrong):
            cell = int(np.flatnonzero(moving)[wrong[0]])
            shown = f"{digits[wrong[0]]:g}"
            raise NotAGatherError(
                self._rank, cell, f"is {shown} times its factor, where every element is 1 to {base}"
            )

    def require_same(self, source: Integers, factor: Floats, bits: int, rounded: Mask) -> None:
        """Random values through the function, and through what was found."""
        digits = min(bits, MOST_DIGITS)
        rounds = max(2, math.ceil(ODDS / digits))
        room = self._room(factor, digits)
        moving = source >= 0
        slack = np.where(rounded, 2.0 ** (1 - self.bits), 0.0)
        for turn in range(rounds):
            elements = self._sent.random(turn, digits, room, signed=self._signed)
            came = self.values(elements)
            due = np.where(moving, 0.0, self.first.values)
            due[moving] = elements[source[moving]] * factor[moving]
            with np.errstate(invalid="ignore", over="ignore"):
                close = _same(came, due) | (np.abs(came - due) <= slack * np.abs(due))
            wrong = np.flatnonzero(~(close | self.first.unwritten))
            if len(wrong):
                cell = int(wrong[0])
                what = f"element {source[cell]} times {factor[cell]:g}" if moving[cell] else "a constant"
                raise NotAGatherError(
                    self._rank, cell, f"looked like {what} and is {came[cell]:g} instead of {due[cell]:g}"
                )

    def _room(self, factor: Floats, digits: int) -> int:
        """By how many bits values of so many digits may be shifted up: the function has to keep them apart.

        A function that cuts off large values would pass for one that rounds, were it shown small ones only.
        """
        dtype = self.first.dtype
        top = torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max
        most = min(float(LARGEST_VALUE), top / max(1.0, float(np.abs(factor).max(initial=0.0))))
        return max(0, math.floor(math.log2(max(most, 1.0))) - digits)


def _same(one: Floats, other: Floats) -> Mask:
    same: Mask = (one == other) | (np.isnan(one) & np.isnan(other))
    return same
