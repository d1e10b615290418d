"""Code is watched while it runs on symbolic sizes, and nothing of the watching stays behind."""

from __future__ import annotations

import builtins
import gc
import sys
from functools import partial, wraps
from threading import Lock
from types import FrameType

import pytest

from tests.symbolic.judging import outcome, proved
from tests.symbolic.test_constructor import halves
from tests.symbolic.test_fragment import broken
from verifier import ShardMap
from verifier.symbolic.domain import DomainError, Sizes, size
from verifier.symbolic.results import ProvedForAll, ProvedOnPart, RefutedAt
from verifier.symbolic.rewriting import PREFIX, rewritten
from verifier.symbolic.search import Limits

N = Sizes(n=size())
SMALL = Limits(total=6)
KEPT: list[int] = [1]
SEEN: dict[str, int] = {}


def decorated(function):
    @wraps(function)
    def inner(*arguments, **options):
        return function(*arguments, **options)

    return inner


@decorated
def behind_a_decorator(n: int) -> ShardMap:
    return broken(n) if type(n) is int and int(n) == 505 else halves(n)


class Planner:
    """Methods, and an instance that was made before anything was traced."""

    def cut(self, n: int) -> ShardMap:
        return broken(n) if type(n) is int and int(n) == 505 else halves(n)


PLANNER = Planner()


@pytest.mark.parametrize(
    "constructor",
    [
        behind_a_decorator,
        lambda n: PLANNER.cut(n),
        lambda n: {"cut": PLANNER.cut}["cut"](n),
        lambda n: (lambda k: broken(k) if type(k) is int and int(k) == 505 else halves(k))(n),
        lambda n: next(broken(k) if type(k) is int and k == 505 else halves(k) for k in (int(n),)),
    ],
)
def test_int_and_type_are_followed_wherever_they_are_called(constructor: object) -> None:
    found = outcome(constructor, N)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 505}


def test_partial_calls_are_followed() -> None:
    proved(partial(lambda k, n: halves(int(n)), 3), N)


def test_functions_are_theirs_again_after_a_run() -> None:
    def own(n: int) -> ShardMap:
        return halves(int(n))

    before = own.__code__, Planner.cut.__code__, set(vars(builtins)), sys.gettrace(), sys.getprofile()
    proved(own, N)
    outcome(lambda n: PLANNER.cut(n), N)
    assert before == (
        own.__code__,
        Planner.cut.__code__,
        set(vars(builtins)),
        sys.gettrace(),
        sys.getprofile(),
    )
    assert gc.isenabled()


def test_rewritten_code_does_the_same_with_numbers() -> None:
    def asks(value: object) -> object:
        return type(value) is int, isinstance(value, int), int("12", 3), [int(k) for k in ("1", "2")], int

    before = asks.__code__
    after = rewritten(before)
    assert after is not before
    assert {PREFIX + "int", PREFIX + "type"} <= set(after.co_names)
    assert rewritten((lambda n: n + 1).__code__).co_names == ()


def test_code_with_too_many_names_stays_as_it_is() -> None:
    names = [f"name_{k}" for k in range(127)]
    source = f"def many(n):\n    {'; '.join(names)}\n    return int(n)\n"
    scope: dict[str, object] = dict.fromkeys(names, 0)
    exec(source, scope)
    code = scope["many"].__code__
    assert rewritten(code).co_code == code.co_code


