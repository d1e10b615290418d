"""What every engine owes: the rules, the hand-written questions, and what each engine claims to decide.

The truth comes from ``EnumerateEngine``; whether a reported place is defective is counted here once more, by
other loops, so that the reference is under test as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.engine import Engine
from verifier.engines.enumerate import EnumerateEngine
from verifier.engines.registry import ENGINES, engine_named
from verifier.geometry.strided import StridedView, row_major
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

NAMES = tuple(ENGINES)
"""Every engine there is."""

BUDGET = Budget(z3_rlimit=100_000)
"""As by default, but for z3, which may spend seconds on one question of coprime strides."""

STARVED = Budget(
    distinct_strides=1,
    monomials=2,
    boxes=1,
    search_nodes=1,
    pairs=1,
    addresses=1,
    isl_operations=1,
    z3_rlimit=1,
    kill_seconds=0.01,
)
"""Next to nothing of everything."""

REFERENCE = EnumerateEngine()


def engine(name: str) -> Engine:
    """The engine of that name; an engine that cannot be imported fails the test that asks for it."""
    return engine_named(name)


# The rules.


def check(asked: Engine, question: Question, budget: Budget = BUDGET) -> Answer:
    """Ask one engine and hold its answer against the reference. Returns the answer.

    The question must be small enough for the reference.
    """
    truth = REFERENCE.decide(question, Budget())
    assert not isinstance(truth, Unknown), f"the reference must decide {question}: {truth.reason}"
    answer = asked.decide(question, budget)
    dump = f"\n  question {question}\n  {asked.name} says {answer}\n  the reference says {truth}"
    check_form(asked.name, answer)
    match answer:
        case Holds():
            assert isinstance(truth, Holds), f"proved what is false{dump}"
        case Fails(defect):
            assert isinstance(truth, Fails), f"refuted what is true{dump}"
            _check_defect(question, defect, truth.defect, dump)
    return answer


def check_form(name: str, answer: Answer) -> None:
    """What holds of any answer, whatever the question: it is signed, and complete in itself."""
    assert name == "auto" or answer.engine == name, f"{name} signs as {answer.engine}"
    match answer:
        case Unknown(code, reason):
            assert code in {"SM901", "SM902", "SM903"}, f"{name} is undecided with code {code}"
            assert reason.strip(), f"{name} is undecided without a reason"
        case Fails(defect):
            if defect.place is None:
                assert defect.excess is None, f"{name} counted at no place: {defect}"
                assert not defect.least, f"{name} calls no place the least: {defect}"
            else:
                assert defect.excess != 0, f"{name} calls a place defective that has no excess: {defect}"
        case Holds(form):
            assert form.form, f"{name} proves without evidence"


def _check_defect(question: Question, defect: Defect, least: Defect, dump: str) -> None:
    if defect.place is None:
        return
    excess = excess_at(question, defect.place)
    assert excess != 0, f"the place is not defective{dump}"
    assert defect.excess in (None, excess), f"the excess there is {excess}{dump}"
    if defect.least:
        assert defect.place == least.place, f"the place is not the least{dump}"


def excess_at(question: Question, place: tuple[int, ...]) -> int:
    """The excess at one place, 0 where it is as demanded; by going through all indices."""
    match question:
        case Tiling(size, views):
            return _count(views, place[0]) - (0 <= place[0] < size)
        case Packing(size, views):
            return max(0, _count(views, place[0]) - (0 <= place[0] < size))
        case SameAddresses(left, right):
            return _count(left, place[0]) - _count(right, place[0])
        case SamePairs(left_pairs, right_pairs):
            return _count_pairs(left_pairs, place) - _count_pairs(right_pairs, place)
        case UnitBoundaries(size, unit, views):
            if place[0] % unit == 0 or place[0] == size:
                return 0
            return _count(views, place[0]) - _count(views, place[0] - 1)


def _count(views: Iterable[StridedView], address: int) -> int:
    return sum(
        view.address(index) == address
        for view in views
        if view.numel
        for index in itertools.product(*map(range, view.shape))
    )


def _count_pairs(pairs: Iterable[PairView], place: tuple[int, ...]) -> int:
    return sum(
        (pair.source.address(index), pair.dest.address(index)) == place
        for pair in pairs
        if pair.source.numel
        for index in itertools.product(*map(range, pair.source.shape))
    )


# Hand-written questions.


@dataclass(frozen=True, slots=True)
class Known:
    """A question with its answer: the least defect, or None where it holds.

    ``decided_by`` names the engines that must find this answer: at its least place where there is one.
    """

    name: str
    question: Question
    defect: Defect | None
    decided_by: tuple[str, ...]


def _at(*place: int, excess: int) -> Defect:
    return Defect(place, excess, least=True)


def _view(offset: int, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> StridedView:
    return StridedView(offset, shape, row_major(shape) if strides is None else strides)


def _transposed(rows: int, columns: int) -> PairView:
    """A matrix read by rows and written by columns."""
    return PairView(_view(0, (rows, columns)), _view(0, (rows, columns), (1, rows)))


_BIG = 2**63
_WIDE, _TALL = 2**31, 2**32

EXACT = ("auto", "cancel", "enumerate", "smt")
"""Decide every kind of question and find the least defect."""

EXACT_BIG = ("auto", "cancel", "smt")
"""The same without listing."""

KNOWN = (
    Known("nothing tiles nothing", Tiling(0, ()), None, (*EXACT, "boxes", "search")),
    Known("nothing tiles not one", Tiling(1, ()), _at(0, excess=-1), EXACT),
    Known("something in size 0", Tiling(0, (_view(0, ()),)), _at(0, excess=1), EXACT),
    Known("a point", Tiling(1, (_view(0, ()),)), None, (*EXACT, "boxes", "search")),
    Known("a point of many axes", Tiling(1, (_view(0, (1, 1, 1), (7, -3, 0)),)), None, EXACT),
    Known(
        "empty views touch nothing, wherever they are",
        Tiling(2, (_view(0, (2,)), _view(-99, (0,)), _view(10**30, (_BIG, 0), (1, 5)))),
        None,
        (*EXACT, "boxes", "search"),
    ),
    Known("a stride of 0", Tiling(1, (_view(0, (3,), (0,)),)), _at(0, excess=2), EXACT),
    Known("a stride of 0 past the end", Packing(1, (_view(1, (3,), (0,)),)), _at(1, excess=3), EXACT),
    Known("a stride of 0 on extent 1", Packing(1, (_view(0, (1,), (0,)),)), None, EXACT),
    Known("backwards", Tiling(6, (_view(5, (2, 3), (-3, -1)),)), None, (*EXACT, "boxes", "search")),
    Known("backwards out below", Tiling(6, (_view(4, (6,), (-1,)),)), _at(-1, excess=1), EXACT),
    Known(
        "a block that runs over the end of a row",
        Packing(9, (_view(2, (2, 2), (3, 1)),)),
        None,
        ("auto", "enumerate", "smt", "search"),
    ),
    Known(
        "the same with the rest around it",
        Tiling(9, (_view(2, (2, 2), (3, 1)), _view(0, (2,)), _view(4, (1,)), _view(7, (2,)))),
        None,
        (*EXACT, "search"),
    ),
    Known(
        "coprime strides with the rest around them",
        Tiling(8, (_view(0, (3, 2), (2, 3)), _view(1, (2,), (5,)))),
        None,
        (*EXACT, "search"),
    ),
    Known(
        "coprime strides that collide",
        Packing(20, (_view(0, (4, 3), (2, 3)),)),
        _at(6, excess=1),
        ("auto", "enumerate", "smt"),
    ),
    Known("out above", Tiling(4, (_view(1, (4,)),)), _at(0, excess=-1), EXACT),
    Known("out above in a packing", Packing(4, (_view(1, (4,)),)), _at(4, excess=1), EXACT),
    Known("out below", Packing(4, (_view(-1, (2, 2), (2, 1)),)), _at(-1, excess=1), EXACT),
    Known(
        "numels add up, but one address twice and one never",
        Tiling(4, (_view(0, (2,)), _view(1, (2,)))),
        _at(1, excess=1),
        EXACT,
    ),
    Known(
        "three on one address",
        Tiling(3, (_view(0, (3,)), _view(1, (1,)), _view(1, (2,)))),
        _at(1, excess=2),
        EXACT,
    ),
    Known(
        "columns against rows",
        SameAddresses(tuple(_view(c, (4,), (4,)) for c in range(4)), (_view(0, (16,)),)),
        None,
        (*EXACT, "boxes"),
    ),
    Known(
        "the same addresses, not as often",
        SameAddresses((_view(0, (3,)), _view(1, (2,))), (_view(0, (3,)), _view(1, (1,)))),
        _at(2, excess=1),
        EXACT,
    ),
    Known(
        "left lacks what right has",
        SameAddresses((_view(0, (3,)),), (_view(-2, (5,)),)),
        _at(-2, excess=-1),
        EXACT,
    ),
    Known(
        "one transposition, cut by rows and by columns",
        SamePairs(
            (_transposed(3, 4),),
            tuple(PairView(_view(c, (3,), (4,)), _view(3 * c, (3,))) for c in range(4)),
        ),
        None,
        EXACT,
    ),
    Known(
        "transposition is not the identity",
        SamePairs((_transposed(3, 4),), (PairView(_view(0, (12,)), _view(0, (12,))),)),
        _at(1, 1, excess=-1),
        EXACT,
    ),
    Known(
        "the end of a tensor may cut the last unit",
        UnitBoundaries(10, 4, (_view(4, (2, 3), (3, 1)),)),
        None,
        EXACT,
    ),
    Known("an end inside a unit", UnitBoundaries(10, 4, (_view(4, (3,)),)), _at(7, excess=-1), EXACT),
    Known(
        "a beginning inside a unit, after a clean one",
        UnitBoundaries(12, 4, (_view(0, (4,)), _view(5, (7,)))),
        _at(5, excess=1),
        EXACT,
    ),
    Known(
        "columns that together fill whole units",
        UnitBoundaries(16, 4, (_view(4, (2, 2), (4, 1)), _view(6, (2, 2), (4, 1)))),
        None,
        EXACT,
    ),
    Known(
        "one of these columns",
        UnitBoundaries(16, 4, (_view(4, (2, 2), (4, 1)),)),
        _at(6, excess=-1),
        EXACT,
    ),
    Known("all of 2^63", Tiling(_BIG, (_view(0, (_TALL, _WIDE)),)), None, (*EXACT_BIG, "boxes", "search")),
    Known("all of 2^63 but one", Tiling(_BIG, (_view(0, (_BIG - 1,)),)), _at(_BIG - 1, excess=-1), EXACT_BIG),
    Known(
        "columns of 2^63",
        Tiling(
            _BIG,
            (
                _view(0, (_TALL, _WIDE // 2), (_WIDE, 1)),
                _view(_WIDE // 2, (_TALL, _WIDE // 2), (_WIDE, 1)),
            ),
        ),
        None,
        (*EXACT_BIG, "boxes", "search"),
    ),
    Known(
        "columns of 2^63 that overlap by one",
        Tiling(
            _BIG,
            (
                _view(0, (_TALL, _WIDE // 2), (_WIDE, 1)),
                _view(_WIDE // 2 - 1, (_TALL, _WIDE // 2), (_WIDE, 1)),
            ),
        ),
        _at(_WIDE // 2 - 1, excess=1),
        EXACT_BIG,
    ),
    Known(
        "past 2^63",
        Packing(_BIG, (_view(2, (3, _WIDE), (_BIG // 2, 1)),)),
        _at(_BIG + 2, excess=1),
        ("smt",),
    ),
    Known(
        "a transposition of 2^63, cut in two",
        SamePairs(
            (_transposed(_TALL, _WIDE),),
            (
                PairView(
                    _view(0, (_TALL // 2, _WIDE)),
                    _view(0, (_TALL // 2, _WIDE), (1, _TALL)),
                ),
                PairView(
                    _view(_BIG // 2, (_TALL // 2, _WIDE)),
                    _view(_TALL // 2, (_TALL // 2, _WIDE), (1, _TALL)),
                ),
            ),
        ),
        None,
        EXACT_BIG,
    ),
    Known(
        "units of 512 in 2^63",
        UnitBoundaries(_BIG, 512, (_view(0, (_TALL // 2, 1024), (2048, 1)),)),
        None,
        EXACT_BIG,
    ),
    Known(
        "units of 512 in 2^63, begun one late",
        UnitBoundaries(_BIG, 512, (_view(1, (_TALL // 2, 1024), (2048, 1)),)),
        _at(1, excess=1),
        EXACT_BIG,
    ),
)


# What each engine claims to decide of the random questions.


@dataclass(frozen=True, slots=True)
class Claim:
    """Least shares of the random questions of one type: decided of all, least of refuted, each in percent."""

    decided: int
    least: int


_ALL = Claim(100, 100)

CLAIMS: dict[str, dict[str, Claim]] = {
    "auto": dict.fromkeys(("tiling", "packing", "same-addresses", "same-pairs", "unit-boundaries"), _ALL),
    "enumerate": dict.fromkeys(
        ("tiling", "packing", "same-addresses", "same-pairs", "unit-boundaries"), _ALL
    ),
    "cancel": {
        "tiling": _ALL,
        "packing": Claim(80, 90),
        "same-addresses": _ALL,
        "same-pairs": _ALL,
        "unit-boundaries": _ALL,
    },
    "bulk": {
        "tiling": Claim(85, 100),
        "packing": Claim(70, 90),
        "same-addresses": Claim(85, 100),
        "same-pairs": Claim(85, 100),
    },
    "boxes": {"tiling": Claim(90, 80), "packing": Claim(90, 80), "same-addresses": Claim(55, 100)},
    "search": {"tiling": Claim(98, 15), "packing": Claim(98, 15)},
    "isl": {"tiling": Claim(98, 15), "packing": Claim(98, 15)},
    "smt": {
        "tiling": Claim(95, 95),
        "packing": Claim(95, 95),
        "same-addresses": Claim(80, 85),
        "same-pairs": Claim(70, 80),
        "unit-boundaries": Claim(95, 95),
    },
    "fingerprint": {"tiling": Claim(40, 0), "same-addresses": Claim(40, 0), "same-pairs": Claim(35, 0)},
}
"""Types that are not named are not claimed. Fingerprint decides no true question, and finds no place."""
