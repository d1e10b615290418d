from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product as iterate

import pytest

from tests.symbolic.judging import start
from verifier.symbolic.cancellation import Cancellation, cancel, normal_view
from verifier.symbolic.claims import is_zero, not_negative, positive
from verifier.symbolic.demands import DEST, Balance
from verifier.symbolic.facts import Facts
from verifier.symbolic.layout import Numbers, SymbolicView
from verifier.symbolic.polynomial import ONE, ZERO, Polynomial, atom, constant, product

NAMES = ("a", "b", "c")
A, B, C = map(atom, NAMES)
POINTS = [dict(zip(NAMES, values, strict=True)) for values in iterate(range(4), repeat=3)]


def visits(views: Sequence[SymbolicView], point: Mapping[str, int]) -> Counter[int]:
    """How often each address is visited, by listing them."""
    found: Counter[int] = Counter()
    for view in views:
        ranges = [range(extent.value(point)) for extent in view.shape]
        strides = [stride.value(point) for stride in view.strides]
        for index in iterate(*ranges):
            found[view.offset.value(point) + sum(i * s for i, s in zip(index, strides, strict=True))] += 1
    return found


def row_major(shape: Numbers) -> Numbers:
    return tuple([product(shape[axis + 1 :]) for axis in range(len(shape))])


def whole(shape: Numbers) -> SymbolicView:
    return SymbolicView(ZERO, shape, row_major(shape))


def split(view: SymbolicView, axis: int, at: Polynomial, rest: Polynomial) -> list[SymbolicView]:
    """A view whose extent is at + rest, cut there."""
    low = (*view.shape[:axis], at, *view.shape[axis + 1 :])
    high = (*view.shape[:axis], rest, *view.shape[axis + 1 :])
    return [
        SymbolicView(view.offset, low, view.strides),
        SymbolicView(view.offset + at * view.strides[axis], high, view.strides),
    ]


def pick(rng: random.Random) -> Polynomial:
    return rng.choice((A, B, C, A + B, B + C, constant(1), constant(2), A * B, constant(3)))


def rewritten(rng: random.Random) -> tuple[list[SymbolicView], list[SymbolicView]]:
    """Two ways to write one multiset: a grid whole, and cut at random along its axes."""
    shape = [pick(rng) for _ in range(rng.randint(1, 3))]
    axis = rng.randrange(len(shape))
    at, rest = pick(rng), pick(rng)
    shape[axis] = at + rest
    left = [whole(tuple(shape))]
    right = split(left[0], axis, at, rest)
    if rng.random() < 0.5:
        other = rng.randrange(len(shape))
        if other != axis and shape[other] == B + C:
            right = [part for view in right for part in split(view, other, B, C)]
    return left, right


def perturbed(rng: random.Random, views: list[SymbolicView]) -> list[SymbolicView]:
    """One number of one view changed by a little."""
    place = rng.randrange(len(views))
    view = views[place]
    change = rng.choice((constant(1), A, B, -A))
    axis = rng.randrange(len(view.shape))
    kind = rng.choice(("offset", "extent", "stride"))
    shape, strides = list(view.shape), list(view.strides)
    if kind == "extent":
        shape[axis] += rng.choice((constant(1), A))
    elif kind == "stride":
        strides[axis] += change
    offset = view.offset + change if kind == "offset" else view.offset
    return [*views[:place], SymbolicView(offset, tuple(shape), tuple(strides)), *views[place + 1 :]]


def check(left: list[SymbolicView], right: list[SymbolicView]) -> Cancellation:
    """A question decided formally, and compared with a listing of addresses at many points."""
    facts = start(*NAMES)
    found = cancel(Balance("q", tuple(left), tuple(right)), facts)
    exact = all(case.survivors is not None for case in found.open)
    for point in POINTS:
        same = visits(left, point) == visits(right, point)
        concerned = any(case.concerns(point) for case in found.open)
        assert same or concerned, point
        if exact:
            assert same != concerned, point
    return found


@pytest.mark.parametrize("seed", range(60))
def test_T20_a_grid_cut_in_parts_is_the_grid(seed: int) -> None:
    left, right = rewritten(random.Random(seed))
    assert not check(left, right).open


@pytest.mark.parametrize("seed", range(120))
def test_T20_survivors_say_exactly_where_a_perturbed_grid_is_wrong(seed: int) -> None:
    rng = random.Random(seed)
    left, right = rewritten(rng)
    check(left, perturbed(rng, right))


def test_most_perturbations_are_seen() -> None:
    seen = 0
    for seed in range(60):
        rng = random.Random(seed)
        left, right = rewritten(rng)
        seen += bool(check(left, perturbed(rng, right)).open)
    assert seen > 50


def test_T20_axes_are_merged_also_where_they_are_empty() -> None:
    view = whole((A, B, C))
    normal = normal_view(view, start(*NAMES))
    assert normal is not None
    assert normal.axes == ((ONE, A * B * C),)


