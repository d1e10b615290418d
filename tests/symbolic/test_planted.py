"""Planted bugs are refuted, at the sizes that a listing of all small sizes finds first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from itertools import product

import pytest

from fuzz.walk import walk
from tests.symbolic.judging import outcome, proved
from tests.symbolic.planted import BUGS, HARMLESS, chunked_rows
from verifier import Expectation, ShardMap
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.results import RefutedAt
from verifier.verdicts import Refuted

PLANTED = [(constructor, bug) for constructor, bugs in BUGS.items() for bug in bugs]


def names(constructor: Callable[..., ShardMap]) -> list[str]:
    return [name for name in signature(constructor).parameters if name not in ("bug", "ranks")]


def domain(constructor: Callable[..., ShardMap]) -> Sizes:
    return Sizes(**{name: size() for name in names(constructor)})


def by_sum(count: int) -> Iterator[tuple[int, ...]]:
    yield from sorted(product(range(9), repeat=count), key=lambda values: (sum(values), values))


def wrong_at(constructor: Callable[..., ShardMap], bug: str, values: dict[str, int]) -> bool:
    """Whether the planted map is wrong or another function than the right one, by walking both."""
    try:
        made = constructor(**values, bug=bug)
    except ValueError:
        return False
    return not walk(made, Expectation(reference=constructor(**values))).ok


@pytest.mark.parametrize("constructor", BUGS, ids=lambda one: one.__name__)
def test_without_a_bug_each_is_proved(constructor: Callable[..., ShardMap]) -> None:
    found = proved(constructor, domain(constructor))
    assert not found.refusals


@pytest.mark.parametrize(("constructor", "bug"), PLANTED, ids=lambda one: getattr(one, "__name__", one))
def test_a_planted_bug_is_refuted_at_the_smallest_sizes(
    constructor: Callable[..., ShardMap], bug: str
) -> None:
    over = Sizes(**{name: size() for name in names(constructor)}, bug=bug)
    found = outcome(constructor, over, reference=lambda bug, **sizes: constructor(**sizes))
    assert isinstance(found, RefutedAt), found
    first = next(
        values
        for one in by_sum(len(names(constructor)))
        if wrong_at(constructor, bug, values := dict(zip(names(constructor), one, strict=True)))
    )
    assert {name: found.sizes[name] for name in first} == first
    assert found.least
    assert isinstance(found.verdict, Refuted)


def test_there_are_enough_planted_bugs() -> None:
    assert len(PLANTED) >= 25


def test_a_sound_layout_of_another_kind_is_proved_by_itself_and_refuted_against_the_reference() -> None:
    for constructor, bugs in HARMLESS.items():
        for bug in bugs:
            over = Sizes(rows=size(), columns=size(), bug=bug)
            proved(constructor, over)
            found = outcome(
                constructor, over, reference=lambda rows, columns, bug: chunked_rows(rows, columns)
            )
            assert isinstance(found, RefutedAt)
            assert found.sizes == {"rows": 3, "columns": 0, "bug": bug}  # their shards differ in shape
