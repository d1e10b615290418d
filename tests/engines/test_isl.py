"""Theory: T8, T14. isl as a solver of pairs: right, bounded by its own count, and never a checkable proof."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import pytest

from tests.engines.adversarial import hard_pairs
from tests.engines.conformance import check
from tests.engines.questions import GENERATORS
from verifier.answers import Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import SolverClaim
from verifier.engines import isl
from verifier.engines.isl import IslEngine, solve_by_isl
from verifier.geometry.diophantine import Meet, meeting_by
from verifier.geometry.equations import Apart, TooHard, Values, linear_form
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import Packing, SameAddresses, Tiling

ENGINE = IslEngine()


def test_without_islpy_the_reason_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl, "is_installed", lambda: False)
    answer = ENGINE.decide(Tiling(1, (StridedView(0, (), ()),)), Budget())
    assert isinstance(answer, Unknown)
    assert answer.code == "SM901"
    assert "islpy is not installed" in answer.reason


def test_other_questions_are_outside_the_fragment() -> None:
    answer = ENGINE.decide(SameAddresses((), ()), Budget())
    assert isinstance(answer, Unknown)
    assert answer.code == "SM901"


class TestWithIslpy:
    """What needs the library."""

    @pytest.fixture(autouse=True)
    def _islpy(self) -> None:
        pytest.importorskip("islpy")

    @pytest.mark.parametrize("kind", ["tiling", "packing"])
    def test_T8_answers_agree_with_listing(self, kind: str) -> None:
        rng = random.Random(f"isl {kind}")
        outcomes: Counter[str] = Counter()
        for _ in range(150):
            answer = check(ENGINE, GENERATORS[kind](rng))
            outcomes[type(answer).__name__] += 1
            if isinstance(answer, Holds):
                assert isinstance(answer.form, SolverClaim)
                assert answer.form.solver == "isl"
                assert answer.form.version
        assert outcomes["Holds"] >= 40
        assert outcomes["Fails"] >= 40
        assert outcomes["Unknown"] == 0

    def test_T14_knapsacks_at_the_frobenius_number_are_decided_in_few_operations(self) -> None:
        outcomes: Counter[bool] = Counter()
        for pair in (p for p in hard_pairs() if p.family == "knapsack"):
            found = meeting_by(pair.left, pair.right, partial(solve_by_isl, operations=3_000))
            match found:
                case Meet():
                    assert pair.left.address(found.left) == pair.right.address(found.right)
                    assert pair.meets
                case Apart(method):
                    assert method == "solver"
                    assert not pair.meets
                case TooHard():
                    pytest.fail(f"{pair}")
            outcomes[pair.meets] += 1
        assert outcomes == {False: 8, True: 4}

    def test_the_operation_limit_stops_it(self) -> None:
        pair = next(p for p in hard_pairs() if p.family == "near-critical" and len(p.left.shape) == 6)
        limited = partial(solve_by_isl, operations=100)
        assert meeting_by(pair.left, pair.right, limited) == TooHard(0)
        left, right = (
            StridedView(view.offset + 10**9, view.shape, view.strides) for view in (pair.left, pair.right)
        )
        answer = ENGINE.decide(Packing(10**12, (left, right)), Budget(isl_operations=100))
        assert isinstance(answer, Unknown | Fails)
        if isinstance(answer, Unknown):
            assert answer.code == "SM903"
            assert "100 operations" in answer.reason

    def test_integers_of_any_size(self) -> None:
        huge = 10**40
        form = linear_form(((huge + 1, 5), (huge + 3, 5), (2 * huge + 5, 5)))
        total = 3 * (huge + 1) + 4 * (huge + 3) + 2 * (2 * huge + 5)
        found = solve_by_isl(form, total, operations=3_000)
        assert isinstance(found, Values)
        assert sum(c * x for c, x in zip(form.coefficients, found.values, strict=True)) == total
        assert isinstance(solve_by_isl(form, total + 10**6, operations=3_000), Apart)

    def test_a_false_point_of_isl_refutes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        form = linear_form(((7, 50), (11, 50)))
        assert isinstance(solve_by_isl(form, 60, operations=3_000), Values)
        monkeypatch.setattr(isl, "_text", lambda form, total: "{ [x0, x1] : x0 = 1 and x1 = 1 }")
        assert solve_by_isl(form, 60, operations=3_000) == TooHard(0)
