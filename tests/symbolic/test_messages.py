"""Text of sizes: in the message of an error it does no harm, anywhere else it may decide what is built.

PYTEST_DONT_REWRITE: assertions here are constructors' own.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.symbolic.judging import outcome
from tests.symbolic.test_constructor import halves
from verifier import ShardMap
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.results import ProvedForAll, ProvedOnPart
from verifier.symbolic.search import Limits

TABLE: dict[str, Callable[[int], ShardMap]] = {"505": lambda n: halves(n + 1)}


class TooManyError(ValueError):
    def __init__(self, rows: int) -> None:
        super().__init__(f"{rows} rows are too many")


def refusal(rows: int) -> ValueError:
    return ValueError(f"{rows} rows are too many")


def in_the_statement(n: int) -> ShardMap:
    raise ValueError(f"{n:>5} rows are too many: {[n]!r}")


def before_the_statement(n: int) -> ShardMap:
    message = "{} rows are too many".format(n)  # noqa: UP032 - one more way to make text
    raise ValueError(message)


def by_a_function(n: int) -> ShardMap:
    raise refusal(n)


def by_the_exception(n: int) -> ShardMap:
    raise TooManyError(n)


def by_an_assertion(n: int) -> ShardMap:
    assert n < 0, f"{n} rows"
    return halves(n)


def in_other_words(n: int) -> ShardMap:
    try:
        return by_a_function(n)
    except ValueError as error:
        raise TypeError(f"no map: {error}") from error


def of_several(n: int) -> ShardMap:
    raise ValueError(", ".join(str(one) for one in (n, n + 1)) + " rows")


@pytest.mark.parametrize(
    "refusing",
    [
        in_the_statement,
        before_the_statement,
        by_a_function,
        by_the_exception,
        by_an_assertion,
        in_other_words,
        of_several,
    ],
)
def test_text_in_a_message_is_harmless(refusing: Callable[[int], ShardMap]) -> None:
    found = outcome(lambda n: refusing(n) if n > 100 else halves(n), Sizes(n=size()))
    assert isinstance(found, ProvedForAll)
    assert len(found.refusals) in (1, 2)


def as_a_key(n: int) -> ShardMap:
    return TABLE[f"{n}"](n)


def as_a_key_that_is_missing(n: int) -> ShardMap:
    try:
        made = TABLE[str(n)]
    except KeyError:
        raise ValueError(f"no plan for {n} rows") from None
    return made(n)


def as_a_key_that_is_missing_somehow(n: int) -> ShardMap:
    try:
        made = TABLE[str(n)]
    except:  # noqa: E722 - no jump lies between
        raise ValueError(f"no plan for {n} rows") from None
    return made(n)


def as_a_key_that_is_looked_for(n: int) -> ShardMap:
    if str(n) in TABLE:
        return TABLE["505"](n)
    raise ValueError("no plan")


def as_an_argument(n: int) -> ShardMap:
    def planned(text: str) -> Callable[[int], ShardMap]:
        if text != "505":
            raise ValueError(text)
        return TABLE[text]

    return planned(f"{n}")(n)


@pytest.mark.parametrize(
    "looking",
    [
        as_a_key,
        as_a_key_that_is_missing,
        as_a_key_that_is_missing_somehow,
        as_a_key_that_is_looked_for,
        as_an_argument,
    ],
)
def test_text_that_decides_whether_there_is_a_map_is_no_refusal(looking: Callable[[int], ShardMap]) -> None:
    """At 505 the map is wrong, everywhere else there is an error or a right one."""
    found = outcome(lambda n: looking(n) if n > 100 else halves(n), Sizes(n=size()), limits=Limits(total=12))
    assert isinstance(found, ProvedOnPart)
    assert "the text of a size" in found.reason
