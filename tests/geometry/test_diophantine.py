"""Theory: T14, against listing every address."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.adversarial import frobenius, hard_pairs, pair_with_sum, sums
from verifier.geometry.diophantine import Meet, indices_at, meeting, meeting_by, revisit_by
from verifier.geometry.equations import (
    Apart,
    LinearForm,
    TooHard,
    Values,
    linear_form,
    search,
    search_by_halves,
)
from verifier.geometry.strided import StridedView

NODES = 100_000

CHAIN = (1, 2, 4, 12, 24, 72)
COPRIME = (3, 5, 7, 11, 13)
STRIDES = {
    "chain": CHAIN,
    "coprime": COPRIME,
    "wrap": (1, 6, 7, 8, 14),
    "signed": (*CHAIN, *COPRIME, *(-s for s in CHAIN), 0),
}


def random_view(rng: random.Random, strides: tuple[int, ...]) -> StridedView:
    axes = rng.randint(0, 4)
    shape = tuple(rng.choice((0, 1)) if rng.random() < 0.1 else rng.randint(1, 5) for _ in range(axes))
    return StridedView(rng.randint(-10, 60), shape, tuple(rng.choice(strides) for _ in range(axes)))


def indices(view: StridedView) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, view.shape)))


def inside(index: tuple[int, ...], view: StridedView) -> bool:
    return len(index) == len(view.shape) and all(0 <= i < n for i, n in zip(index, view.shape, strict=True))


@pytest.mark.parametrize("family", STRIDES)
def test_T14_meeting_agrees_with_listing(family: str) -> None:
    rng = random.Random(f"meeting {family}")
    outcomes: Counter[str] = Counter()
    for _ in range(1500):
        left, right = (random_view(rng, STRIDES[family]) for _ in range(2))
        shared = {left.address(i) for i in indices(left)} & {right.address(j) for j in indices(right)}
        found = meeting(left, right, nodes=NODES)
        match found:
            case Meet():
                assert inside(found.left, left)
                assert inside(found.right, right)
                assert left.address(found.left) == right.address(found.right)
                outcomes["meet"] += 1
            case Apart():
                assert not shared, (left, right, found)
                outcomes["apart"] += 1
                outcomes[found.method] += 1
            case TooHard():
                pytest.fail(f"{left} and {right} are small")
    assert outcomes["meet"] >= 200
    assert outcomes["apart"] >= 200
    assert outcomes["hull"] >= 50
    assert outcomes["empty"] >= 50


def test_T14_every_method_takes_part() -> None:
    rng = random.Random("methods")
    methods: Counter[str] = Counter()
    for strides in STRIDES.values():
        for _ in range(800):
            found = meeting(random_view(rng, strides), random_view(rng, strides), nodes=NODES)
            if isinstance(found, Apart):
                methods[found.method] += 1
    for method in ("empty", "hull", "residue", "search"):
        assert methods[method] >= 40, methods


@pytest.mark.parametrize("family", STRIDES)
def test_T14_revisit_agrees_with_listing(family: str) -> None:
    rng = random.Random(f"revisit {family}")
    outcomes: Counter[str] = Counter()
    for _ in range(1500):
        view = random_view(rng, STRIDES[family])
        addresses = [view.address(index) for index in indices(view)]
        found = revisit_by(view, lambda form, total: search(form, total, NODES))
        match found:
            case Meet():
                assert found.left < found.right
                assert inside(found.left, view)
                assert inside(found.right, view)
                assert view.address(found.left) == view.address(found.right)
                outcomes["twice"] += 1
            case Apart():
                assert len(set(addresses)) == len(addresses), (view, found)
                outcomes["once"] += 1
            case TooHard():
                pytest.fail(f"{view} is small")
    assert outcomes["twice"] >= 200
    assert outcomes["once"] >= 200


@settings(max_examples=100, deadline=None)
@given(rng=st.randoms(use_true_random=False), limit=st.integers(0, 5))
def test_T14_indices_at_lists_in_lexicographic_order(rng: random.Random, limit: int) -> None:
    view = random_view(rng, STRIDES["signed"])
    addresses = [(view.address(index), index) for index in indices(view)]
    address = rng.choice(addresses)[0] if addresses and rng.random() < 0.8 else rng.randint(-20, 80)
    expected = [index for reached, index in addresses if reached == address]
    assert indices_at(view, address, limit=10**6, nodes=NODES) == tuple(expected)
    assert indices_at(view, address, limit=limit, nodes=NODES) == tuple(expected[:limit])


@pytest.mark.parametrize(
    ("view", "address", "expected"),
    [
        (StridedView(7, (), ()), 7, ((),)),
        (StridedView(7, (), ()), 8, ()),
        (StridedView(0, (10**12, 8), (8, 1)), 8 * 10**11 + 3, ((10**11, 3),)),
        (StridedView(0, (8, 10**12), (-1, 8)), 8 * 10**11 - 3, ((3, 10**11),)),
        # Stride 0: a dead end is not walked again for each of its 10^18 values, a solution is repeated.
        (StridedView(0, (10**9, 10**9, 5), (0, 0, 7)), 8, ()),
        (StridedView(0, (10**9, 10**9, 5), (0, 0, 7)), 14, ((0, 0, 2), (0, 1, 2), (0, 2, 2))),
    ],
)
def test_T14_indices_at_does_not_depend_on_extents(
    view: StridedView, address: int, expected: tuple[tuple[int, ...], ...]
) -> None:
    assert indices_at(view, address, limit=3, nodes=50) == expected


def test_indices_at_stops_at_its_budget() -> None:
    terms = [(stride, 40) for stride in (10_007, 10_009, 10_037, 10_039, 10_061)]
    view = StridedView(0, tuple(n for _, n in terms), tuple(s for s, _ in terms))
    assert isinstance(indices_at(view, 977_777, limit=1, nodes=100), TooHard)


def test_T14_coprime_strides_are_decided_at_any_length() -> None:
    """The greatest address that 7*i + 11*j misses is 59."""
    left, right = pair_with_sum([(7, 10**15), (11, 10**15)], 59)
    assert isinstance(meeting(left, right, nodes=10), Apart)
    left, right = pair_with_sum([(7, 10**15), (11, 10**15)], 60)
    assert isinstance(meeting(left, right, nodes=10), Meet)


def test_T14_nested_radices_need_no_search() -> None:
    """Interleaved heads: two merged terms, and no value of the first leaves room for the other."""
    left = StridedView(0, (1000, 64, 128), (64 * 384, 384, 1))
    right = StridedView(128, (1000, 64, 128), (64 * 384, 384, 1))
    assert meeting(left, right, nodes=0) == Apart("search", 0)


def test_T14_hard_pairs_never_run_past_the_budget() -> None:
    """Either the search decides rightly or it stops; both happen."""
    outcomes: Counter[str] = Counter()
    for pair in hard_pairs():
        found = meeting(pair.left, pair.right, nodes=2_000)
        outcomes[type(found).__name__] += 1
        assert found.nodes <= 2_000
        if not isinstance(found, TooHard):
            assert isinstance(found, Meet) == pair.meets, pair
    assert outcomes["TooHard"] >= 10
    assert outcomes["Meet"] >= 5
    assert outcomes["Apart"] >= 20


@settings(max_examples=100, deadline=None)
@given(
    terms=st.lists(st.tuples(st.integers(-30, 30).filter(bool), st.integers(1, 4)), max_size=5),
    total=st.integers(-150, 150),
)
def test_T14_both_searches_agree_with_listing(terms: list[tuple[int, int]], total: int) -> None:
    form = linear_form(tuple(terms))
    reachable = total in sums([(coefficient, bound + 1) for coefficient, bound in terms])
    for solver in (search, search_by_halves):
        found = solver(form, total + form.shift, NODES)
        match found:
            case Values(values):
                lifted = form.lift(values)
                assert all(0 <= x <= bound for x, (_, bound) in zip(lifted, terms, strict=True))
                assert sum(x * c for x, (c, _) in zip(lifted, terms, strict=True)) == total
            case _:
                assert isinstance(found, Apart)
                assert not reachable


def test_T14_reduction_merges_nested_radices() -> None:
    form = linear_form(((1, 7), (8, 9), (-80, 3), (7, 2)))
    assert form.coefficients == (1,)
    assert form.bounds == (7 + 8 * 9 + 80 * 3 + 7 * 2,)
    assert form.shift == 240


def test_halves_refuse_without_work_what_they_cannot_afford() -> None:
    form = linear_form(((10_007, 10**9), (10_009, 10**9), (10_037, 10**9)))
    assert search_by_halves(form, 123_456_789, NODES) == TooHard(0)


@pytest.mark.parametrize("coefficients", [(6, 9, 20), (7, 11), (31, 41, 59, 26)])
def test_frobenius_number_is_the_greatest_gap(coefficients: tuple[int, ...]) -> None:
    assert math.gcd(*coefficients) == 1
    greatest = frobenius(coefficients)
    limit = greatest + min(coefficients)
    reached = {0}
    for number in range(1, limit + 1):
        if any(number - c in reached for c in coefficients):
            reached.add(number)
    assert greatest not in reached
    assert reached.issuperset(range(greatest + 1, limit + 1))


def test_meeting_by_hands_the_equation_to_the_solver() -> None:
    asked: list[tuple[tuple[int, ...], int]] = []

    def solver(form: LinearForm, total: int) -> TooHard:
        asked.append((form.coefficients, total))
        return TooHard(0)

    left, right = pair_with_sum([(7, 10), (11, 10)], 59)
    assert meeting_by(left, right, solver) == TooHard(0)
    assert asked == [((11, 7), 59)]
