"""Where a proof is not to be had: what is tried, how small failures get, and what is said of errors."""

from __future__ import annotations

from threading import local

import pytest

from tests.symbolic.judging import outcome
from tests.symbolic.test_constructor import cut, halves
from verifier import ShardMap
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.results import ProvedOnPart, RefutedAt, Undecided
from verifier.symbolic.search import MOST_UNSEEN, Limits

N = Sizes(n=size())


def broken(n: int) -> ShardMap:
    return cut(n, [0, n // 2], [n // 2 + 1, n - n // 2])


def test_errors_outside_the_fragment_are_told_and_are_no_maps() -> None:
    def listed(n: int) -> ShardMap:
        if len(range(n)) % 5 == 4:
            raise KeyError("four")
        return halves(n)

    found = outcome(listed, N, limits=Limits(total=9))
    assert isinstance(found, ProvedOnPart)
    assert found.judged == 8
    (refusal,) = found.refusals
    assert (refusal.sizes, refusal.error, refusal.condition) == ({"n": 4}, "KeyError: 'four'", None)


def test_nothing_is_proved_of_what_always_raises() -> None:
    def never(n: int) -> ShardMap:
        raise KeyError(len(range(n)))

    found = outcome(never, N, limits=Limits(total=9))
    assert isinstance(found, Undecided)
    assert "raises for all small sizes" in found.reason


def test_addresses_beyond_64_bits_are_no_failure() -> None:
    def unseen(n: int) -> ShardMap:
        return halves(n) if n < 2**64 else halves(n * (n + 1) // (n + 1) + 0 * (n // (n + 1)))

    found = outcome(unseen, N, limits=Limits(total=9))
    assert not isinstance(found, RefutedAt)


def test_code_of_which_nothing_is_known_does_not_run_at_large_sizes() -> None:
    asked: list[int] = []

    def looping(n: int) -> ShardMap:
        if n > 10 * MOST_UNSEEN:
            asked.append(len(range(n)))
        return halves(n)

    found = outcome(looping, N, limits=Limits(total=9))
    assert isinstance(found, ProvedOnPart)
    assert asked == []


@pytest.mark.parametrize("first", [70, 1_000, 4_097, 1_234_567])
def test_a_failure_of_large_sizes_is_made_small_in_few_steps(first: int) -> None:
    kept = local()  # what it keeps is not seen
    kept.calls = 0

    def late(n: int) -> ShardMap:
        kept.calls += 1
        return broken(n) if n * n >= first * first else halves(n)

    found = outcome(late, N)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": first}
    assert not found.least
    assert kept.calls < 600


def test_a_failure_is_made_small_across_ways() -> None:
    found = outcome(lambda n: broken(n) if abs(n - 505) < 3 else halves(n), N)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 503}


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda n: halves(n) if n * n < n - 1 else broken(n), None),
        (lambda n: broken(n) if n * n < n - 1 else halves(n), "every element of the parameter is held once"),
        (lambda n: broken(n) if n * n < n - 1 else halves(n), "where n >= n*n + 2"),
        (lambda n: halves(n) if n < 9 else halves(len(range(n))), "where n >= 9"),
    ],
)
def test_what_is_open_is_said_with_its_sizes(made: object, words: str | None) -> None:
    found = outcome(made, N, limits=Limits(total=12))
    if words is None:
        assert isinstance(found, RefutedAt)
    else:
        assert isinstance(found, ProvedOnPart)
        assert words in found.reason
