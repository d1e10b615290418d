from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.symbolic.judging import start
from verifier.symbolic.polynomial import atom
from verifier.symbolic.size import _POLYNOMIAL, OutsideFragmentError, Size
from verifier.symbolic.tracing import Left, Raised, Run, Tracer, runs

Number = int | Size
Program = Callable[[Number, Number], Number]

NUMBERS = st.integers(-3, 6)
DIVISORS = st.integers(1, 5)
COMPARISONS = st.sampled_from((operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge))

programs: st.SearchStrategy[Program] = st.recursive(
    st.one_of(
        st.just(lambda a, b: a),
        st.just(lambda a, b: b),
        NUMBERS.map(lambda number: lambda a, b: number),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner, st.sampled_from((operator.add, operator.sub, operator.mul, min, max))).map(
            lambda it: lambda a, b: it[2](it[0](a, b), it[1](a, b))
        ),
        st.tuples(inner, DIVISORS, st.sampled_from((operator.floordiv, operator.mod))).map(
            lambda it: lambda a, b: it[2](it[0](a, b), it[1])
        ),
        st.tuples(inner, DIVISORS).map(lambda it: lambda a, b: -(-it[0](a, b) // it[1])),
        st.tuples(inner).map(lambda it: lambda a, b: abs(it[0](a, b)) + bool(it[0](a, b))),
        st.tuples(COMPARISONS, inner, inner, inner, inner).map(
            lambda it: lambda a, b: it[3](a, b) if it[0](it[1](a, b), it[2](a, b)) else it[4](a, b)
        ),
    ),
    max_leaves=6,
)


def traced(code: Callable[..., object], *names: str) -> list[Run[object]]:
    return list(runs(lambda tracer: code(*[Size(atom(name), tracer) for name in names]), start(*names)))


def at(run: Run[object], values: dict[str, int]) -> dict[str, int] | None:
    """The point of a run with these sizes, quotients and remainders filled in; None when it is none of it."""
    facts = run.facts
    for name in [*facts.solved, *facts.atoms_left()]:
        if name in values:
            continue
        base, sign, number = name.rpartition("//") if "//" in name else name.rpartition("%")
        if base.startswith("<"):
            return None
        value = eval(base, {}, _named(values)) if sign else None
        values = {**values, name: value // int(number) if sign == "//" else value % int(number)}
    return values if facts.holds_at(values) else None


def _named(values: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in values.items() if name.isidentifier()}


@settings(max_examples=300, deadline=None)
@given(programs)
def test_T19_each_point_goes_one_way_and_finds_there_what_numbers_give(program: Program) -> None:
    found = traced(program, "a", "b")
    if any(
        "//" in name.rstrip("0123456789")[:-2] or "%" in name.rstrip("0123456789")[:-1]
        for run in found
        for name in [*run.facts.solved, *run.facts.atoms_left()]
    ):
        return  # a quotient of a quotient; its name is no expression in sizes
    if any(name.startswith("<") for run in found for name in run.facts.atoms_left()):
        return
    for a, b in product(range(0, 12, 2), range(9)):
        values = {"a": a, "b": b}
        ways = [(run, point) for run in found if (point := at(run, values)) is not None]
        assert len(ways) == 1, (values, ways)
        ((run, point),) = ways
        assert not isinstance(run.outcome, Left | Raised), run.outcome
        expected = program(a, b)
        made = run.outcome
        if type(made) is Size:  # of a run that is over: it tells nobody else
            made = _POLYNOMIAL.__get__(made).value(point)
        assert made == expected


def test_ceil_chunks_need_one_way_for_each_number_of_full_chunks() -> None:
    def chunks(size: Number) -> list[Number]:
        step = (size + 7) // 8
        bounds = [min(k * step, size) for k in range(9)]
        return [high - low for low, high in pairwise(bounds)]

    found = traced(chunks, "n")
    assert len(found) == 8
    assert all(run.facts.found().point is not None for run in found)


def test_a_remainder_that_is_compared_with_every_rank_becomes_a_number() -> None:
    found = traced(lambda size: [size // 4 + (rank < size % 4) for rank in range(4)], "n")
    assert len(found) == 4
    assert sorted(str(run.facts.reduced(atom("n%4"))) for run in found) == ["0", "1", "2", "3"]


def test_exceptions_are_answers_and_their_conditions_are_known() -> None:
    def code(size: Number) -> Number:
        if size < 3:
            raise ValueError(f"{size} is too small")
        return size

    right, wrong = sorted(traced(code, "n"), key=lambda run: isinstance(run.outcome, Raised))
    assert isinstance(wrong.outcome, Raised)
    assert wrong.outcome.text == "ValueError: n is too small"
    assert right.facts.least["n"] == 3
    assert wrong.facts.most["n"] == 2


OUTSIDE: dict[str, Callable[[Size], object]] = {
    "range": lambda size: list(range(size)),
    "index": lambda size: [1, 2, 3][size],
    "repeat": lambda size: [0] * size,
    "int": int,
    "float": float,
    "true division": lambda size: size / 2,
    "fraction of a number": lambda size: 2 / size,
    "times a float": lambda size: size * 0.5,
    "float comparison": lambda size: size < 2.5,
    "float equality": lambda size: size == 2.0,
    "hash": lambda size: {size: 1},
    "set": lambda size: {size, 1},
    "power": lambda size: 2**size,
    "negative divisor": lambda size: size // -2,
    "symbolic divisor": lambda size: 7 // size,
    "format": lambda size: f"{size:d}",
    "swallowed": lambda size: _swallow(size),
}


def _swallow(size: Size) -> int:
    try:
        return int(float(size))
    except Exception:
        return 0


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_needs_the_number_is_outside_the_fragment(name: str) -> None:
    (run,) = traced(OUTSIDE[name], "n")
    assert isinstance(run.outcome, Left)
    assert run.outcome.reason


def test_division_that_comes_out_even_may_be_by_a_size() -> None:
    found = traced(lambda heads, width: (heads * width) // width, "heads", "width")
    assert sorted(str(run.outcome) for run in found if not isinstance(run.outcome, Raised)) == ["heads"]
    (refused,) = [run for run in found if isinstance(run.outcome, Raised)]
    assert isinstance(refused.outcome, Raised)
    assert isinstance(refused.outcome.error, ZeroDivisionError)
    assert refused.facts.reduced(atom("width")).constant == 0


def test_division_by_zero_raises_as_for_numbers() -> None:
    (run,) = traced(lambda size: size % 0, "n")
    assert isinstance(run.outcome, Raised)
    assert isinstance(run.outcome.error, ZeroDivisionError)


def test_a_loop_that_ends_at_a_size_has_no_last_way() -> None:
    def code(size: Number) -> int:
        done = 0
        while done < size:
            done += 1
        return done

    first = next(runs(lambda tracer: code(Size(atom("n"), tracer)), start("n")))
    assert isinstance(first.outcome, Left)
    assert "comparisons" in first.outcome.reason


def test_code_that_asks_otherwise_in_its_next_run_is_noticed() -> None:
    asked = iter(range(100))

    def code(size: Number) -> bool:
        return size < next(asked) or size > 50

    assert any(isinstance(run.outcome, Left) for run in traced(code, "n"))


def test_a_size_that_outlives_its_run_is_noticed() -> None:
    kept: list[Size] = []

    def code(size: Size) -> bool:
        kept.append(size)
        return kept[0] < 3

    assert any(isinstance(run.outcome, Left) for run in traced(code, "n"))
    with pytest.raises(OutsideFragmentError):
        bool(kept[0] < 3)


def test_sizes_are_not_equal_to_what_is_no_number() -> None:
    tracer = Tracer(start("n"), ())
    assert Size(atom("n"), tracer) != "n"
    assert Size(atom("n"), tracer) is not None
    assert not tracer.decisions
