from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from verifier.symbolic.polynomial import ONE, ZERO, Polynomial, atom, constant, product

NAMES = ("a", "b", "c")
POINTS = st.fixed_dictionaries({name: st.integers(-9, 9) for name in NAMES})

polynomials = st.recursive(
    st.one_of(st.integers(-5, 5).map(constant), st.sampled_from(NAMES).map(atom)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] - pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
    ),
    max_leaves=6,
)


@given(polynomials, polynomials, POINTS)
def test_operators_are_those_of_the_values(one: Polynomial, other: Polynomial, point: dict[str, int]) -> None:
    here, there = one.value(point), other.value(point)
    assert (one + other).value(point) == here + there
    assert (one - other).value(point) == here - there
    assert (one * other).value(point) == here * there
    assert (-one).value(point) == -here
    assert (one + 3).value(point) == here + 3
    assert (3 - one).value(point) == 3 - here
    assert (2 * one).value(point) == 2 * here


@given(polynomials, polynomials, polynomials)
def test_equal_polynomials_are_equal_objects(one: Polynomial, other: Polynomial, third: Polynomial) -> None:
    expanded, factored = one * third + other * third, (one + other) * third
    assert expanded == factored
    assert hash(expanded) == hash(factored)
    assert str(expanded) == str(factored)
    assert one - one == ZERO
    assert list(expanded.terms) == sorted(expanded.terms, key=lambda term: (len(term[0]), term[0]))


@given(polynomials, polynomials)
def test_division_undoes_a_product(one: Polynomial, other: Polynomial) -> None:
    if other != ZERO:
        assert (one * other).divided(other) == one


@given(polynomials, polynomials)
def test_a_quotient_times_the_divisor_is_the_dividend(one: Polynomial, other: Polynomial) -> None:
    if other == ZERO:
        return
    quotient = one.divided(other)
    if quotient is not None:
        assert quotient * other == one


@given(polynomials)
def test_the_content_divides_and_nothing_is_left_of_it(one: Polynomial) -> None:
    number, common = one.content()
    if one == ZERO:
        return
    rest = one.over(number, common)
    assert rest * number * Polynomial(((common, 1),)) == one
    assert rest.content() == (1, ())


@given(polynomials, polynomials, POINTS)
def test_substitution_is_composition(one: Polynomial, other: Polynomial, point: dict[str, int]) -> None:
    assert one.substituted({"a": other}).value(point) == one.value({**point, "a": other.value(point)})


@given(polynomials)
def test_what_a_polynomial_says_of_itself(one: Polynomial) -> None:
    assert one.constant == (None if one.atoms() else one.value({}))
    assert one.constant_term == one.value(dict.fromkeys(NAMES, 0))
    assert one.degree == max((len(monomial) for monomial, _ in one.terms), default=0)


def test_text() -> None:
    a, b = atom("a"), atom("b")
    assert str(2 * a * b - b + 3) == "2*a*b - b + 3"
    assert str(-a) == "-a"
    assert str(ZERO) == "0"
    assert product([]) == ONE