def test_T20_a_tiling_need_not_have_a_stride_of_one() -> None:
    element = SymbolicView(ZERO, (), ())
    assert not cancel(Balance("q", (element,), size=ONE), start(*NAMES)).open
    turns = [SymbolicView(constant(k), (A,), (constant(2),)) for k in range(2)]
    assert not cancel(Balance("q", tuple(turns), size=2 * A), start(*NAMES)).open
    assert cancel(Balance("q", (turns[0], turns[0]), size=2 * A), start(*NAMES)).open


def test_an_axis_of_extent_one_may_have_any_stride() -> None:
    odd = SymbolicView(A, (ONE, B), (-C, ONE))
    assert not cancel(Balance("q", (odd,), (SymbolicView(A, (B,), (ONE,)),)), start(*NAMES)).open


def test_an_axis_that_only_the_facts_make_one_element_long_may_have_stride_zero() -> None:
    odd = SymbolicView(ZERO, (A, B), (ZERO, ONE))
    plain = SymbolicView(ZERO, (B,), (ONE,))
    question = Balance("q", (odd,), (plain,))
    assert not cancel(question, start(*NAMES).assuming(is_zero(A - 1))).open
    assert cancel(question, start(*NAMES)).open


def test_an_empty_view_may_have_any_strides() -> None:
    gone = SymbolicView(-C, (A, ZERO), (-B, ZERO))
    assert not cancel(Balance("q", (gone,)), start(*NAMES)).open
    perhaps = SymbolicView(ZERO, (A, B), (ZERO, ONE))
    found = cancel(Balance("q", (perhaps,)), start(*NAMES))
    assert not any(case.concerns({"a": 0, "b": 2, "c": 0}) for case in found.open)
    assert any(case.concerns({"a": 2, "b": 2, "c": 0}) for case in found.open)


def test_strides_equal_on_part_of_the_domain_prove_nothing_elsewhere() -> None:
    here, there = SymbolicView(ZERO, (B,), (A + 1,)), SymbolicView(ZERO, (B,), (C + 1,))
    question = Balance("q", (here,), (there,))
    assert cancel(question, start(*NAMES)).open
    assert not cancel(question, start(*NAMES).assuming(is_zero(A - C))).open
    between = start(*NAMES).assuming(not_negative(A - C), not_negative(C - A))
    assert not cancel(question, between).open


def test_a_domain_without_points_proves_anything() -> None:
    facts = start(*NAMES).assuming(positive(A), is_zero(A))
    assert not cancel(Balance("q", (whole((B, C)),)), facts).open


def flat(widths: Numbers) -> tuple[list[SymbolicView], Polynomial]:
    """Parameters (2, width), cut in columns of which each half is written, in one buffer."""
    views: list[SymbolicView] = []
    start = ZERO
    for width in widths:
        axes = (constant(2), width), (2 * width, ONE)
        views += [SymbolicView(start, *axes), SymbolicView(start + width, *axes)]
        start += 4 * width
    return views, start


def test_T20_unrelated_strides_are_taken_apart_at_boundaries() -> None:
    widths = tuple([atom(f"w{k}") for k in range(12)])
    facts = start(*[f"w{k}" for k in range(12)], least=1)
    views, size = flat(widths)
    assert not cancel(Balance("q", tuple(views), size=size), facts).open
    assert cancel(Balance("q", tuple(views[:-1]), size=size), facts).open
    assert cancel(Balance("q", (*views[:-1], views[0]), size=size), facts).open


def test_pairs_are_folded_by_an_atom_that_is_no_size() -> None:
    fold = atom(DEST)
    rows = SymbolicView(ZERO, (A, B), (B + fold * B, ONE + fold))
    columns = SymbolicView(ZERO, (B, A), (ONE + fold, B + fold * B))
    swapped = SymbolicView(ZERO, (A, B), (B + fold, ONE + fold * A))
    assert not cancel(Balance("q", (rows,), (columns,)), start(*NAMES)).open
    assert cancel(Balance("q", (rows,), (swapped,)), start(*NAMES)).open


def test_T21_what_does_not_cancel_fails_somewhere() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        left, right = rewritten(rng)
        right = perturbed(rng, right)
        found = cancel(Balance("q", tuple(left), tuple(right)), start(*NAMES))
        for case in found.open:
            if case.survivors is not None:
                point = _deep(case.facts)
                assert case.concerns(point)
                assert visits(left, point) != visits(right, point)


def _deep(facts: Facts) -> Mapping[str, int]:
    """A point far from every surface of small degree."""
    values = dict(zip(facts.atoms_left(), (5, 9, 14), strict=False))
    point = facts.completed(values)
    assert point is not None
    return {**dict.fromkeys(NAMES, 7), **point}
