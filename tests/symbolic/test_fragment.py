"""What a size does with whatever code asks of it: a number's answer, or a way that leaves the fragment."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.symbolic.judging import outcome, proved
from tests.symbolic.test_constructor import cut, halves
from verifier import ShardMap
from verifier.symbolic import tracing
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.results import ProvedForAll, ProvedOnPart, RefutedAt
from verifier.symbolic.search import Limits

N = Sizes(n=size())
SPECIAL = 505
"""A size that no search for small ones reaches."""


def broken(n: int) -> ShardMap:
    return cut(n, [0, n // 2], [n // 2 + 1, n - n // 2])


@dataclass
class Plan:
    """Arguments that are handed on in one."""

    rows: int
    ranks: int = 2


@pytest.mark.parametrize(
    "same",
    [
        copy.copy,
        copy.deepcopy,
        round,
        math.floor,
        math.ceil,
        math.trunc,
        lambda n: asdict(Plan(n))["rows"],
        lambda n: copy.deepcopy([n, {"n": n}])[1]["n"],
        lambda n: (n << 3) >> 3,
        lambda n: n + (n >> 1) - n // 2,
    ],
)
def test_what_a_number_would_give_is_given(same: Callable[[int], int]) -> None:
    """Both ways: right maps are proved, and a special size is not lost on the way."""
    proved(lambda n: halves(same(n)), N)
    found = outcome(lambda n: broken(n) if same(n) == SPECIAL else halves(n), N)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": SPECIAL}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (lambda n: n & 1023, "the bits of a size"),
        (lambda n: 1023 & n, "the bits of a size"),
        (lambda n: n | 0, "the bits of a size"),
        (lambda n: n ^ 0, "the bits of a size"),
        (lambda n: ~n, "the bits of a size"),
        (lambda n: 1 << n, "the bits of a size"),
        (lambda n: n << 65, "the bits of a size"),
        (lambda n: pickle.loads(pickle.dumps(n)), "loads, which may look at how a value is stored"),
        (lambda n: round(n, -1), "a size rounded to tens"),
        (lambda n: pow(n, 2, 7), "a power of a size with a modulus"),
        (lambda n: n**17, "the power 17 of a size"),
    ],
)
def test_what_a_size_cannot_tell_leaves_the_fragment_even_where_it_is_caught(
    asked: Callable[[int], object], reason: str
) -> None:
    def sniffing(n: int) -> ShardMap:
        try:
            asked(n)
        except Exception:
            return halves(n)
        return broken(n) if n == SPECIAL else halves(n)

    found = outcome(sniffing, N, limits=Limits(total=12))
    assert isinstance(found, ProvedOnPart)
    assert reason in found.reason


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(2, 6), st.integers(2, 6))
def test_quotients_of_multiples_are_no_multiples_of_quotients(a: int, b: int, c: int) -> None:
    """Whether two such numbers are always equal is not decided by what they are called."""

    def differ(n: int) -> bool:
        return (a * n // b) // c != (a * (n // b)) // c

    found = outcome(lambda n: broken(n) if differ(n) else halves(n), N, limits=Limits(total=30))
    first = next((n for n in range(31) if differ(n)), None)
    if first is None:
        assert not isinstance(found, RefutedAt)
    else:
        assert isinstance(found, RefutedAt)
        assert found.sizes == {"n": first}


def test_an_instance_of_the_constructors_own_class_stays_one() -> None:
    class Table:
        def half(self, n: int) -> int:
            return int(n) // 2

    def checked(n: int, table: object) -> ShardMap:
        if not isinstance(table, Table):
            raise TypeError("no table")
        match table:
            case Table():
                return halves(n)
        return broken(n)

    assert not proved(checked, Sizes(n=size(), table=Table())).refusals


class RefusedError(ValueError):
    """An exception with a method, so that it would be copied were it another class."""

    def __str__(self) -> str:
        return "refused"


def test_exceptions_of_the_constructors_own_are_the_same_on_symbolic_sizes() -> None:
    def refusing(n: int) -> ShardMap:
        class InnerError(ValueError):
            pass

        if n == 5:
            raise RefusedError
        if n == 6:
            raise InnerError("six")
        try:
            if n == 7:
                raise RefusedError
        except RefusedError:
            return halves(7)
        return halves(n)

    assert [one.error for one in proved(refusing, N).refusals] == ["RefusedError: refused", "InnerError: six"]


def test_a_refusal_is_told_in_the_words_of_its_sizes() -> None:
    def limited(n: int) -> ShardMap:
        if n > 10:
            raise ValueError(f"{n:,} rows")
        return halves(n)

    (refusal,) = proved(limited, N).refusals
    assert refusal.sizes is not None
    assert refusal.error == f"ValueError: {refusal.sizes['n']} rows"


def test_a_loop_that_divides_a_size_away_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(n: int) -> ShardMap:
        rest = n
        while rest > 1:
            rest //= 2
        return halves(n)

    monkeypatch.setattr(tracing, "MOST_CLAIMS", 2_000)
    found = outcome(doubled, N, limits=Limits(total=12))
    assert isinstance(found, ProvedOnPart)
    assert "the budget of the proof" in found.reason


def test_a_recursion_that_only_symbolic_sizes_end_is_no_refusal() -> None:
    def counted(n: int) -> int:
        return 0 if n <= 0 else 1 + sum([counted(n - 1) for _ in [0]])

    def recursive(n: int) -> ShardMap:
        try:
            return halves(counted(n))
        except RecursionError:
            return broken(n)

    found = outcome(recursive, N, limits=Limits(ways=30, total=5))
    assert not isinstance(found, ProvedForAll)
