"""Numbers, elements and sums as people read them."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diagnostics.hostile import assert_inert
from verifier.diagnostics.wording import (
    cells,
    counted,
    element_text,
    escaped,
    joined,
    listing,
    number,
    scale_text,
    shape_text,
    short_scales,
    shown_name,
    singular,
    sum_text,
)
from verifier.geometry.strided import StridedView

modest = settings(max_examples=80, deadline=None)


@modest
@given(st.text())
def test_escaping_leaves_what_is_inert_and_is_stable(text: str) -> None:
    for encoding in ("utf-8", "latin-1", "ascii"):
        once = escaped(text, encoding)
        assert_inert(once)
        once.encode(encoding)
        assert escaped(once, encoding) == once


@pytest.mark.parametrize(
    "name",
    ["\u00fcn\u00ef c\u00f8d\u00e9", "\u4e2d\u6587", "u\u0308", "\u0928\u094d\u0928", "\u05d0", "\U0001f600"],
)
def test_names_are_shown_in_the_letters_of_their_people(name: str) -> None:
    assert escaped(name) == name
    assert escaped(name, "ascii") == name.encode("ascii", "backslashreplace").decode()


def test_what_is_unseen_or_piled_up_is_escaped() -> None:
    assert escaped("a\u200b\u3164\ufe0f") == "a\\u200b\\u3164\\ufe0f"
    assert escaped("u\u0308\u0308\u0308 \u0308") == "u\u0308\u0308\\u0308 \\u0308"


def test_a_cell_for_each_column() -> None:
    assert list(cells("a\u4e2du\u0308")) == ["a", "\u4e2d", "", "u\u0308"]
    assert list(cells("\u1112\u1161\u11ab")) == ["\u1112\u1161\u11ab", ""]


@modest
@given(
    st.text(alphabet=st.characters(exclude_characters="\\")),
    st.text(alphabet=st.characters(exclude_characters="\\")),
)
def test_escaping_keeps_different_texts_apart(left: str, right: str) -> None:
    assert (escaped(left) == escaped(right)) == (left == right)


def test_escapes_are_those_of_python() -> None:
    assert escaped("a\n\x1b[31m\u202e\U000e0001\x7f") == "a\\n\\x1b[31m\\u202e\\U000e0001\\x7f"


@modest
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9)), max_size=5), st.integers(-99, 99))
def test_T1_a_sum_can_be_redone_by_hand(axes: list[tuple[int, int]], offset: int) -> None:
    view = StridedView(offset, tuple(i + 1 for _, i in axes), tuple(s for s, _ in axes))
    index = tuple(i for _, i in axes)
    left, _, right = sum_text(view, index).rpartition(" = ")
    assert eval(left) == int(right) == view.address(index)


def test_parentheses_for_indices_and_brackets_for_elements() -> None:
    assert shape_text((0, 1)) == "(0, 1)"
    assert shape_text((4,)) == "(4,)"
    assert shape_text(()) == "()"
    assert element_text((0, 1)) == "[0, 1]"


@modest
@given(st.integers(-(2**127), 2**127))
def test_numbers_are_exact_as_long_as_anybody_reads_them(value: int) -> None:
    assert int(number(value)) == value


@modest
@given(st.integers(130, 10**6))
def test_larger_numbers_are_bounded_by_a_power_of_two(bits: int) -> None:
    assert number(2**bits) == number(2**bits + 1) == f"2^{bits} or more"
    assert number(-(2**bits)) == f"-2^{bits} or more"


def test_scales_are_exact() -> None:
    assert [scale_text(s) for s in (Fraction(2), Fraction(1, 2), Fraction(1, 3), float("inf"))] == [
        "2",
        "0.5",
        "1/3",
        "inf",
    ]
    assert scale_text(Fraction(0.1)) == "0.1"
    assert scale_text(Fraction(1, 10)) == "1/10"


def test_lists_are_cut_short() -> None:
    assert listing((1, 5)) == "1, 5"
    assert listing((1, 5), 4) == "1, 5, ..."
    assert listing(range(100)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ..."
    assert joined(["1", "2", "3"]) == "1, 2 and 3"
    assert [counted(n, w) for n, w in ((1, "clash"), (2, "clash"), (0, "piece"), (2, "address"))] == [
        "1 clash",
        "2 clashes",
        "0 pieces",
        "2 addresses",
    ]


@modest
@given(st.text())
def test_names_keep_their_ends(name: str) -> None:
    shown = shown_name(name)
    assert len(shown) <= 60
    assert shown == name or (len(name) > 60 and name.startswith(shown[:28]) and name.endswith(shown[-28:]))


def test_a_scale_takes_few_characters_and_says_where_it_is_not_exact() -> None:
    third = Fraction(0.1) + Fraction(1, 3)
    assert scale_text(third) == f"about {float(third)!r}"
    assert scale_text(Fraction(1, 3**200)).startswith("about ")
    assert len(scale_text(Fraction(10**600, 7))) < 50
    assert len(scale_text(Fraction(7, 10**600))) < 50
    assert scale_text(Fraction(0)) == "0"


@modest
@given(st.fractions().filter(lambda f: f.denominator > 1), st.integers(1, 900))
def test_scales_inside_a_text_are_written_like_scales_alone(scale: Fraction, bits: int) -> None:
    assert short_scales(f"element [0, 1] times {scale}") == f"element [0, 1] times {scale_text(scale)}"
    tiny = Fraction(1, 2**bits)
    assert short_scales(f"sum {tiny} over ranks [0, 1]") == f"sum {scale_text(tiny)} over ranks [0, 1]"


def test_other_texts_keep_their_numbers() -> None:
    for text in ("elements 12/0", "a/1/2", "version 1.2/3", "ranks [0, 1]", ""):
        assert short_scales(text) == text
    assert short_scales("9" * 300) == "2^996 or more"


@pytest.mark.parametrize(
    ("one", "several"),
    [("piece", "pieces"), ("box", "boxes"), ("storage entry", "storage entries"), ("key", "keys")],
)
def test_nouns_have_their_plural_and_back(one: str, several: str) -> None:
    assert counted(1, one) == f"1 {one}"
    assert counted(2, one) == f"2 {several}"
    assert singular(several) == one
    assert singular(f"{several} of files") == f"{one} of files"
