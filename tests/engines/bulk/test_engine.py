"""The engine for columns answers as the engine for single views, on questions of many components."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.conformance import check
from tests.engines.questions import GENERATORS
from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.engines import portfolio
from verifier.engines.bulk import engine as bulk
from verifier.engines.bulk.engine import BulkEngine
from verifier.engines.bulk.views import normal_views
from verifier.engines.cancel import CancelEngine
from verifier.engines.portfolio import MANY, Portfolio
from verifier.geometry.strided import StridedView, normal_form
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

SEEDS = st.integers(0, 2**32).map(random.Random)
BUDGET = Budget()
BULK, CANCEL = BulkEngine(), CancelEngine()


def agree(question: Question, budget: Budget = BUDGET) -> Answer:
    """Both decide, and alike in all they say; or the columns leave it."""
    answer, expected = BULK.decide(question, budget), CANCEL.decide(question, budget)
    match answer, expected:
        case Holds(form), Holds(expected_form):
            assert form == expected_form
        case Fails(defect), Fails(expected_defect):
            assert defect == expected_defect
        case (Unknown(), _):
            pass
        case _:
            pytest.fail(f"{question}\n{answer}\n{expected}")
    return answer


def moved(view: StridedView, by: int) -> StridedView:
    return replace(view, offset=view.offset + by)


def side_by_side(rng: random.Random, parts: int) -> Tiling:
    """Random tilings one after another, some of them wrong: many components of all sorts of strides."""
    views: list[StridedView] = []
    size = 0
    for _ in range(parts):
        part = GENERATORS["tiling"](rng)
        while rng.random() < 0.95 and not isinstance(CANCEL.decide(part, BUDGET), Holds):
            part = GENERATORS["tiling"](rng)
        assert isinstance(part, Tiling)
        views += [moved(view, size) for view in part.views]
        size += part.size
    rng.shuffle(views)
    return Tiling(size, tuple(views))


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_T12_many_components(rng: random.Random) -> None:
    tiling = side_by_side(rng, rng.randint(2, 25))
    agree(tiling)
    agree(Packing(tiling.size, tiling.views))
    other = side_by_side(rng, 3)
    agree(SameAddresses(tiling.views, (*tiling.views[::-1], *other.views)))
    check(BULK, tiling)


def test_many_components_are_proved_and_refuted() -> None:
    rng = random.Random("components")
    answers = [agree(side_by_side(rng, 15)) for _ in range(40)]
    assert sum(isinstance(answer, Holds) for answer in answers) > 5
    assert sum(isinstance(answer, Fails) for answer in answers) > 15


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.sampled_from([kind for kind in GENERATORS if kind != "unit-boundaries"]))
def test_random_questions(rng: random.Random, kind: str) -> None:
    agree(GENERATORS[kind](rng))


def rows(count: int, width: int = 8) -> list[StridedView]:
    return [StridedView(width * k, (width,), (1,)) for k in range(count)]


def columns(count: int, height: int = 8) -> list[StridedView]:
    return [StridedView(k, (height, 1), (count, 7)) for k in range(count)]


@pytest.mark.parametrize("views", [rows(3000), columns(3000)], ids=["rows", "columns"])
def test_the_portfolio_asks_the_columns_first_where_there_are_many_views(views: list[StridedView]) -> None:
    answer = Portfolio().decide(Tiling(24000, tuple(views)), BUDGET)
    assert isinstance(answer, Holds)
    assert answer.engine == "bulk"
    wrong = [*views[:1234], moved(views[1234], 1), *views[1235:]]
    answer = Portfolio().decide(Tiling(24000, tuple(wrong)), BUDGET)
    assert isinstance(answer, Fails)
    assert answer.engine == "bulk"
    assert answer.defect == Defect((views[1234].offset,), -1, least=True)


def test_the_portfolio_leaves_few_views_to_the_engine_for_them() -> None:
    answer = Portfolio().decide(Tiling(8 * (MANY - 1), tuple(rows(MANY - 1))), BUDGET)
    assert answer.engine == "cancel"


@pytest.mark.parametrize(
    "question",
    [
        Packing(24000, tuple(rows(3000))),
        SameAddresses(tuple(rows(1500)), tuple(columns(1500))),
        SamePairs(
            tuple(PairView(view, view) for view in rows(1500)),
            tuple(PairView(view, view) for view in reversed(rows(1500))),
        ),
    ],
    ids=lambda question: type(question).__name__,
)
def test_the_portfolio_asks_the_columns_about_each_question_they_know(question: Question) -> None:
    answer = Portfolio().decide(question, BUDGET)
    assert answer.engine == "bulk"
    assert type(answer) is type(CANCEL.decide(question, BUDGET))


def test_what_the_columns_leave_is_decided_by_the_others() -> None:
    """A view that stands still is no view for columns; the question is refuted none the less."""
    views = (*rows(MANY), StridedView(5, (3, 2), (0, 1)))
    assert isinstance(BULK.decide(Tiling(8 * MANY, views), BUDGET), Unknown)
    answer = Portfolio().decide(Tiling(8 * MANY, views), BUDGET)
    assert isinstance(answer, Fails)
    assert answer.defect == Defect((5,), 3, least=True)


# Numbers near 64 bits.


@pytest.mark.parametrize(
    "view",
    [
        StridedView(2**63, (1,), (1,)),
        StridedView(-(2**63), (2,), (1,)),
        StridedView(2**61 + 1, (2,), (1,)),
        StridedView(0, (2,), (2**62,)),
        StridedView(0, (2,), (-(2**63),)),
        StridedView(0, (2**40, 2**40), (2**40, 1)),
        StridedView(0, (2**63,), (1,)),
        StridedView(0, (4, 4, 4), (2**60, 2**60 + 1, 2**60 + 2)),
    ],
    ids=repr,
)
def test_numbers_that_could_wrap_are_left_alone(view: StridedView) -> None:
    for question in (Tiling(2**63, (view,)), SameAddresses((view,), ())):
        answer = BULK.decide(question, BUDGET)
        assert isinstance(answer, Unknown), answer
        assert answer.code == "SM901"


@settings(max_examples=200, deadline=None)
@given(SEEDS)
def test_large_numbers_are_decided_as_by_exact_integers_or_left_alone(rng: random.Random) -> None:
    def number() -> int:
        return rng.choice((-1, 1)) * rng.randint(0, 2 ** rng.choice((3, 20, 40, 55, 59, 61, 62, 63, 64)))

    def view() -> StridedView:
        axes = rng.randint(0, 3)
        extents = tuple(rng.choice((0, 1, 1, 2, 3, 2**30, 2**55)) for _ in range(axes))
        return StridedView(number(), extents, tuple(number() for _ in range(axes)))

    views = tuple(view() for _ in range(rng.randint(1, 4)))
    agree(Tiling(abs(number()), views))
    agree(SameAddresses(views[:1], views[1:]))


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_T1_normal_forms_visit_what_single_views_visit(rng: random.Random) -> None:
    """Which axes are merged may depend on the order in which they are looked at; what they visit does not."""
    views = [view for kind in ("tiling", "packing") for view in GENERATORS[kind](rng).views]
    views = [view for view in views if all(s or n < 2 for s, n in zip(view.strides, view.shape, strict=True))]
    found = normal_views(views)
    expected = [normal for view in views if (normal := normal_form(view)) is not None]
    assert found is not None
    assert found.highest.tolist() == [normal.highest for normal in expected]
    rows = zip(found.offsets.tolist(), found.strides.tolist(), found.extents.tolist(), strict=True)
    for (offset, strides, extents), normal in zip(rows, expected, strict=True):
        moving = [(stride, extent) for stride, extent in zip(strides, extents, strict=True) if stride]
        assert [stride for stride, _ in moving] == sorted(stride for stride, _ in moving)
        assert all(extent > 1 for _, extent in moving)
        assert all(high != low * extent for (low, extent), (high, _) in pairwise(moving))
        assert addresses(offset, moving) == addresses(normal.offset, normal.axes)


def addresses(offset: int, axes: Iterable[tuple[int, int]]) -> Counter[int]:
    visits = [offset]
    for stride, extent in axes:
        visits = [address + stride * k for address in visits for k in range(extent)]
    return Counter(visits)


# Budgets.


def unrelated(count: int) -> list[StridedView]:
    """A component for each prime-like stride: as many kinds of components as views."""
    views, start = [], 0
    for k in range(count):
        stride = 2 * k + 3
        views.append(StridedView(start, (2,), (stride,)))
        views.append(StridedView(start + 1, (stride - 1,), (1,)))
        start += stride + 1
    return views


def test_too_many_kinds_of_components_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    views = unrelated(20)
    size = max(view.highest for view in views) + 1
    assert isinstance(agree(Tiling(size, tuple(views))), Holds)
    monkeypatch.setattr(bulk, "BATCHES", 19)
    answer = BULK.decide(Tiling(size, tuple(views)), BUDGET)
    assert isinstance(answer, Unknown)
    assert answer.code == "SM902"


def test_a_component_that_was_skipped_leaves_the_least_place_below_it_only() -> None:
    many = StridedView(100, (2,) * 4, (1, 3, 7, 15))
    tight = Budget(distinct_strides=2)
    wrong_before = agree(Tiling(200, (*rows(4), moved(rows(5)[4], 1), many)), tight)
    assert isinstance(wrong_before, Fails)
    assert wrong_before.defect == Defect((32,), -1, least=True)
    wrong_after = agree(Tiling(200, (StridedView(0, (100,), (1,)), many)), tight)
    assert isinstance(wrong_after, Fails)
    assert not wrong_after.defect.least


def test_unit_boundaries_are_no_question_about_visits() -> None:
    answer = BULK.decide(UnitBoundaries(8, 2, (StridedView(0, (8,), (1,)),)), BUDGET)
    assert isinstance(answer, Unknown)
    assert answer.code == "SM901"


def test_small_questions_do_not_load_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def remember(name: str) -> object:
        asked.append(name)
        return CANCEL

    monkeypatch.setattr(portfolio, "engine_named", remember)
    Portfolio().decide(Tiling(8, tuple(rows(1))), BUDGET)
    assert asked == ["cancel"]
