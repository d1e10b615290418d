from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.symbolic.judging import start
from verifier.symbolic.cancellation import cancel
from verifier.symbolic.claims import is_zero, not_negative
from verifier.symbolic.demands import Balance
from verifier.symbolic.grid import fills_grid
from verifier.symbolic.layout import Numbers, SymbolicView
from verifier.symbolic.polynomial import ONE, ZERO, Polynomial, atom, constant, product

A, B, C, D = map(atom, "abcd")
FACTS = start("a", "b", "c", "d")


def columns(rows: Polynomial, widths: Numbers) -> Balance:
    """A matrix cut in columns."""
    total = sum(widths, ZERO)
    views, low = [], ZERO
    for width in widths:
        views.append(SymbolicView(low, (rows, width), (total, ONE)))
        low += width
    return Balance("q", tuple(views), size=rows * total, grid=(rows, total))


def changed(balance: Balance, place: int, **numbers: Any) -> Balance:
    views = list(balance.left)
    views[place] = replace(views[place], **numbers)
    return replace(balance, left=tuple(views))


def test_T22_columns_of_a_sum_fill_the_matrix() -> None:
    assert fills_grid(columns(A, (B, C, D)), FACTS)
    assert fills_grid(columns(A, (B,)), FACTS)
    assert fills_grid(columns(A * B, (C, D + 1, constant(2))), FACTS)


def test_T22_zero_dimensions_are_no_exception() -> None:
    assert fills_grid(columns(A, (B, C)), FACTS.assuming(is_zero(A)))
    assert fills_grid(columns(A, (B, C)), FACTS.assuming(is_zero(B), is_zero(C)))


@pytest.mark.parametrize(
    "wrong",
    [
        changed(columns(A, (B, C)), 1, offset=B + 1),
        changed(columns(A, (B, C)), 1, offset=ZERO),
        changed(columns(A, (B, C)), 1, shape=(A, C + 1)),
        changed(columns(A, (B, C)), 0, strides=(B, ONE)),
        changed(columns(A, (B, B)), 1, offset=ZERO),
        changed(columns(A, (B, C)), 1, offset=B - C),
    ],
)
def test_what_is_no_tiling_is_not_proved(wrong: Balance) -> None:
    assert not fills_grid(wrong, FACTS)
    assert cancel(wrong, FACTS).open


def test_boxes_that_only_the_facts_part() -> None:
    grid = (A,)
    views = (SymbolicView(ZERO, (B,), (ONE,)), SymbolicView(C, (A - C,), (ONE,)))
    question = Balance("q", views, size=product(grid), grid=grid)
    assert not fills_grid(question, FACTS)
    assert fills_grid(question, FACTS.assuming(is_zero(B - C), not_negative(A - C)))


def test_boxes_that_are_apart_at_one_point_only() -> None:
    facts = start().with_atom("a", 0, 7).with_atom("b", 0, 3).with_atom("c", 0, 3)
    facts = facts.assuming(not_negative(B - C), not_negative(A - B))
    assert facts.point == {"a": 7, "b": 3, "c": 3}
    views = (SymbolicView(ZERO, (B,), (ONE,)), SymbolicView(C, (A - B,), (ONE,)))
    assert not fills_grid(Balance("q", views, size=A, grid=(A,)), facts)


def test_too_many_pairs_are_not_tried() -> None:
    assert not fills_grid(columns(A, tuple([constant(1)] * 70)), FACTS)
