"""Pairs of addresses as single addresses, so that a statement about functions is one about sets.

A pair (source, dest) becomes ``source * width + (dest - lowest)``, where ``lowest`` and ``width`` span every
dest address in sight. The map is injective and keeps the lexicographic order, and a block of pairs becomes an
ordinary strided view, so whatever decides SameAddresses decides SamePairs.

Theory: T5 (Kronecker's substitution in the two-variable identity).
"""

from __future__ import annotations

from dataclasses import dataclass

from verifier.geometry.strided import StridedView
from verifier.obligations.questions import PairView, SameAddresses, SamePairs


@dataclass(frozen=True, slots=True)
class FoldedPairs:
    """The question on folded addresses, and the way back."""

    question: SameAddresses
    lowest: int
    width: int

    def unfold(self, address: int) -> tuple[int, int]:
        """The (source, dest) pair of a folded address."""
        source, dest = divmod(address, self.width)
        return source, dest + self.lowest


def fold_pairs(question: SamePairs) -> FoldedPairs:
    """SamePairs as SameAddresses.

    Theory: T5.
    """
    occupied = [pair.dest for pair in question.left + question.right if not pair.dest.is_empty]
    lowest = min((view.lowest for view in occupied), default=0)
    width = max((view.highest for view in occupied), default=0) - lowest + 1

    def folded(pair: PairView) -> StridedView:
        return StridedView(
            pair.source.offset * width + pair.dest.offset - lowest,
            pair.source.shape,
            tuple([s * width + d for s, d in zip(pair.source.strides, pair.dest.strides, strict=True)]),
        )

    return FoldedPairs(
        SameAddresses(tuple(map(folded, question.left)), tuple(map(folded, question.right))), lowest, width
    )
