"""Do the boxes of one parameter tile it?

Question.   Boxes of a row-major parameter, in columns: is each inside it in every dimension, and each element
            in exactly one box?
Reduction.  Bounds are one comparison a dimension. Empty boxes are left out, and dimensions that every box
            fills. The corners of a box, written as numbers whose digits are the coordinates, are the signed
            monomials of a view with one stride for each dimension; they cancel against the corners of the
            parameter iff the boxes tile it, and the least survivor is the least wrong element.
Cost.       n 2^d numbers to sort, d being the dimensions that are cut: mostly 1 to 3.

Theory: T23.
"""

from __future__ import annotations

import numpy as np

from verifier.budget import Budget
from verifier.certificates.encode_boxes import BoxCertificate
from verifier.engines.bulk.answers import BoxAnswer, Outside, Tiled, Undecided
from verifier.engines.bulk.block import Table, block_of, columns
from verifier.engines.bulk.corners import TooWide, Wrong, least_wrong
from verifier.engines.bulk.faulty import faulty
from verifier.geometry.strided import INT64_MAX
from verifier.model.box_map import BoxMap

MOST_CORNERS = 2**25
"""The checker confirms no more."""

CORNERS = 8
"""Corners that may be held, as a multiple of the budget of monomials."""


def decide_boxes(boxes: BoxMap, budget: Budget) -> BoxAnswer:
    """Decide, exactly, whether boxes tile their parameter.

    Of the budget of one question, ``monomials`` bounds the corners and ``boxes`` the search of what is wrong.

    Theory: T23.
    """
    shape = boxes.logical_shape
    if max((*shape, boxes.numel)) > INT64_MAX:
        return Undecided("SM901", f"shape {shape} has more than 2^63 - 1 elements")
    offsets, sizes = columns(boxes)
    outside = _outside(shape, offsets, sizes)
    if outside is not None:
        return outside
    block = block_of(shape, offsets, sizes)
    count, cut = block.boxes.count, len(block.dimensions)
    wrong: Wrong | TooWide | None = TooWide()
    if count << cut <= min(CORNERS * budget.monomials, MOST_CORNERS):
        wrong = least_wrong(block)
    if wrong is None:
        return Tiled(BoxCertificate(boxes))
    found = faulty(block, wrong if isinstance(wrong, Wrong) else None, budget)
    reason = f"{count} boxes that are cut along {cut} dimensions have too many corners"
    return found or Undecided("SM902", reason)


def _outside(shape: tuple[int, ...], offsets: Table, sizes: Table) -> Outside | None:
    """Which boxes leave the parameter; empty ones may begin at its end."""
    leaves = np.zeros(offsets.shape, np.bool_)
    for axis, extent in enumerate(shape):
        low = offsets[:, axis]
        # The subtraction wraps only where low is negative, and that is out already.
        leaves[:, axis] = (low < 0) | (low > extent) | (sizes[:, axis] > extent - low)
    wrong = leaves.any(axis=1)
    if not wrong.any():
        return None
    box = int(wrong.argmax())
    empty = (wrong & (sizes == 0).any(axis=1)).sum()
    return Outside(box, int(leaves[box].argmax()), int(wrong.sum()), int(empty))
