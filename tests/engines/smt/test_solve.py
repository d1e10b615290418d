"""The solver under its limit, and minimisation on top of it."""

from __future__ import annotations

import random
import subprocess
import sys

import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.budget import Budget
from verifier.engines.smt.minimise import Least, Query, least
from verifier.engines.smt.solve import Doubt, LimitedSolver

KNAPSACK = (10_007, 20_011, 30_011, -40_009, -50_021, -60_013)
"""Coefficients of a sum that z3 takes long to make equal to something."""


def hard(place: z3.ArithRef) -> list[z3.BoolRef]:
    weights = [z3.Int(f"w{k}", place.ctx) for k in range(len(KNAPSACK))]
    bounds = [bound for weight in weights for bound in (weight >= 0, weight < 50)]
    total = z3.Sum([c * weight for c, weight in zip(KNAPSACK, weights, strict=True)])
    return [*bounds, total == place]


def test_asking_for_engines_does_not_load_z3() -> None:
    script = (
        "import sys, verifier.engines.smt as smt, verifier.engines.registry as registry;"
        "registry.engine_named('smt');"
        "sys.exit('z3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@settings(max_examples=40, deadline=None)
@given(
    places=st.lists(st.integers(-(2**70), 2**70), max_size=6),
    low=st.integers(-(2**70), 0),
    high=st.integers(0, 2**70),
)
def test_the_least_of_several_queries(places: list[int], low: int, high: int) -> None:
    queries = [Query(low, high, lambda place, p=p: [place == p]) for p in places]  # type: ignore[misc]
    inside = [p for p in places if low <= p <= high]
    assert least(LimitedSolver(1_000_000, 10.0), queries) == Least(min(inside, default=None))


def test_minimisation_goes_down_to_a_residue() -> None:
    query = Query(-(10**18), 10**18, lambda place: [place % 1009 == 5, place > 12_345_678_901])
    found = least(LimitedSolver(1_000_000, 10.0), [query])
    assert found == Least(next(p for p in range(12_345_678_902, 12_345_680_000) if p % 1009 == 5))


def test_a_known_place_is_only_undercut() -> None:
    query = Query(0, 9, lambda place: [place >= 4])
    assert least(LimitedSolver(100_000, 10.0), [query], known=Least(3)) == Least(3)
    assert least(LimitedSolver(100_000, 10.0), [query], known=Least(7)) == Least(4)
    doubt = Doubt("SM903", "asked before")
    assert least(LimitedSolver(100_000, 10.0), [query], known=Least(7, doubt)) == Least(4, doubt)


def test_z3_stops_at_its_limit_and_stays_stopped() -> None:
    solver = LimitedSolver(20_000, 10.0)
    place = z3.Int("place", solver.context)
    first = solver.value(place, [place == 77_777, *hard(place)])
    assert isinstance(first, Doubt)
    assert first.code == "SM903"
    spent = int(first.reason.split(" at ")[1].split()[0])
    assert 20_000 <= spent < 22_000
    assert solver.value(place, [place == 1]) == Doubt("SM903", "rlimit 20000 is spent")


def test_a_doubt_that_the_clock_made_says_so() -> None:
    solver = LimitedSolver(10**9, 0.05)
    place = z3.Int("place", solver.context)
    stopped = Doubt(
        "SM903",
        "the clock stopped z3 after 0.05 s, before its rlimit 1000000000 was spent:"
        " a faster machine may get further",
    )
    assert solver.value(place, [place == 77_777, *hard(place)]) == stopped
    assert solver.value(place, [place == 1]) == stopped


def test_by_default_the_count_decides_and_not_the_clock() -> None:
    """A machine would have to be ten times as slow as this one, which may be a busy one."""
    budget = Budget()
    solver = LimitedSolver(budget.z3_rlimit, budget.kill_seconds / 10)
    place = z3.Int("place", solver.context)
    doubt = solver.value(place, [place == 77_777, *hard(place)])
    assert isinstance(doubt, Doubt)
    assert doubt.reason.endswith(f"of rlimit {budget.z3_rlimit}")


def test_the_same_work_gives_the_same_doubt() -> None:
    def ask() -> int | Doubt | None:
        solver = LimitedSolver(30_000, 10.0)
        place = z3.Int("place", solver.context)
        return solver.value(place, [place == 77_777, *hard(place)])

    first = ask()
    noise = random.Random(17)
    for _ in range(20):
        z3.Solver().check(z3.Int("noise") > noise.randint(0, 9))
    assert ask() == first


def test_a_place_found_before_the_limit_is_kept_but_not_called_least() -> None:
    easy = Query(0, 10**9, lambda place: [place == 5_000_000])
    found = least(LimitedSolver(30_000, 10.0), [easy, Query(77_777, 77_777, hard)])
    assert found.place == 5_000_000
    assert found.doubt is not None
    assert found.doubt.code == "SM903"
