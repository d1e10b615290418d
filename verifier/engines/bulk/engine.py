"""The core engine for very many views: the cancellation of generating functions in columns.

Answers what ``cancel`` answers, or Unknown. It leaves to others what has numbers near 64 bits, views that
stand still along an axis, and more kinds of components than are worth columns of their own.

Theory: T1, T3, T4, T5, T12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation
from verifier.engines.bulk.components import Batch, Components, Kinds, batches, components_of, kinds_of
from verifier.engines.bulk.monomials import Column, Piles
from verifier.engines.bulk.views import Views, normal_views
from verifier.geometry.monomials import Survivor, TooLarge
from verifier.geometry.strided import INT64_MAX, StridedView
from verifier.obligations.pairs import fold_pairs
from verifier.obligations.questions import Packing, Question, SameAddresses, SamePairs, Tiling

NAME = "bulk"

BATCHES = 1_000
"""Most kinds of components. Each costs some hundred microseconds, however few views it has."""

MONOMIALS = 8
"""Monomials of one batch, as a multiple of the budget: eight bytes each."""


class BulkEngine:
    """Exact and deterministic, for many views with few distinct strides."""

    name = NAME

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Decide any question but unit boundaries; packings only where the views fill their hulls."""
        match question:
            case Tiling(size, views):
                return _tiling(size, views, budget)
            case Packing(size, views):
                return _packing(size, views, budget)
            case SameAddresses(left, right):
                total = _sum(left, right, None)
                return _TOO_WIDE if total is None else _answer(_survey(total, budget))
            case SamePairs():
                folded = fold_pairs(question)
                answer = self.decide(folded.question, budget)
                if isinstance(answer, Fails) and answer.defect.place is not None:
                    place = folded.unfold(answer.defect.place[0])
                    return Fails(Defect(place, answer.defect.excess, answer.defect.least), NAME)
                return answer
            case _:
                return Unknown("SM901", f"{type(question).__name__} is no question about visits", NAME)


_TOO_WIDE = Unknown("SM901", "numbers near 64 bits, or a view that stands still along an axis", NAME)


@dataclass(frozen=True, slots=True)
class _Sum:
    """Views with signs, and the part of ``0..size`` that each component of them has to fill, if any.

    Attributes:
        views: in normal form.
        negative: which of them count against the others.
        components: of their hulls.
        kinds: by their strides.
        size: of the range; None when nothing but the views themselves is asked about.
    """

    views: Views
    negative: NDArray[np.bool_]
    components: Components
    kinds: Kinds
    size: int | None


def _sum(left: Sequence[StridedView], right: Sequence[StridedView], size: int | None) -> _Sum | None:
    views = normal_views([*left, *right])
    if views is None:
        return None
    negative = np.zeros(len(views.offsets), np.bool_)
    if right:
        negative[sum(not view.is_empty for view in left) :] = True
    if size is not None:
        size = min(max(size, 0), INT64_MAX)  # no view gets there
    return _Sum(views, negative, components_of(views), kinds_of(views.strides), size)


@dataclass(frozen=True, slots=True)
class _Survey:
    """What is left of all components.

    Attributes:
        survivors: the least one of each batch that does not vanish.
        skipped_from: the lowest address of components that were not looked at, and why; None if all were.
    """

    survivors: tuple[Survivor, ...]
    skipped_from: tuple[int, str] | None


def _tiling(size: int, views: Sequence[StridedView], budget: Budget) -> Answer:
    total = _sum(views, (), size)
    if total is None:
        return _TOO_WIDE
    gap = total.components.least_gap(size)
    return _answer(_survey(total, budget), () if gap is None else (Survivor(gap, -1),))


def _packing(size: int, views: Sequence[StridedView], budget: Budget) -> Answer:
    """Packed when every component is tiled; one with a hole is left to other engines."""
    total = _sum(views, (), size)
    if total is None:
        return _TOO_WIDE
    survey = _survey(total, budget)
    least = min(survey.survivors, key=_address, default=None)
    if least is not None and least.value < 0:
        reason = f"address {least.address} is not visited, so the views do not tile their hull"
        return Unknown("SM901", reason, NAME)
    return _answer(survey)


def _address(survivor: Survivor) -> int:
    return survivor.address


def _answer(survey: _Survey, gaps: tuple[Survivor, ...] = ()) -> Answer:
    wrong = min((*survey.survivors, *gaps), key=_address, default=None)
    skipped = survey.skipped_from
    if wrong is not None:
        least = skipped is None or wrong.address < skipped[0]
        return Fails(Defect((wrong.address,), wrong.value, least=least), NAME)
    return Holds(Cancellation(), NAME) if skipped is None else Unknown("SM902", skipped[1], NAME)


def _survey(total: _Sum, budget: Budget) -> _Survey:
    """Every component, those with the same strides together."""
    components = total.components
    always = Counter[int]() if total.size is None else Counter([1])
    found = batches(components, total.kinds, always, most=BATCHES)
    if found is None:
        return _Survey((), (int(components.lows[0]), f"more than {BATCHES} kinds of components"))
    survivors: list[Survivor] = []
    skipped: list[tuple[int, str]] = []
    for batch in found:
        match _survivor(total, batch, budget):
            case Survivor() as survivor:
                survivors.append(survivor)
            case TooLarge(reason):
                skipped.append((int(components.lows[batch.chosen][0]), reason))
            case None:
                pass
    return _Survey(tuple(survivors), min(skipped, default=None))


def _survivor(total: _Sum, batch: Batch, budget: Budget) -> Survivor | TooLarge | None:
    """The least address where the components of one batch differ from what they have to fill.

    Theory: T3, T4, T12.
    """
    views, strides = total.views, batch.common.total()
    rows = np.flatnonzero(batch.chosen[total.components.of])
    if strides > budget.distinct_strides:
        return TooLarge(f"{strides} distinct strides, {budget.distinct_strides} allowed")
    if len(rows) << strides > MONOMIALS * budget.monomials:
        return TooLarge(f"more than {MONOMIALS * budget.monomials} monomials")
    lengths = (views.strides[rows] * views.extents[rows]).sum(axis=1)
    reach = int((views.offsets[rows] + lengths).max(initial=0)) + 1
    if reach + sum(batch.common.elements()) > INT64_MAX:
        return TooLarge("exponents past 64 bits")
    piles = Piles([], [])
    for own, spans, missing in _by_kind(total, rows, batch.common):
        for sign, of_sign in ((1, ~total.negative[own]), (-1, total.negative[own])):
            if of_sign.any():
                signed = [span[of_sign] for span in spans]
                piles.add(views.offsets[own[of_sign]], [*signed, *missing], sign=sign)
    if total.size is not None:
        lows = np.maximum(total.components.lows[batch.chosen], 0)
        ends = np.minimum(total.components.highs[batch.chosen] + 1, total.size)
        inside = lows < ends
        runs = (ends - lows)[inside]
        piles.add(lows[inside], [runs, *(batch.common - Counter([1])).elements()], sign=-1)
    return piles.least_survivor()


def _by_kind(
    total: _Sum, rows: Column, common: Counter[int]
) -> Iterator[tuple[Column, list[Column], list[int]]]:
    """The views in some rows by their strides: rows, lengths of their axes, and the strides they lack."""
    kinds = total.kinds.of[rows]
    for kind in np.unique(kinds).tolist():
        own = rows[kinds == kind]
        axes = np.flatnonzero(total.views.strides[own[0]])
        lengths = [total.views.strides[own[0], k] * total.views.extents[own, k] for k in axes]
        yield own, lengths, [*(common - Counter(total.kinds.strides[kind])).elements()]
