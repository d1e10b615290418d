"""Where the engine stops short of a full answer; the rest is in the conformance suite."""

from __future__ import annotations

import random

import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.questions import arbitrary
from verifier.answers import Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import SolverClaim
from verifier.engines.smt import SmtEngine
from verifier.engines.smt.meeting import meeting, neighbours
from verifier.geometry.strided import NormalView, StridedView, normal_form
from verifier.obligations.questions import Packing, SameAddresses, Tiling, UnitBoundaries

ENGINE = SmtEngine()

LONG = StridedView(0, (1000, 1000), (1000, 1001))
"""Injective, but its axes fall into too many nested parts for a membership formula."""


@settings(max_examples=60, deadline=None)
@given(rng=st.randoms(use_true_random=False), apart=st.integers(0, 2))
def test_meeting_is_all_pairs_of_hulls(rng: random.Random, apart: int) -> None:
    found = [normal_form(arbitrary(rng).view()) for _ in range(rng.randint(0, 8))]
    views = [view for view in found if view is not None]
    near = {
        (j, k)
        for j, left in enumerate(views)
        for k, right in enumerate(views)
        if j < k and max(left.offset, right.offset) <= min(left.highest, right.highest) + apart
    }
    pairs = meeting(views, 99, apart=apart)
    assert pairs is not None
    assert sorted(tuple(sorted(pair)) for pair in pairs) == sorted(near)
    assert (meeting(views, max(0, len(near) - 1), apart=apart) is None) == bool(near)
    around = neighbours(views, 99, apart=apart)
    assert around is not None
    assert [views[k].offset for k, _ in around] == sorted(view.offset for view in views)
    for k, positions in around:
        assert sorted(positions) == [j for j in range(len(views)) if j == k or {(j, k), (k, j)} & near]


def test_meeting_is_ordered_by_where_the_hulls_meet() -> None:
    views = [NormalView(offset, ((1, 10),)) for offset in (8, 0, 4)]
    assert meeting(views, 3) == [(1, 2), (1, 0), (2, 0)]


def test_the_evidence_names_the_solver() -> None:
    answer = ENGINE.decide(Tiling(4, (StridedView(0, (4,), (1,)),)), Budget())
    assert answer == Holds(SolverClaim("z3", z3.get_version_string()), "smt")


def test_T8_a_hole_that_no_formula_finds_is_still_counted() -> None:
    size = LONG.highest + 1
    assert ENGINE.decide(Tiling(size, (LONG,)), Budget()) == Fails(Defect(None, None, least=False), "smt")
    assert isinstance(ENGINE.decide(Packing(size, (LONG,)), Budget()), Holds)


def test_T8_an_overlap_that_no_budget_finds_is_still_counted() -> None:
    views = tuple(StridedView(k, (4,), (1,)) for k in range(4))
    answer = ENGINE.decide(Packing(7, views), Budget(pairs=1))
    assert answer == Fails(Defect(None, None, least=False), "smt")


def test_an_overlap_is_not_called_least_where_holes_are_out_of_reach() -> None:
    question = Tiling(
        LONG.highest + 1, (LONG, StridedView(2_001, (1,), (1,)), StridedView(1_000, (1,), (1,)))
    )
    answer = ENGINE.decide(question, Budget())
    assert isinstance(answer, Fails)
    assert answer.defect.place == (1_000,)
    assert not answer.defect.least


def test_views_without_a_membership_formula_are_outside_the_fragment() -> None:
    questions = (
        SameAddresses((LONG,), (StridedView(0, (10,), (1,)),)),
        UnitBoundaries(LONG.highest + 1, 4, (LONG,)),
    )
    for question in questions:
        answer = ENGINE.decide(question, Budget())
        assert isinstance(answer, Unknown)
        assert answer.code == "SM901"
        assert "nested parts" in answer.reason


def test_too_many_pairs_are_over_budget() -> None:
    views = tuple(StridedView(k, (4,), (4,)) for k in range(4))
    for question in (Tiling(16, views), UnitBoundaries(16, 4, views), SameAddresses(views, ())):
        answer = ENGINE.decide(question, Budget(pairs=5))
        assert isinstance(answer, Unknown)
        assert answer.code == "SM902"
        assert not isinstance(ENGINE.decide(question, Budget(pairs=6)), Unknown)


def test_equal_views_on_both_sides_need_no_formula() -> None:
    assert isinstance(ENGINE.decide(SameAddresses((LONG,), (LONG,)), Budget(z3_rlimit=1)), Holds)
