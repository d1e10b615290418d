"""Theory: T6, T7, T8. What ``conformance`` does not ask of the boxes engine: least defects, cuts, costs."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.engines.conformance import check
from tests.engines.questions import GENERATORS
from tests.geometry.box_families import guillotine, pinwheel, staircase
from verifier.answers import Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation, Pairs
from verifier.engines.boxes import BoxesEngine
from verifier.geometry.digits import Box, divisibility_chain
from verifier.geometry.strided import NormalView, StridedView, normal_form, row_major
from verifier.obligations.questions import (
    Packing,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

ENGINE = BoxesEngine()


def normal_forms(views: tuple[StridedView, ...]) -> list[NormalView]:
    return [form for view in views if (form := normal_form(view)) is not None]


def tiling_of(boxes: list[Box]) -> Tiling:
    """Boxes whose last axis is the fastest, as views of a row-major tensor that they fill."""
    shape = tuple(max(highs[k] for _, highs in boxes) for k in range(len(boxes[0][0])))
    strides = row_major(shape)
    views = tuple(
        StridedView(
            sum(low * stride for low, stride in zip(lows, strides, strict=True)),
            tuple(high - low for low, high in zip(lows, highs, strict=True)),
            strides,
        )
        for lows, highs in boxes
    )
    return Tiling(math.prod(shape), views)


@pytest.mark.parametrize("kind", ["tiling", "packing", "same-addresses"])
def test_every_defect_on_a_chain_is_the_least(kind: str) -> None:
    rng = random.Random(f"boxes {kind}")
    outcomes: Counter[str] = Counter()
    for _ in range(600):
        question = GENERATORS[kind](rng)
        assert not isinstance(question, SamePairs)
        answer = check(ENGINE, question)
        views = question.left + question.right if isinstance(question, SameAddresses) else question.views
        on_chain = divisibility_chain(normal_forms(views)) is not None
        outcomes[type(answer).__name__] += 1
        match answer:
            case Unknown(code):
                assert code == "SM901"
                assert not on_chain
            case Fails(defect):
                assert defect.least or not on_chain, question
            case Holds(form):
                assert isinstance(form, Pairs if kind == "packing" else Cancellation)
    assert outcomes["Holds"] >= 150
    assert outcomes["Fails"] >= 150


@pytest.mark.parametrize("axes", [2, 3])
def test_T7_many_boxes_are_proved_and_one_shift_is_found(axes: int) -> None:
    question = tiling_of(guillotine(random.Random(axes), 1500, axes, 10**5))
    answer = ENGINE.decide(question, Budget())
    assert isinstance(answer, Holds)
    assert isinstance(answer.form, Cancellation)
    moved = question.views[700]
    views = (
        *question.views[:700],
        StridedView(moved.offset - 1, moved.shape, moved.strides),
        *question.views[701:],
    )
    least = Defect((moved.offset - 1,), 1 if moved.offset else -1, least=True)
    assert ENGINE.decide(replace(question, views=views), Budget()) == Fails(least, "boxes")
    packing = Packing(question.size, views)
    assert ENGINE.decide(packing, Budget()) == Fails(least, "boxes")


def test_T6_cost_does_not_depend_on_extents() -> None:
    rows = 10**15
    columns = tuple(StridedView(k, (rows, 1), (8, 1)) for k in range(8))
    answer = ENGINE.decide(Tiling(8 * rows, columns), Budget(boxes=8 + 1))
    assert answer == Holds(Cancellation(), "boxes")


def test_T7_a_pinwheel_is_proved_by_comparing_pairs_of_boxes() -> None:
    assert ENGINE.decide(tiling_of(pinwheel()), Budget()) == Holds(Cancellation(), "boxes")


def test_a_pinwheel_without_pairs_is_undecided() -> None:
    answer = ENGINE.decide(tiling_of(pinwheel()), Budget(pairs=1))
    assert isinstance(answer, Unknown)
    assert answer.code == "SM902"
    assert "5 boxes that no cut separates" in answer.reason


def test_a_staircase_deeper_than_the_cuts_is_decided() -> None:
    boxes = staircase(200)
    question = tiling_of([*boxes, ((100, 100), (400, 400))])
    assert ENGINE.decide(question, Budget()) == Holds(Cancellation(), "boxes")


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (Tiling(8, (StridedView(0, (3, 2), (2, 3)), StridedView(1, (2,), (5,)))), "chain"),
        (SamePairs((), ()), "SamePairs"),
        (UnitBoundaries(4, 2, ()), "UnitBoundaries"),
    ],
)
def test_outside_the_fragment(question: Tiling | SamePairs | UnitBoundaries, reason: str) -> None:
    answer = ENGINE.decide(question, Budget())
    assert isinstance(answer, Unknown)
    assert answer.code == "SM901"
    assert reason in answer.reason


def test_the_number_of_visits_refutes_even_off_a_chain() -> None:
    views = (StridedView(0, (3, 2), (2, 3)), StridedView(1, (3,), (3,)))
    assert ENGINE.decide(Tiling(8, views), Budget()) == Fails(Defect(None, None, least=False), "boxes")


def test_a_repeated_address_is_certain_even_when_its_boxes_are_too_many() -> None:
    question = Packing(10**16, (StridedView(3, (10**7, 10**7), (2, 1)),))
    assert ENGINE.decide(question, Budget(boxes=1000)) == Fails(Defect((5,), None, least=False), "boxes")


def test_past_the_corners_the_defect_is_not_called_least() -> None:
    radices = [2**k for k in range(12)]
    points = tuple(StridedView(radix, (2,), (radix,)) for radix in radices)
    question = Tiling(2 * len(points), points)
    answer = ENGINE.decide(question, Budget(boxes=50))
    assert isinstance(answer, Fails)
    assert not answer.defect.least
    same = ENGINE.decide(SameAddresses(points, points), Budget(boxes=50))
    assert isinstance(same, Unknown)
    assert same.code == "SM902"


def test_the_least_address_beyond_a_packing_is_found_among_many() -> None:
    rows = StridedView(0, (4, 3), (5, 1))
    beyond = StridedView(3, (4, 2), (5, 1))
    assert ENGINE.decide(Packing(12, (rows, beyond)), Budget()) == Fails(
        Defect((12,), 1, least=True), "boxes"
    )
    assert isinstance(ENGINE.decide(Packing(20, (rows, beyond)), Budget()), Holds)
