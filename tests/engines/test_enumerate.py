"""The reference against counting place by place."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from hypothesis import given, settings

from tests.engines.conformance import excess_at
from tests.engines.questions import questions
from verifier.answers import Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation
from verifier.engines.enumerate import EnumerateEngine
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import (
    Packing,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

ENGINE = EnumerateEngine()


def places(question: Question) -> list[tuple[int, ...]]:
    """Every place that may have an excess, ascending."""
    match question:
        case SamePairs(left, right):  # a pair that neither side visits has none
            pairs = [(p, i) for p in left + right for i in itertools.product(*map(range, p.source.shape))]
            return sorted({(pair.source.address(index), pair.dest.address(index)) for pair, index in pairs})
        case SameAddresses(left, right):
            return [(address,) for address in span(left + right, 0)]
        case Tiling(size, views) | Packing(size, views) | UnitBoundaries(size, _, views):
            return [(address,) for address in span(views, size)]


def span(views: Iterable[StridedView], size: int) -> range:
    """From below all views to above them and ``size``."""
    occupied = [view for view in views if not view.is_empty]
    low = min([0, *(view.lowest for view in occupied)])
    high = max([size, *(view.highest for view in occupied)])
    return range(low - 1, high + 2)


@settings(max_examples=60, deadline=None)
@given(question=questions())
def test_the_least_defect_is_the_first_place_with_an_excess(question: Question) -> None:
    first = next(((p, e) for p in places(question) if (e := excess_at(question, p))), None)
    answer = ENGINE.decide(question, Budget())
    if first is None:
        assert isinstance(answer, Holds)
    else:
        assert isinstance(answer, Fails)
        assert (answer.defect.place, answer.defect.excess) == first
        assert answer.defect.least


def test_the_evidence_counts_what_was_listed() -> None:
    tiling = Tiling(6, (StridedView(0, (3,), (2,)), StridedView(1, (3,), (2,))))
    assert ENGINE.decide(tiling, Budget()) == Holds(Cancellation(), "enumerate")


def test_one_address_past_the_budget_is_not_listed() -> None:
    tiling = Tiling(6, (StridedView(0, (6,), (1,)),))
    assert isinstance(ENGINE.decide(tiling, Budget(addresses=12)), Holds)
    answer = ENGINE.decide(tiling, Budget(addresses=11))
    assert isinstance(answer, Unknown)
    assert answer.code == "SM902"


def test_the_size_of_a_tensor_costs_nothing_where_only_boundaries_matter() -> None:
    question = UnitBoundaries(10**30, 4, (StridedView(0, (4,), (1,)),))
    assert ENGINE.decide(question, Budget(addresses=4)) == Holds(Cancellation(), "enumerate")


def test_an_empty_view_is_not_walked() -> None:
    assert isinstance(ENGINE.decide(Packing(0, (StridedView(5, (10**18, 0), (1, 1)),)), Budget()), Holds)


def test_an_overlapping_set_has_no_boundaries() -> None:
    question = UnitBoundaries(8, 4, (StridedView(0, (3,), (1,)), StridedView(2, (2,), (1,))))
    answer = ENGINE.decide(question, Budget())
    assert isinstance(answer, Unknown)
    assert "address 2 is visited 2 times" in answer.reason
