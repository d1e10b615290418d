"""Theory: T8, T14. Hard pairs, budgets and what an undecided answer says."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.engines.adversarial import hard_pairs, pair_with_sum
from tests.engines.conformance import check
from tests.engines.questions import GENERATORS
from verifier.answers import Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Pairs, SolverClaim
from verifier.engines import search
from verifier.engines.pigeonhole import Fact, facts
from verifier.engines.search import HALVES_CLAIM, SearchEngine, decide_facts
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import Packing, SameAddresses, SamePairs, Tiling, UnitBoundaries

ENGINE = SearchEngine()

TIGHT = Budget(search_nodes=40_000, isl_operations=10_000)
"""What the sixty hard pairs may cost each: about 0.2 s of search, or 1 s of isl."""


@pytest.mark.parametrize("kind", ["tiling", "packing"])
def test_T8_pairs_agree_with_listing(kind: str) -> None:
    rng = random.Random(f"search {kind}")
    outcomes: Counter[str] = Counter()
    for _ in range(500):
        answer = check(ENGINE, GENERATORS[kind](rng))
        outcomes[type(answer).__name__] += 1
        if isinstance(answer, Holds):
            assert isinstance(answer.form, Pairs)
    assert outcomes["Holds"] >= 150
    assert outcomes["Fails"] >= 150
    assert outcomes["Unknown"] == 0


def test_T14_sixty_hard_pairs_are_decided_within_a_tight_budget() -> None:
    pytest.importorskip("islpy")
    evidence: Counter[str] = Counter()
    for pair in hard_pairs():
        answer = decide_facts([Fact(pair.left, pair.right)], TIGHT, most=1)
        match answer:
            case Holds(form):
                assert not pair.meets, pair
                evidence[form.solver if isinstance(form, SolverClaim) else form.form] += 1
            case Fails(defect):
                assert pair.meets, pair
                assert defect.place is not None
                evidence["meet"] += 1
            case Unknown(_, reason):
                pytest.fail(reason)
    assert evidence.total() == 60
    assert evidence["pairs"] >= 20
    assert evidence["isl"] >= 5
    assert evidence["meet"] >= 15


def test_T14_sixty_hard_pairs_without_isl_are_decided_rightly_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "is_installed", lambda: False)
    outcomes: Counter[str] = Counter()
    for pair in hard_pairs():
        answer = decide_facts([Fact(pair.left, pair.right)], TIGHT, most=1)
        outcomes[type(answer).__name__] += 1
        match answer:
            case Holds():
                assert not pair.meets, pair
            case Fails():
                assert pair.meets, pair
            case Unknown(code, reason):
                assert code == "SM902"
                assert "40000 nodes" in reason
                assert "islpy is not installed" in reason
    assert outcomes["Holds"] >= 20
    assert outcomes["Fails"] >= 10
    assert outcomes["Unknown"] >= 5


def test_a_pair_proved_by_two_lists_of_sums_says_so() -> None:
    pair = next(p for p in hard_pairs() if p.family == "near-critical" and not p.meets)
    answer = decide_facts([Fact(pair.left, pair.right)], Budget(search_nodes=40_000), most=1)
    assert answer == Holds(HALVES_CLAIM, "search")


def test_the_work_of_a_proof_counts_facts_and_nodes() -> None:
    left, right = pair_with_sum([(7, 50), (11, 50)], 59)
    lowest = min(left.lowest, right.lowest)
    views = tuple(StridedView(view.offset - lowest, view.shape, view.strides) for view in (left, right))
    assert ENGINE.decide(Packing(10**4, views), Budget()) == Holds(Pairs(3), "search")


def test_one_hard_fact_does_not_starve_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The collision comes after a fact that would spend everything."""
    monkeypatch.setattr(search, "is_installed", lambda: False)
    hard = next(p for p in hard_pairs() if p.family == "knapsack" and not p.meets and len(p.left.shape) > 2)
    left, right = pair_with_sum([(9_973, 10**6), (10_007, 10**6), (10_009, 10**6)], 123_456_789)
    claims = [Fact(hard.left, hard.right), Fact(left, right)]
    answer = decide_facts(claims, Budget(search_nodes=3_000), most=2)
    assert isinstance(answer, Fails)
    assert isinstance(decide_facts(claims[:1], Budget(search_nodes=3_000), most=2), Unknown)


def test_more_pairs_than_the_budget_are_undecided_unless_the_count_refutes() -> None:
    columns = tuple(StridedView(k, (100,), (30,)) for k in range(30))
    answer = ENGINE.decide(Tiling(3000, columns), Budget(pairs=100))
    assert isinstance(answer, Unknown)
    assert answer.code == "SM902"
    assert "100 pairs" in answer.reason
    assert isinstance(ENGINE.decide(Tiling(3000, columns), Budget(pairs=435)), Holds)
    without_one = (*columns[:7], *columns[8:])
    assert ENGINE.decide(Tiling(3000, without_one), Budget(pairs=0)) == Fails(
        Defect(None, None, least=False), "search"
    )


def test_views_whose_hulls_do_not_meet_are_no_pair() -> None:
    rows = [StridedView(8 * k, (8,), (1,)) for k in range(1000)]
    assert sum(fact.other is not None for fact in facts(rows)) == 0
    assert ENGINE.decide(Tiling(8000, tuple(reversed(rows))), Budget(pairs=0)) == Holds(Pairs(1000), "search")


@pytest.mark.parametrize(
    ("question", "defect"),
    [
        (
            Packing(4, (StridedView(-2, (2,), (1,)), StridedView(0, (9,), (1,)))),
            Defect((-2,), 1, least=True),
        ),
        (Packing(4, (StridedView(0, (9,), (1,)),)), Defect((8,), 1, least=False)),
        (Packing(4, (StridedView(1, (2,), (0,)),)), Defect((1,), None, least=False)),
        (Tiling(4, (StridedView(1, (3,), (1,)),)), Defect((0,), -1, least=True)),
        (Tiling(4, (StridedView(0, (2,), (1,)), StridedView(3, (), ()))), Defect((2,), -1, least=False)),
        (Tiling(4, (StridedView(0, (2,), (3,)),)), Defect(None, None, least=False)),
        (
            Tiling(3, (StridedView(0, (2,), (1,)), StridedView(1, (2,), (1,)))),
            Defect((1,), None, least=False),
        ),
    ],
)
def test_what_a_refutation_shows(question: Tiling | Packing, defect: Defect) -> None:
    assert ENGINE.decide(question, Budget()) == Fails(defect, "search")


@pytest.mark.parametrize("question", [SameAddresses((), ()), SamePairs((), ()), UnitBoundaries(4, 2, ())])
def test_other_questions_are_outside_the_fragment(
    question: SameAddresses | SamePairs | UnitBoundaries,
) -> None:
    answer = ENGINE.decide(question, Budget())
    assert isinstance(answer, Unknown)
    assert answer.code == "SM901"
    assert type(question).__name__ in answer.reason


def test_an_undecided_answer_names_the_views_and_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "is_installed", lambda: False)
    pair = next(p for p in hard_pairs() if p.family == "knapsack")
    answer = decide_facts([Fact(pair.left, pair.right)], Budget(search_nodes=500), most=1)
    assert isinstance(answer, Unknown)
    for part in (str(pair.left.strides), str(pair.right.offset), "hulls", "residues", "500 nodes"):
        assert part in answer.reason
