"""Defects in the numbers of one piece: offsets, strides, extents, the scale."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from fuzz.build import chance
from fuzz.dressing import with_junk_axis
from fuzz.mutants.mutant import PieceChange
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece

SideName = Literal["source", "dest"]
SIDES: tuple[SideName, ...] = ("source", "dest")
STEPS = (1, -1, 1, -1, 2, -2, 3, -3, 4, -4)
"""Small ones are the mistakes people make, and the first is what an example shrinks to."""


def side_of(piece: Piece, side: SideName) -> StridedView:
    """One of the two views."""
    return piece.source if side == "source" else piece.dest


def with_side(piece: Piece, side: SideName, view: StridedView) -> Piece:
    """The piece with one of its views exchanged."""
    return replace(piece, source=view) if side == "source" else replace(piece, dest=view)


def _with_stride(piece: Piece, side: SideName, axis: int, stride: int) -> Piece:
    view = side_of(piece, side)
    strides = (*view.strides[:axis], stride, *view.strides[axis + 1 :])
    return with_side(piece, side, replace(view, strides=strides))


def _axis(rng: random.Random, piece: Piece) -> int | None:
    """An axis along which the piece moves."""
    axes = [axis for axis, extent in enumerate(piece.shape) if extent > 1]
    return rng.choice(axes) if axes else None


def shift(side: SideName) -> PieceChange:
    """Another offset."""

    def change(rng: random.Random, piece: Piece) -> Piece:
        view = side_of(piece, side)
        return with_side(piece, side, replace(view, offset=view.offset + rng.choice(STEPS)))

    return change


def restride(side: SideName) -> PieceChange:
    """Another stride, of an axis that moves."""

    def change(rng: random.Random, piece: Piece) -> Piece | None:
        axis = _axis(rng, piece)
        if axis is None:
            return None
        return _with_stride(piece, side, axis, side_of(piece, side).strides[axis] + rng.choice(STEPS))

    return change


def zero_stride(rng: random.Random, piece: Piece) -> Piece | None:
    """An axis that moves stands still on one side."""
    axis = _axis(rng, piece)
    return None if axis is None else _with_stride(piece, rng.choice(SIDES), axis, 0)


def reflect(rng: random.Random, piece: Piece) -> Piece | None:
    """One axis is walked backwards on one side, over the same addresses."""
    axis = _axis(rng, piece)
    if axis is None:
        return None
    side = rng.choice(SIDES)
    view = side_of(piece, side)
    far_end = replace(view, offset=view.offset + (view.shape[axis] - 1) * view.strides[axis])
    return _with_stride(with_side(piece, side, far_end), side, axis, -view.strides[axis])


def negative_junk(rng: random.Random, piece: Piece) -> Piece:
    """A negative stride where nobody walks, on an axis of extent 1; the axis is added where there is none."""
    if 1 not in piece.shape:
        piece = with_junk_axis(rng, piece)
    axis = rng.choice([axis for axis, extent in enumerate(piece.shape) if extent == 1])
    return _with_stride(piece, rng.choice(SIDES), axis, rng.randint(-9, -1))


def swap_strides(side: SideName) -> PieceChange:
    """Two axes that move take each other's stride on one side."""

    def change(rng: random.Random, piece: Piece) -> Piece | None:
        axes = [axis for axis, extent in enumerate(piece.shape) if extent > 1]
        if len(axes) < 2:
            return None
        first, second = rng.sample(axes, 2)
        strides = side_of(piece, side).strides
        changed = _with_stride(piece, side, first, strides[second])
        return _with_stride(changed, side, second, strides[first])

    return change


def resize(step: int) -> PieceChange:
    """Another extent of one axis, on both sides."""

    def change(rng: random.Random, piece: Piece) -> Piece | None:
        if not piece.shape:
            return None
        axis = rng.randrange(len(piece.shape))
        shape = (*piece.shape[:axis], piece.shape[axis] + step, *piece.shape[axis + 1 :])
        source, dest = replace(piece.source, shape=shape), replace(piece.dest, shape=shape)
        return replace(piece, source=source, dest=dest)

    return change


def change_scale(rng: random.Random, piece: Piece) -> Piece:
    """Another scale that can be inverted."""
    if isinstance(piece.scale, Fraction) and chance(rng, 0.5):
        return replace(piece, scale=piece.scale * rng.choice((2, 3, Fraction(1, 7), -1)))
    return replace(piece, scale=rng.choice((Fraction(2), Fraction(1, 2), Fraction(-1))))


def break_scale(rng: random.Random, piece: Piece) -> Piece:
    """A scale that cannot be inverted."""
    return replace(piece, scale=rng.choice((Fraction(0), math.inf, -math.inf, math.nan)))


def any_number(rng: random.Random, piece: Piece) -> Piece:
    """Another offset or stride, also one that nobody walks: what an editor of a file may hit."""
    side = rng.choice(SIDES)
    view = side_of(piece, side)
    numbers = [view.offset, *view.strides]
    numbers[rng.randrange(len(numbers))] += rng.choice(STEPS)
    return with_side(piece, side, StridedView(numbers[0], view.shape, tuple(numbers[1:])))


def huge_number(rng: random.Random, piece: Piece) -> Piece:
    """A number past every integer type, where it may or may not be reached."""
    side = rng.choice(SIDES)
    view = side_of(piece, side)
    size = rng.choice((2**31, 2**62, 2**63, 2**64, 2**126))
    numbers = [view.offset, *view.strides]
    numbers[rng.randrange(len(numbers))] += size
    return with_side(piece, side, StridedView(numbers[0], view.shape, tuple(numbers[1:])))
