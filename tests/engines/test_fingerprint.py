"""Fingerprints: certain when they differ, honest when they agree, the same however a set is cut."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.questions import Block, arbitrary, recut, strategy, with_wrong_number
from verifier.answers import Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.engines.enumerate import EnumerateEngine
from verifier.engines.fingerprint import POINTS, PRIME, FingerprintEngine, fingerprint
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    Tiling,
    UnitBoundaries,
)

ENGINE = FingerprintEngine()
RANDOMS = st.randoms(use_true_random=False)


@settings(max_examples=80, deadline=None)
@given(question=st.one_of(strategy("tiling"), strategy("same-addresses"), strategy("same-pairs")))
def test_T13_points_differ_just_where_the_multisets_do(question: Question) -> None:
    truth = EnumerateEngine().decide(question, Budget())
    answer = ENGINE.decide(question, Budget())
    if isinstance(truth, Holds):
        assert isinstance(answer, Unknown)
        assert answer.code == "SM901"
        assert "probabilistic, not a proof" in answer.reason
    else:
        assert answer == Fails(Defect(None, None, least=False), "fingerprint")


@pytest.mark.parametrize("question", [Packing(3, ()), UnitBoundaries(3, 1, ())])
def test_inequalities_are_no_identities(question: Question) -> None:
    answer = ENGINE.decide(question, Budget())
    assert isinstance(answer, Unknown)
    assert answer.code == "SM901"


@settings(max_examples=40, deadline=None)
@given(rng=RANDOMS, spaces=st.sampled_from([1, 2]))
def test_the_digest_does_not_depend_on_the_cut(rng: random.Random, spaces: int) -> None:
    blocks = [arbitrary(rng, spaces) for _ in range(3)]
    read = (lambda block: block.view()) if spaces == 1 else (lambda block: block.pair())
    assert fingerprint(map(read, blocks)) == fingerprint(map(read, recut(rng, blocks)))


def test_the_digest_tells_wrong_numbers_apart() -> None:
    rng = random.Random(13)
    different = 0
    for _ in range(200):
        blocks = [arbitrary(rng, 2) for _ in range(2)]
        wrong = with_wrong_number(rng, blocks)
        same = fingerprint(b.pair() for b in blocks) == fingerprint(b.pair() for b in wrong)
        assert same == (visits(blocks) == visits(wrong))
        different += not same
    assert different >= 100


def visits(blocks: list[Block]) -> list[tuple[int, ...]]:
    return sorted(point for block in blocks for point in block.points())


def test_the_digest_tells_sources_from_dests() -> None:
    rows, columns = StridedView(0, (3, 4), (4, 1)), StridedView(0, (3, 4), (1, 3))
    assert fingerprint([PairView(rows, columns)]) != fingerprint([PairView(columns, rows)])


def test_T13_a_ratio_of_one_adds_up_instead_of_dividing() -> None:
    # x ** (PRIME - 1) is 1 for every x, so this stride looks like 0: the extents must still be told apart.
    still = StridedView(0, (3,), (PRIME - 1,))
    assert fingerprint([still]) == fingerprint([StridedView(0, (3,), (0,))])
    assert fingerprint([still]) == 3
    assert fingerprint([StridedView(0, (4,), (PRIME - 1,))]) == 4


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (SameAddresses((StridedView(0, (3,), (PRIME - 1,)),), (StridedView(0, (3,), (0,)),)), "span"),
        (SameAddresses((StridedView(0, (PRIME,), (0,)),), ()), "too many visits"),
    ],
)
def test_T13_different_multisets_may_agree_where_no_bound_is_given(question: Question, why: str) -> None:
    answer = ENGINE.decide(question, Budget())
    assert isinstance(answer, Unknown)
    assert "no bound on the error" in answer.reason
    assert why in answer.reason


def test_T13_the_error_is_stated() -> None:
    answer = ENGINE.decide(Tiling(9, (StridedView(8, (9,), (-1,)),)), Budget())
    assert isinstance(answer, Unknown)
    # A span of 8 takes 4 bits; the field has 2^127 - 2 nonzero elements, counted as 2^126.
    assert f"{POINTS} points (error at most 2^-{POINTS * 122})" in answer.reason


@settings(max_examples=30, deadline=None)
@given(rng=RANDOMS)
def test_huge_extents_cost_no_more(rng: random.Random) -> None:
    rows, width = rng.randint(2**40, 2**60), 2 * rng.randint(2**40, 2**60)
    halves = (
        StridedView(0, (rows, width // 2), (width, 1)),
        StridedView(width // 2, (rows, width // 2), (width, 1)),
    )
    assert isinstance(ENGINE.decide(Tiling(rows * width, halves), Budget()), Unknown)
    assert isinstance(ENGINE.decide(Tiling(rows * width + 1, halves), Budget()), Fails)
