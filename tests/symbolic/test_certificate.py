from __future__ import annotations

import pytest
import z3

from tests.symbolic.deepspeed_domains import CONSTRUCTORS
from tests.symbolic.judging import proved
from tests.symbolic.planted import chunked_rows
from verifier.symbolic.certificate import smt_lib
from verifier.symbolic.claims import Claim
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.paths import ProvedPath
from verifier.symbolic.polynomial import atom

CASES = {
    "chunked": lambda: (chunked_rows, Sizes(rows=size(), columns=size())),
    "fused": lambda: CONSTRUCTORS["fused"](2, 1, 4)[:2],
    "experts": lambda: CONSTRUCTORS["experts"](3, 0, 4)[:2],
}


@pytest.mark.parametrize("name", CASES)
def test_every_way_ends_in_what_came_of_it(name: str) -> None:
    found = proved(*CASES[name]())
    ends = [way.end for choice in found.certificate.choices for way in choice.ways]
    assert [end for end in ends if isinstance(end, ProvedPath)] == [*found.paths]
    assert {end for end in ends if isinstance(end, str)} <= {"outside", "raises", "nothing"}


@pytest.mark.parametrize("name", CASES)
def test_a_solver_that_reads_the_queries_finds_no_solution(name: str) -> None:
    queries = proved(*CASES[name]()).certificate.queries()
    assert queries
    for text in queries:
        solver = z3.SolverFor("QF_LIA")
        solver.from_string(text)
        assert solver.check() == z3.unsat


@pytest.mark.parametrize("name", CASES)
def test_a_second_solver_agrees(name: str) -> None:
    cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed")
    for text in proved(*CASES[name]()).certificate.queries():
        solver = cvc5.Solver()
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
        answers = []
        while not (command := parser.nextCommand()).isNull():
            answers.append(command.invoke(solver, parser.getSymbolManager()))
        assert "".join(answers).strip() == "unsat"


def test_the_tree_of_ways_leaves_nothing_out() -> None:
    """Every side that was not taken has a way of its own, or was shown to be empty."""
    paths = proved(chunked_rows, Sizes(rows=size(), columns=size())).paths
    taken = [[(str(one.claim), one.answer, one.forced) for one in path.decisions] for path in paths]
    for decisions in taken:
        for place, (claim, answer, forced) in enumerate(decisions):
            other = [*decisions[:place], (claim, not answer, False)]
            if not forced:
                assert any(path[: place + 1] == other for path in taken), other


def test_smt_lib_text() -> None:
    a, b = atom("a"), atom("b c")
    text = smt_lib([Claim(2 * a * b - a - 3, ">="), Claim(a - a, "!="), Claim(b, "==")])
    assert text.splitlines() == [
        "(set-logic QF_LIA)",
        "(declare-const u0 Int) ; a",
        "(declare-const u1 Int) ; a*b c",
        "(declare-const u2 Int) ; b c",
        "(assert (>= (+ (- 3) (* (- 1) u0) (* 2 u1)) 0))",
        "(assert (not (= 0 0)))",
        "(assert (= u2 0))",
        "(check-sat)",
    ]
