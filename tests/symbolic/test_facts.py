from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.symbolic.judging import start
from tests.symbolic.test_polynomial import polynomials
from verifier.symbolic.claims import Claim, is_zero, not_negative, positive
from verifier.symbolic.facts import Facts
from verifier.symbolic.polynomial import atom

NAMES = ("a", "b", "c")
A, B, C = map(atom, NAMES)
BOX = [dict(zip(NAMES, values, strict=True)) for values in product(range(5), repeat=3)]

claims = st.builds(Claim, polynomials, st.sampled_from((">=", "==", "!=")))


def members(known: list[Claim]) -> list[dict[str, int]]:
    """The points of the box at which all claims hold."""
    return [point for point in BOX if all(claim.at(point) for claim in known)]


def among(facts: Facts, point: dict[str, int]) -> bool:
    """Whether a point is one of the facts; not asked where a change of variables brought in an atom."""
    return not set(facts.atoms_left()) <= set(NAMES) or facts.holds_at(point)


@given(claims, st.sampled_from(BOX))
def test_simplified_and_negated_claims(claim: Claim, point: dict[str, int]) -> None:
    assert claim.simplified().at(point) == claim.at(point)
    assert claim.negation.at(point) != claim.at(point)


@settings(max_examples=150)
@given(st.lists(claims, max_size=4), claims)
def test_T19_what_is_entailed_holds_at_every_point(known: list[Claim], claim: Claim) -> None:
    facts = start(*NAMES).assuming(*known)
    inside = members(known)
    if facts.entails(claim):
        assert all(claim.at(point) for point in inside)
    if facts.contradictory:
        assert not inside


@settings(max_examples=150)
@given(st.lists(claims, max_size=4))
def test_T19_equations_are_solved_without_losing_or_adding_points(known: list[Claim]) -> None:
    facts = start(*NAMES).assuming(*known)
    inside = members(known)
    for point in BOX:
        if point in inside:
            assert among(facts, point)
        elif all(name in NAMES for name in facts.atoms_left()):
            assert not facts.holds_at(point)


@settings(max_examples=100)
@given(st.lists(claims, max_size=4))
def test_a_point_that_is_found_is_one(known: list[Claim]) -> None:
    point = start(*NAMES).assuming(*known).found().point
    if point is not None:
        assert all(claim.at(point) for claim in known)
        assert all(point[name] >= 0 for name in NAMES)


@settings(max_examples=150)
@given(st.lists(st.integers(-6, 6), min_size=3, max_size=3), st.integers(-12, 12))
def test_T19_a_linear_equation_is_solved_whatever_its_coefficients(factors: list[int], number: int) -> None:
    polynomial = sum((factor * one for factor, one in zip(factors, (A, B, C), strict=True)), A - A) + number
    facts = start(*NAMES).assuming(is_zero(polynomial))
    if polynomial.constant is None and not facts.impossible:
        assert facts.reduced(polynomial).constant == 0
        assert facts.entails(is_zero(polynomial))
    if facts.contradictory:
        assert not members([is_zero(polynomial)])


def test_methods_beyond_signs() -> None:
    facts = start(*NAMES).assuming(not_negative(A - B), positive(C))
    assert facts.entails(not_negative((A - B) * C * C))
    assert facts.entails(positive((A - B + 1) * C))
    assert not facts.entails(positive(A * C))
    assert facts.assuming(positive(A)).entails(positive(A * C))
    assert facts.assuming(positive(A)).entails(not_negative(A * C - C))


def test_nothing_is_known_of_a_product_with_an_atom_of_any_sign() -> None:
    facts = start("a", least=1).with_atom("t", None)
    assert not facts.entails(not_negative(A * atom("t")))
    assert not facts.entails(not_negative(A * atom("t") - atom("t")))


def test_a_sum_of_terms_that_are_not_negative_vanishes_term_by_term() -> None:
    facts = start(*NAMES).assuming(not_negative(-A - B - B * C))
    assert facts.reduced(A).constant == 0
    assert facts.reduced(B).constant == 0
    assert facts.reduced(C) == C


def test_bounds_that_meet_are_an_equation() -> None:
    facts = start(*NAMES).assuming(not_negative(A - 3), not_negative(3 - A))
    assert facts.reduced(A).constant == 3
    assert start(*NAMES).assuming(not_negative(A - 3), not_negative(2 - A)).contradictory


def test_a_new_name_may_be_negative() -> None:
    facts = start(*NAMES).naming("s", A - B)
    assert not facts.entails(not_negative(atom("s")))
    assert facts.assuming(not_negative(A - B)).entails(not_negative(atom("s")))


def test_a_new_name_takes_the_place_of_an_atom() -> None:
    facts = start(*NAMES).naming("s", A + B + C)
    assert facts.reduced(A + B + C) == atom("s")
    assert facts.entails(not_negative(atom("s") - A - B))
    assert facts.point is not None
    assert facts.point["s"] == facts.point["a"] + facts.point["b"] + facts.point["c"]


@given(claims, st.fixed_dictionaries({name: st.integers(-9, 9) for name in NAMES}))
def test_claims_are_written_as_people_do(claim: Claim, point: dict[str, int]) -> None:
    assert eval(str(claim), dict(point)) == claim.at(point)
    left, _, right = str(claim).partition(f" {next(o for o in ('>=', '<=', '==', '!=') if o in str(claim))} ")
    assert "-" not in left + right
    assert any(name in left for name in NAMES) or not claim.polynomial.atoms()
