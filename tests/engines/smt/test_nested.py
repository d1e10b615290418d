"""Nested parts: the same visits, and digits that can be read off."""

from __future__ import annotations

import random
from collections import Counter

import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.questions import arbitrary
from verifier.engines.smt.encode import member, reached, visits
from verifier.engines.smt.nested import MOST_PARTS, contains, is_nested, nested_parts, visits_at
from verifier.geometry.strided import NormalView, normal_form

RANDOMS = st.randoms(use_true_random=False)


def counted(view: NormalView) -> Counter[int]:
    """How often each address is visited."""
    addresses = [view.offset]
    for stride, extent in view.axes:
        addresses = [address + k * stride for address in addresses for k in range(extent)]
    return Counter({address: n * view.multiplicity for address, n in Counter(addresses).items()})


def random_view(rng: random.Random) -> NormalView:
    while (view := normal_form(arbitrary(rng).view())) is None:
        pass
    return view


@settings(max_examples=80, deadline=None)
@given(rng=RANDOMS)
def test_T17_parts_are_nested_and_keep_every_visit(rng: random.Random) -> None:
    view = random_view(rng)
    parts = nested_parts(view)
    assert parts is not None
    assert all(is_nested(part.axes) for part in parts)
    total: Counter[int] = Counter()
    for part in parts:
        assert set(counted(part).values()) == {part.multiplicity}
        total += counted(part)
    assert total == counted(view)


@settings(max_examples=40, deadline=None)
@given(rng=RANDOMS)
def test_T17_membership_by_division_is_membership(rng: random.Random) -> None:
    view = random_view(rng)
    truth = counted(view)
    parts = nested_parts(view)
    assert parts is not None
    part = rng.choice(parts)
    context = z3.Context()
    near = range(view.offset - 2, view.highest + 3)
    for address in {rng.choice(near), rng.choice(near), rng.choice(list(truth)), part.highest}:
        place = z3.IntVal(address, context)
        assert visits_at([view], address) == truth[address]
        assert z3.simplify(visits(parts, place)).as_long() == truth[address]
        assert contains(part, address) == (address in counted(part))
        assert z3.is_true(z3.simplify(member(part, place))) == (address in counted(part))


def test_T17_index_variables_reach_just_the_addresses() -> None:
    view = NormalView(3, ((2, 3), (3, 2)))  # 3 5 7 6 8 10
    solver = z3.Solver()
    place, indices = z3.Int("place"), [z3.Int("i"), z3.Int("j")]
    solver.add(reached(view, indices, place))
    found = []
    while solver.check() == z3.sat:
        found.append(solver.model()[place].as_long())
        solver.add(place != found[-1])
    assert sorted(found) == [3, 5, 6, 7, 8, 10]


def test_a_view_of_too_many_parts_has_none() -> None:
    extent = MOST_PARTS + 1
    assert nested_parts(NormalView(0, ((extent, extent), (extent + 1, extent)))) is None
    assert nested_parts(NormalView(0, ((extent, MOST_PARTS), (extent + 1, extent)))) is not None
    assert visits_at([NormalView(0, ((extent, extent), (extent + 1, extent)))], 0) is None
