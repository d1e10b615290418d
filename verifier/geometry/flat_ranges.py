"""A range of flat addresses of a row-major tensor, as boxes.

Whoever cuts the flattened tensor, as distributed optimizers do, cuts across its rows: what a cut holds is a
few boxes of the tensor itself. Theory: T24.
"""

from __future__ import annotations

from math import prod

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""First coordinates and extents."""


def range_boxes(shape: tuple[int, ...], start: int, end: int) -> list[Box]:
    """The elements with addresses ``start`` to ``end`` - 1, as boxes in the order of addresses.

    At most 2n - 1 boxes for n dimensions, each a range of addresses by itself; none for an empty range.

    Args:
        shape: of the tensor, elements.
        start: first address.
        end: one past the last.

    Raises:
        ValueError: the range is not inside the tensor.
    """
    if not 0 <= start <= end <= prod(shape):
        raise ValueError(f"addresses {start} to {end} are not inside a tensor of shape {shape}")
    return [] if start == end else _boxes(shape, start, end)


def _boxes(shape: tuple[int, ...], start: int, end: int) -> list[Box]:
    """``range_boxes`` of a range that is not empty. The recursion is as deep as there are dimensions."""
    if not shape:
        return [((), ())]
    inner = shape[1:]
    row, head = divmod(start, prod(inner))
    last, tail = divmod(end, prod(inner))
    if row == last:
        return _inside(row, _boxes(inner, head, tail))
    found: list[Box] = []
    if head:
        found += _inside(row, _boxes(inner, head, prod(inner)))
        row += 1
    if row < last:
        found.append(((row, *(0 for _ in inner)), (last - row, *inner)))
    if tail:
        found += _inside(last, _boxes(inner, 0, tail))
    return found


def _inside(row: int, boxes: list[Box]) -> list[Box]:
    """Boxes of one row as boxes of the whole tensor."""
    return [((row, *offsets), (1, *sizes)) for offsets, sizes in boxes]
