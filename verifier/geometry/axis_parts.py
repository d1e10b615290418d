"""Who holds which part of an axis after it was cut over several dimensions of a mesh, one after another.

Statement.  Start from one part, the whole axis, held by everybody. A cut along a mesh dimension takes what
            each owner has, its parts joined in order, divides it into intervals, and gives each interval to
            one position of that dimension. Then ``refined`` returns the parts after the cut, from the first
            element of the axis on, each with the owner that has it: the owner before, and the position.
            The widths add up to the axis, and the parts of one owner, in order, are its local tensor.
Proof.      A part of an owner begins ``passed`` elements into what the owner has. The cuts of the owner that
            fall inside the part are its inner bounds, the others are at its ends, where they make parts
            without elements; so the widths between the bounds add up to the width of the part.
Cost.       The number of parts, which is refused beyond ``MOST_PARTS``.
References. ``Shard`` and ``_StridedShard`` of torch.distributed.tensor 2.13 are ``strided_chunks``.

Widths are only added, subtracted, multiplied, compared and divided by counts, so that they may be symbolic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

MOST_PARTS = 2**20
"""No axis is cut into more parts."""

Intervals = Callable[[int], list[tuple[int, int]]]
"""What an owner has along an axis, in intervals: the width of each, and which position of a mesh gets it."""


class AxisPart(NamedTuple):
    """A run of an axis, and the positions in the mesh, one for each cut so far, that hold it."""

    width: int
    owner: tuple[int, ...]


def chunk_widths(size: int, parts: int) -> tuple[int, ...]:
    """The widths of ``torch.chunk``, in elements: ceil(size / parts) while that lasts, the rest, then 0."""
    if parts == 1:
        return (size,)
    width = (size + parts - 1) // parts
    return between([0, *(min(part * width, size) for part in range(1, parts)), size])


def strided_chunks(factor: int, parts: int, size: int) -> list[tuple[int, int]]:
    """The intervals of ``size`` elements cut into ``factor`` chunks, each of these over ``parts`` positions.

    Each is (width, position), in the order of the axis; factor 1 is a plain cut.
    """
    return [
        (width, part)
        for run in chunk_widths(size, factor)
        for part, width in enumerate(chunk_widths(run, parts))
    ]


def refined(parts: Sequence[AxisPart], intervals: Intervals) -> list[AxisPart]:
    """The parts after one more cut, from the first element on; those known to be empty are left out.

    Raises:
        ValueError: there would be over MOST_PARTS; or as ``intervals`` raises it.
    """
    sizes: dict[tuple[int, ...], int] = {}
    for part in parts:
        sizes[part.owner] = sizes.get(part.owner, 0) + part.width
    cuts = {owner: intervals(size) for owner, size in sizes.items()}
    if sum(len(cuts[part.owner]) for part in parts) > MOST_PARTS:
        raise ValueError(f"cut into over {MOST_PARTS} parts")
    runs = Counter(part.owner for part in parts)
    passed: dict[tuple[int, ...], int] = {}
    found = []
    for width, owner in parts:
        start = passed.get(owner, 0)
        ends = list(accumulate(one for one, _ in cuts[owner]))[:-1]
        # Cuts of the only run of a rank lie inside of it; one of several runs may lie before or behind a cut.
        inside = ends if runs[owner] == 1 else [min(max(end - start, 0), width) for end in ends]
        for one, (_, position) in zip(between([0, *inside, width]), cuts[owner], strict=True):
            # A symbolic width is not asked whether it is 0: a part without elements does no harm.
            if type(one) is not int or one != 0:
                found.append(AxisPart(one, (*owner, position)))
        passed[owner] = start + width
    return found


def between(bounds: Sequence[int]) -> tuple[int, ...]:
    """The widths between one bound and the next."""
    return tuple(high - low for low, high in pairwise(bounds))
