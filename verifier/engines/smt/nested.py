"""Views whose indices can be read off an address by division.

The axes of a normal view are *nested* when each stride exceeds the hull of the axes below it. Then an address
determines its index, highest axis first, by quotient and remainder: the view is injective and membership
needs no quantifier. Any other view is a union of nested ones, by fixing the indices of some axes.

Theory: T17.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from verifier.engines.smt.solve import Doubt
from verifier.geometry.strided import Axis, NormalView

Parts = Sequence[NormalView]
"""Nested views."""

MOST_PARTS = 64
"""Most nested parts that one view is taken apart into; a formula per part is built."""

MOST_AXES = 8
"""Most axes of a view that formulas are built for: beyond them z3 is lost, and slow to notice its limit."""


def is_nested(axes: Sequence[Axis]) -> bool:
    """True when each stride of ``axes`` (ascending) exceeds the hull of the axes before it."""
    hull = 0
    for stride, extent in axes:
        if stride <= hull:
            return False
        hull += stride * (extent - 1)
    return True


def nested_parts(view: NormalView) -> tuple[NormalView, ...] | None:
    """Nested views with the same visits together, or None past MOST_PARTS.

    Long axes are kept where they nest; the indices of the others are written out.
    """
    kept: list[Axis] = []
    fixed: list[Axis] = []
    for axis in sorted(view.axes, key=lambda axis: (-axis[1], axis[0])):
        candidate = sorted([*kept, axis])
        if is_nested(candidate):
            kept = candidate
        else:
            fixed.append(axis)
    if math.prod(extent for _, extent in fixed) > MOST_PARTS:
        return None
    shifts = itertools.product(*(range(0, stride * extent, stride) for stride, extent in fixed))
    return tuple(view._replace(offset=view.offset + sum(shift), axes=tuple(kept)) for shift in shifts)


def parts_of_all(views: Iterable[NormalView]) -> list[tuple[NormalView, ...]] | Doubt:
    """The nested parts of each view."""
    all_parts: list[tuple[NormalView, ...]] = []
    for view in views:
        doubt = too_many_axes([view])
        if doubt is not None:
            return doubt
        parts = nested_parts(view)
        if parts is None:
            return Doubt("SM901", f"axes {view.axes} do not fall into {MOST_PARTS} nested parts")
        all_parts.append(parts)
    return all_parts


def too_many_axes(views: Iterable[NormalView]) -> Doubt | None:
    """The doubt about a question with a view of more than MOST_AXES axes, None if there is none."""
    most = max((len(view.axes) for view in views), default=0)
    return Doubt("SM902", f"a view has {most} axes, {MOST_AXES} allowed") if most > MOST_AXES else None


def visits_at(views: Iterable[NormalView], address: int) -> int | None:
    """The number of visits at one address; None where a view near it has too many parts."""
    parts = parts_of_all(view for view in views if view.offset <= address <= view.highest)
    if isinstance(parts, Doubt):
        return None
    return sum(part.multiplicity for own in parts for part in own if contains(part, address))


def contains(part: NormalView, address: int) -> bool:
    """``encode.member`` in Python's own integers."""
    remainder = address - part.offset
    for stride, extent in reversed(part.axes):
        digit, remainder = divmod(remainder, stride)
        if not 0 <= digit < extent:
            return False
    return remainder == 0
