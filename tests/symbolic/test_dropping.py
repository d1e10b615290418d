"""A message that is made before it is known to be needed is dropped with its statement, or followed.

PYTEST_DONT_REWRITE: assertions here are constructors' own.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import tee

import pytest

from tests.symbolic.judging import outcome
from tests.symbolic.test_constructor import halves
from tests.symbolic.test_fragment import broken
from verifier import ShardMap
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.results import ProvedForAll, ProvedOnPart
from verifier.symbolic.search import Limits

N = Sizes(n=size())
SMALL = Limits(total=6)
SHAPE = (3, 4)
ANSWERS = {"505": False}
KEPT: list[object] = []


class LayoutError(ValueError):
    """No layout for these sizes."""


def require(condition: object, message: object = "no layout") -> None:
    if not condition:
        raise LayoutError(message)


def expect(condition: object, error: Exception) -> None:
    if not condition:
        raise error


class Checks:
    """Checks of an instance, which is an attribute of another one."""

    def __init__(self) -> None:
        self.inner: Checks | None = None

    def require(self, condition: object, *, message: str) -> None:
        if not condition:
            raise ValueError(f"no layout: {message}")


CHECKS = Checks()
CHECKS.inner = Checks()


def by_a_function(n: int) -> None:
    require(n % 2 == 0, f"{n} rows are not even: {n // 2} and {-n}, of {SHAPE[0]}")


def by_several(n: int) -> None:
    for step in range(3):
        require(n >= step - 9, f"{n} rows in step {step}")
    require(n % 2 == 0, "{} rows".format(n))  # noqa: UP032 - one more way to make text
    require(n >= 0, "rows: " + str(n) + f" of {n!r}")


def by_a_method(n: int) -> None:
    CHECKS.require(n % 2 == 0, message=f"{n:>6} rows")


def by_an_attribute(n: int) -> None:
    CHECKS.inner.require(n % 2 == 0, message=f"{n} rows")


def by_a_partial(n: int) -> None:
    partial(require, n % 2 == 0)()
    require(n >= 0, f"{n} rows")


def among_others(n: int) -> None:
    require(n >= 0, f"{n} rows")
    if n % 2:
        raise LayoutError(f"{n} row{'s' if n != 1 else ''} of {SHAPE[1]}, {n > 3}")


@pytest.mark.parametrize(
    "check",
    [by_a_function, by_several, by_a_method, by_an_attribute, by_a_partial, among_others],
)
def test_T19_a_message_that_is_dropped_leaves_a_proof(check: Callable[[int], None]) -> None:
    def constructor(n: int) -> ShardMap:
        check(n)
        return halves(n)

    assert isinstance(outcome(constructor, N), ProvedForAll)


def looked_at(condition: object, message: str) -> None:
    if message == "505":
        raise ValueError


def matched(condition: object, message: str) -> None:
    match message:
        case "505":
            raise ValueError


def caught(condition: object, error: Exception) -> None:
    try:
        raise error
    except ValueError as again:
        if again.args[0] == "505":
            raise TypeError from None


def of_many(*values: object) -> None:
    require(values[1] != "505")


def of_names(**values: object) -> None:
    require(values["message"] != "505")


def enclosed(condition: object, message: str) -> None:
    def inner() -> str:
        return message

    require(inner() != "505")


def first(pair: tuple[str, ...]) -> None:
    require(pair[0] != "505")


def kept(condition: object, message: str) -> None:
    KEPT.append(message)


def given(condition: object, message: str) -> str:
    return message


class RememberingError(ValueError):
    last = ""

    def __init__(self, message: str) -> None:
        RememberingError.last = message


class Sum:
    """Something that text is added to."""

    last = ""

    def __add__(self, other: str) -> bool:
        Sum.last = other
        return True


SUM = Sum()


def by_what_it_keeps(n: int) -> bool:
    kept(n, f"{n}")
    return KEPT[-1] == "505"


def by_what_comes_back(n: int) -> bool:
    text = given(n, f"{n}")
    return text == "505"


def by_a_name(n: int) -> bool:
    text = f"{n}"
    require(n, text)
    return text == "505"


def by_what_an_exception_keeps(n: int) -> bool:
    expect(n >= 0, RememberingError(f"{n}"))
    return RememberingError.last == "505"


def by_what_is_added(n: int) -> bool:
    require(SUM + f"{n}", "no sum")
    return Sum.last == "505"


def by_what_is_raised(n: int) -> bool:
    try:
        require(n % 5, f"{n}")
    except LayoutError as error:
        return str(error) == "505"
    return False


@dataclass
class NotedError(Exception):
    """Its dataclass calls what it says."""

    notes: list[str]
    text: str

    def __post_init__(self) -> None:
        self.notes.append(self.text)


class FirstError(ValueError):
    """Reads itself without a name."""

    def __init__(self, seen: list[int], text: str) -> None:
        if super().args[1] == "505":
            seen.append(1)


def by_a_dataclass(n: int) -> bool:
    notes: list[str] = []
    expect(n >= 0, NotedError(notes, f"{n}"))
    return "505" in notes


def by_super(n: int) -> bool:
    seen: list[int] = []
    expect(n >= 0, FirstError(seen, f"{n}"))
    return bool(seen)


def by_a_template(n: int) -> bool:
    found: defaultdict[int, int] = defaultdict(int)
    require(n >= 0, f"{{0[{n}]}}".format(found))
    return 505 in found


def by_an_iterator(n: int) -> bool:
    one, two = tee(map(str, [n]))
    require(n >= 0, ",".join(one))
    return next(two) == "505"


def by_another_callee(n: int) -> bool:
    table: dict[str, str] = {}
    put = partial(table.setdefault)
    put((put := require), f"{n}")  # type: ignore[call-arg, assignment]
    return "505" in table.values() or "505" in table


def by_a_number(n: int) -> bool:
    return int(f"{n}") == 505 if n >= 100 else False


def by_a_width(n: int) -> bool:
    try:
        require(n >= 0, f"{1:>{n}}")
    except (ValueError, MemoryError):
        return True
    return False


def by_an_assertion(n: int) -> bool:
    box: list[str] = []
    put = partial(box.append)
    try:
        assert n < 0, (put(f"{n}"), n)
    except AssertionError:
        return "505" in box
    return False


def by_a_frame(n: int) -> bool:
    try:
        require(n < 0, f"{n}")
    except LayoutError as error:
        return error.__traceback__.tb_next.tb_frame.f_locals["message"] == "505"  # type: ignore[union-attr]
    return False


def by_an_attribute_of_a_size(n: int) -> bool:
    try:
        n.rows = 1  # type: ignore[attr-defined]
    except AttributeError as error:
        return "Size" not in str(error) and n == 505
    return False


@pytest.mark.parametrize(
    "looking",
    [
        by_a_dataclass,
        by_super,
        by_a_template,
        by_an_iterator,
        by_another_callee,
        by_a_number,
        by_a_width,
        by_an_assertion,
        by_a_frame,
        by_an_attribute_of_a_size,
        by_what_it_keeps,
        by_what_comes_back,
        by_a_name,
        by_what_an_exception_keeps,
        by_what_is_added,
        by_what_is_raised,
        lambda n: looked_at(n, f"{n}"),
        lambda n: looked_at(n, message=f"{n}"),
        lambda n: matched(n, f"{n}"),
        lambda n: caught(n, ValueError(f"{n}")),
        lambda n: of_many(n, f"{n}"),
        lambda n: of_names(message=f"{n}"),
        lambda n: enclosed(n, f"{n}"),
        lambda n: first(ValueError(f"{n}").args),
        lambda n: require(ANSWERS.get(f"{n}", True), "no answer"),
        lambda n: require(f"{n}" != "505", "no"),
        lambda n: require(len(f"{n}") < 3, "long"),
        lambda n: require(f"{n}".find("505"), "found"),
        lambda n: partial(looked_at, n)(f"{n}"),
    ],
)
def test_T19_a_message_that_anything_looks_at_leaves_none(looking: Callable[[int], object]) -> None:
    def constructor(n: int) -> ShardMap:
        return broken(n) if looking(n) else halves(n)

    KEPT[:] = []
    assert isinstance(outcome(constructor, N, limits=SMALL), ProvedOnPart)


def test_a_subscript_by_text_is_no_name() -> None:
    class Table(dict):
        def __missing__(self, key: str) -> bool:
            return True

    table = Table(ANSWERS)

    def constructor(n: int) -> ShardMap:
        require(table[f"{n}"], "no answer")
        return halves(n)

    assert isinstance(outcome(constructor, N, limits=SMALL), ProvedOnPart)
    assert not hasattr(builtins, "_shardproof_int")
