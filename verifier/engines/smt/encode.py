"""Views as z3 terms: strided sums of bounded index variables, and membership by division.

Theory: T17.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from verifier.geometry.strided import NormalView


def index_variables(view: NormalView, tag: str, context: z3.Context) -> list[z3.ArithRef]:
    """One integer variable per axis."""
    return [z3.Int(f"{tag}{k}", context) for k in range(len(view.axes))]


def reached(view: NormalView, indices: Sequence[z3.ArithRef], place: z3.ArithRef) -> list[z3.BoolRef]:
    """``indices`` are in bounds and reach ``place``. Any view."""
    address = z3.IntVal(view.offset, place.ctx)
    constraints = []
    for (stride, extent), index in zip(view.axes, indices, strict=True):
        constraints += [index >= 0, index < extent]
        address = address + stride * index
    return [*constraints, place == address]


def member(view: NormalView, place: z3.ArithRef) -> z3.BoolRef:
    """``place`` is an address of a nested view: every digit is in range and nothing remains."""
    remainder = place - view.offset
    constraints: list[z3.BoolRef] = []
    for stride, extent in reversed(view.axes):
        if stride == 1:  # the lowest axis: what remains is its digit
            return z3.And([*constraints, remainder >= 0, remainder < extent])
        digit = remainder / stride  # on integers z3's / is the floor for positive divisors
        constraints += [digit >= 0, digit < extent]
        remainder = remainder % stride
    return z3.And([*constraints, remainder == 0])


def member_of_any(parts: Iterable[NormalView], place: z3.ArithRef) -> z3.BoolRef:
    """``place`` is an address of one of the nested views."""
    return z3.Or([z3.BoolVal(False, place.ctx), *(member(part, place) for part in parts)])


def visits(parts: Iterable[NormalView], place: z3.ArithRef) -> z3.ArithRef:
    """How often the nested views visit ``place``."""
    nought = z3.IntVal(0, place.ctx)
    counts = (z3.If(member(part, place), z3.IntVal(part.multiplicity, place.ctx), nought) for part in parts)
    return z3.Sum([nought, *counts])