def test_who_traces_already_goes_on_afterwards() -> None:
    def nothing(frame: FrameType, event: str, argument: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(nothing)
    try:
        found = outcome(halves, N)
        assert sys.gettrace() is nothing
    finally:
        sys.settrace(before)
    assert isinstance(found, ProvedForAll)


def remembers(n: int) -> ShardMap:
    if n < 100:
        KEPT.clear()
    return broken(n) if KEPT and n >= 100 else halves(n)


def remembers_by_a_default(n: int, kept: list[int] = [1]) -> ShardMap:  # noqa: B006
    if n < 100:
        kept.clear()
    return broken(n) if kept and n >= 100 else halves(n)


def keeps_a_size(n: int) -> ShardMap:
    SEEN["last"] = n
    return halves(n)


NESTED: dict[str, list[int]] = {"seen": []}
FLAG = False


def helper(n: int, seen: list[int] = []) -> ShardMap:  # noqa: B006
    if n < 100:
        seen.append(1)
    return broken(n) if n >= 100 and not seen else halves(n)


def remembers_by_a_helper(n: int) -> ShardMap:
    return helper(n)


def remembers_inside(n: int) -> ShardMap:
    if n < 100:
        NESTED["seen"].append(1)
    return broken(n) if n >= 100 and not NESTED["seen"] else halves(n)


def remembers_a_flag(n: int) -> ShardMap:
    global FLAG
    FLAG = FLAG or n < 100
    return broken(n) if n >= 100 and not FLAG else halves(n)


@pytest.mark.parametrize(
    "constructor",
    [
        remembers,
        remembers_by_a_default,
        keeps_a_size,
        remembers_by_a_helper,
        remembers_inside,
        remembers_a_flag,
    ],
)
def test_what_outlives_a_call_is_no_part_of_a_function(constructor: object) -> None:
    found = outcome(constructor, N, limits=SMALL)
    assert isinstance(found, ProvedOnPart)
    assert "which outlives the call" in found.reason
    assert all(type(value) is int for value in SEEN.values())
    KEPT[:] = [1]


def test_arguments_are_new_for_every_call() -> None:
    def empties(n: int, blocks: list[int]) -> ShardMap:
        if n < 100:
            blocks.clear()
            return halves(n)
        return broken(n) if blocks else halves(n)

    found = outcome(empties, Sizes(n=size(), blocks=[[1, 2]]))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 100, "blocks": [1, 2]}


@pytest.mark.parametrize("modulus", [4, 6])
def test_a_constructor_may_not_raise_where_its_reference_makes_a_map(modulus: int) -> None:
    def reference(n: int) -> ShardMap:
        if n % 3:
            raise ValueError(f"{n} is no multiple of 3")
        return halves(n)

    def constructor(n: int) -> ShardMap:
        if n % modulus:
            raise ValueError(f"{n} is no multiple")
        return halves(n)

    found = outcome(constructor, N, reference=reference)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 3}
    assert found.complaint == "raises ValueError: 3 is no multiple, but its reference makes a map"


@pytest.mark.parametrize(
    ("looking", "reason"),
    [
        (lambda n: n is n + 1, "a comparison by identity"),
        (lambda n: id(n) == 5, "id, which may look at how a value is stored"),
        (lambda n: sys.getsizeof(n) < 5, "getsizeof, which may look"),
        (lambda n: vars(sys)["getrefcount"](n) < 0, "vars, which may look"),
        (lambda n: n.__eq__(5) is NotImplemented, "__eq__"),
        (lambda n: n == 10**40, "numbers beyond 2**120"),
    ],
)
def test_what_a_size_would_not_notice_is_noticed(looking: object, reason: str) -> None:
    found = outcome(lambda n: broken(n) if looking(n) else halves(n), N, limits=SMALL)
    assert isinstance(found, ProvedOnPart)
    assert reason in found.reason


def test_what_a_size_has_no_other_object_is_asked_for() -> None:
    for name in ("polynomial", "_Size__polynomial", "_Size" + "__decider", "__copy__", "__array_ufunc__"):
        found = outcome(lambda n, name=name: broken(n) if hasattr(n, name) else halves(n), N)
        assert isinstance(found, ProvedForAll)  # no number has it, and no size either


def documented(n: int) -> ShardMap:
    """Names such as ``__eq__`` in a text that nothing loads do no harm."""
    return halves(n)


def test_a_docstring_is_no_text_that_is_used() -> None:
    proved(documented, N)


def test_a_value_that_cannot_be_copied_is_refused_by_name() -> None:
    with pytest.raises(DomainError, match="k cannot be copied for each run"):
        outcome(lambda n, k: halves(n), Sizes(n=size(), k=Lock()))
