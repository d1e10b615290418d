"""Who holds one element, and what is wrong with that.

Theory: T10 conditions 3 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.model.piece import Piece
from verifier.obligations.faults import Value, Visit


@dataclass(frozen=True, slots=True)
class Holding:
    """One visit of an element by a piece."""

    visit: Visit
    piece: Piece


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong at an element: the code, the pieces involved (culprit last), numbers for the message."""

    code: str
    holdings: tuple[Holding, ...]
    values: dict[str, Value]


def wrong_at(holdings: Sequence[Holding], *, needed: bool, scales_agree: bool) -> Wrong | None:
    """The first fault of an element with these holdings, in rank and piece order; None when it is right.

    ``needed``: somebody must hold it. ``scales_agree``: its holders must have one scale.
    """
    if not holdings:
        return Wrong("SM301", (), {}) if needed else None
    seen: dict[int, Holding] = {}
    for holding in holdings:
        rank = holding.visit.rank
        if rank in seen:
            return Wrong("SM302", (seen[rank], holding), {"holder": rank})
        seen[rank] = holding
    first = holdings[0]
    declared = first.piece.locations
    holders = tuple(sorted(seen))
    for holding in holdings[1:]:
        if holding.piece.locations != declared:
            values: dict[str, Value] = {"declared": declared, "holders": holders}
            return Wrong("SM403", (first, holding), values)
    undeclared = [h for h in holdings if h.visit.rank not in declared]
    if undeclared:
        return Wrong("SM401", (undeclared[0],), {"declared": declared, "holders": holders})
    if set(declared) - seen.keys():
        return Wrong("SM402", (first,), {"declared": declared, "holders": holders})
    for holding in holdings[1:]:
        if scales_agree and holding.piece.scale != first.piece.scale:
            texts = (str(first.piece.scale), str(holding.piece.scale))
            return Wrong("SM303", (first, holding), {"scales": texts})
    return None
