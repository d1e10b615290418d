"""Which views can share an address at all: those whose hulls meet.

Theory: T2.
"""

from __future__ import annotations

from collections.abc import Sequence

from verifier.engines.smt.solve import Doubt
from verifier.geometry.strided import NormalView


def meeting(views: Sequence[NormalView], most: int, *, apart: int = 0) -> list[tuple[int, int]] | None:
    """Pairs of positions of views whose hulls come within ``apart`` of each other; None past ``most`` pairs.

    They are ordered by the lowest address of the later hull, where the common part begins.
    """
    pairs: list[tuple[int, int]] = []
    open_views: list[int] = []
    for k in sorted(range(len(views)), key=lambda k: views[k].offset):
        open_views = [j for j in open_views if views[j].highest + apart >= views[k].offset]
        pairs += [(j, k) for j in open_views]
        if len(pairs) > most:
            return None
        open_views.append(k)
    return pairs


def neighbours(
    views: Sequence[NormalView], most: int, *, apart: int = 0
) -> list[tuple[int, list[int]]] | None:
    """The position of each view with those of all views near it, its own too; by lowest address."""
    pairs = meeting(views, most, apart=apart)
    if pairs is None:
        return None
    near: list[list[int]] = [[k] for k in range(len(views))]
    for j, k in pairs:
        near[j].append(k)
        near[k].append(j)
    order = sorted(range(len(views)), key=lambda k: views[k].offset)
    return [(k, near[k]) for k in order]


def too_many_pairs(most: int) -> Doubt:
    """What to say where ``meeting`` gives None."""
    return Doubt("SM902", f"more than {most} pairs of views have hulls that meet")
