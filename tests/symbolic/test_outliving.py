"""What a call leaves behind for the next one takes a proof away, wherever it is kept, and is put back."""

from __future__ import annotations

import itertools
import sys
from collections import UserDict, deque
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, TextIO

import pytest

from tests.symbolic.judging import outcome
from tests.symbolic.test_constructor import halves
from verifier import ShardMap
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.kept import keeps, put_back, state_of
from verifier.symbolic.results import ProvedForAll, ProvedOnPart
from verifier.symbolic.search import Limits

N = Sizes(n=size())
SMALL = Limits(total=6)


class Planner:
    """Keeps what it is told in itself, in its class and in what it holds."""

    made = 0
    __slots__ = ("__dict__", "fast")

    def __init__(self) -> None:
        self.calls, self.fast = 0, 0
        self.notes: dict[str, int] = {}

    def cut(self, n: int) -> ShardMap:
        self.calls += 1
        return halves(n)


def numbers() -> Iterator[int]:
    yield from range(10**6)


PLANNER = Planner()
PAIR = ([0], "text")
RECENT: deque[int] = deque(maxlen=3)
BYTES = bytearray(2)
NAMES = SimpleNamespace(seen=0)
DATA: UserDict[str, int] = UserDict()
COUNTER, GENERATED, LISTED = itertools.count(), numbers(), iter([1] * 10**6)


NEXT, APPEND = itertools.count().__next__, [0].append
FROZEN, VIEW, LONG = frozenset([PLANNER]), MappingProxyType({"planner": PLANNER}), [0] * 20_000
DEEP = {"a": {"a": {"a": {"a": NAMES}}}}


@lru_cache(maxsize=1)
def registry() -> dict[str, int]:
    return {"calls": 0}


registry()


def in_a_module(n: int) -> None:
    itertools.calls_of_ours = 1  # type: ignore[attr-defined]


def in_what_a_cache_returned(n: int) -> None:
    registry()["calls"] += 1


def in_a_frozen_set(n: int) -> None:
    for planner in FROZEN:
        planner.calls += 1


def behind_a_view(n: int) -> None:
    VIEW["planner"].calls += 1


def deep_down(n: int) -> None:
    DEEP["a"]["a"]["a"]["a"].seen = n  # type: ignore[attr-defined]


def in_a_long_list(n: int) -> None:
    LONG[0] += 1


class Other(Planner):
    """Another one."""

    __slots__ = ()


def by_another_class(n: int) -> None:
    PLANNER.__class__ = Other


def in_a_class(n: int) -> None:
    Planner.made += 1


def in_the_class_of_an_instance(n: int) -> None:
    PLANNER.__class__.made += 1


def in_a_slot(n: int) -> None:
    PLANNER.fast += 1


def in_a_dict_of_an_instance(n: int) -> None:
    PLANNER.notes["n"] = 1


def in_a_list_of_a_tuple(n: int) -> None:
    PAIR[0].append(n)


def in_an_attribute_of_a_function(n: int) -> None:
    in_an_attribute_of_a_function.last = n  # type: ignore[attr-defined]


def in_a_deque(n: int) -> None:
    RECENT.append(n)


def in_bytes(n: int) -> None:
    BYTES[0] = 1


def in_a_namespace(n: int) -> None:
    NAMES.seen = n


def in_data(n: int) -> None:
    DATA["n"] = 1


@pytest.mark.parametrize(
    "leave",
    [
        in_a_module,
        in_what_a_cache_returned,
        in_a_frozen_set,
        behind_a_view,
        deep_down,
        in_a_long_list,
        by_another_class,
        lambda n: NEXT(),
        lambda n: APPEND(1),
        in_a_class,
        in_the_class_of_an_instance,
        in_a_slot,
        in_a_dict_of_an_instance,
        in_a_list_of_a_tuple,
        in_an_attribute_of_a_function,
        in_a_deque,
        in_bytes,
        in_a_namespace,
        in_data,
        lambda n: PLANNER.cut(n),
        PLANNER.cut,
        partial(Planner.cut, PLANNER),
        lambda n: next(COUNTER),
        lambda n: next(GENERATED),
        lambda n: next(LISTED),
    ],
)
def test_what_a_call_leaves_behind_takes_the_proof_away(leave: Callable[[int], object]) -> None:
    def constructor(n: int) -> ShardMap:
        leave(n)
        return halves(n)

    found = outcome(constructor, N, limits=SMALL)
    assert isinstance(found, ProvedOnPart)
    assert "which outlives the call" in found.reason


def uses_its_own(n: int) -> ShardMap:
    planner, recent, step = Planner(), deque([n]), itertools.count()
    planner.calls += next(step)
    planner.notes["n"] = n
    recent.append(n)
    return planner.cut(n)


def tells(text: str, stream: TextIO = sys.stderr) -> None:
    print(text, file=stream)


@lru_cache
def width(k: int) -> int:
    return k + 1


def uses_a_cache_of_numbers(n: int) -> ShardMap:
    return halves(n * width(1) // width(1))


def reads_what_is_there(n: int) -> ShardMap:
    return halves(n * len(PAIR) // 2 + PLANNER.made * 0 + NAMES.seen * 0)


@pytest.mark.parametrize("constructor", [uses_its_own, reads_what_is_there, uses_a_cache_of_numbers])
def test_what_is_its_own_or_only_read_leaves_it(constructor: Callable[[int], ShardMap]) -> None:
    NAMES.seen = Planner.made = 0
    assert isinstance(outcome(constructor, N), ProvedForAll)


@pytest.mark.parametrize(
    ("thing", "change"),
    [
        ([1, 2], lambda thing: thing.append(3)),
        ({1: 2}, lambda thing: thing.update({1: 3, 4: 5})),
        ({1, 2}, lambda thing: thing.remove(1)),
        (deque([1, 2], maxlen=2), lambda thing: thing.append(3)),
        (bytearray(b"ab"), lambda thing: thing.extend(b"c")),
        (Planner(), lambda thing: setattr(thing, "fast", 2)),
        (Planner(), lambda thing: delattr(thing, "calls")),
        (Planner(), lambda thing: setattr(thing, "other", 2)),
        (type("Some", (), {"one": 1}), lambda thing: setattr(thing, "two", 2)),
        (type("Some", (), {"one": 1}), lambda thing: delattr(thing, "one")),
        (SimpleNamespace(one=1), lambda thing: setattr(thing, "one", 2)),
        (lambda: None, lambda thing: setattr(thing, "one", 2)),
    ],
)
def test_what_was_changed_is_put_back(thing: Any, change: Callable[[Any], object]) -> None:
    assert keeps(thing)
    before = state_of(thing)
    assert state_of(thing).is_that_of(before)
    change(thing)
    assert not state_of(thing).is_that_of(before)
    put_back(thing, before)
    assert state_of(thing).members == before.members
    assert dict(state_of(thing).attributes) == dict(before.attributes)
