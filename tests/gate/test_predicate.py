"""Preconditions as text: what they say, that Python says the same, and what is refused at which column."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifier.gate.predicate import TextError, predicate

NAMES = {"rows": 3, "columns": 4, "widths": [1, 2, 3], "order": "grouped"}


def test_it_asks_for_the_names_it_uses() -> None:
    assert list(inspect.signature(predicate("sum(widths) == rows < columns")).parameters) == [
        "widths",
        "rows",
        "columns",
    ]


numbers = st.one_of(
    st.integers(-5, 5).map(str),
    st.sampled_from(["rows", "columns", "len(widths)", "sum(widths)", "widths[0]", "widths[-1]"]),
)
terms = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(" ".join).map("({})".format),
        st.tuples(inner, st.sampled_from(["//", "%"]), st.integers(1, 4).map(str))
        .map(" ".join)
        .map("({})".format),
        inner.map("(-{})".format),
        st.tuples(inner, st.sampled_from(["and", "or", "<", "=="]), inner).map(" ".join).map("({})".format),
        inner.map("(not {})".format),
        st.tuples(inner, inner).map(lambda pair: f"max({', '.join(pair)})"),
        inner.map("min(widths[1:2] + widths)*{}".format).filter(lambda text: len(text) < 200),
    ),
    max_leaves=8,
)
comparisons = st.tuples(
    terms, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), terms, st.sampled_from(["", " <= 7"])
).map(lambda parts: f"{parts[0]} {parts[1]} {parts[2]}{parts[3]}")
conditions = st.recursive(
    st.one_of(comparisons, terms),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join).map("({})".format),
        inner.map("not ({})".format),
    ),
    max_leaves=4,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conditions)
def test_it_means_what_python_means(text: str) -> None:
    stated = predicate(text)
    expected = eval(text, {}, dict(NAMES))
    found = stated(**{name: NAMES[name] for name in stated.names})
    assert (found, type(found)) == (expected, type(expected))


def test_later_parts_are_not_looked_at() -> None:
    assert predicate("rows == 3 or widths[9] == 0")(**NAMES) is True
    assert predicate("rows == 4 and widths[9] == 0")(**NAMES) is False
    assert predicate("rows < 3 < widths[9]")(**NAMES) is False


def test_the_part_that_decides_is_the_value() -> None:
    fallback = predicate("rows == (columns or 4)")
    assert fallback(rows=4, columns=0) is True
    assert fallback(rows=4, columns=1) is False
    assert predicate("1 + (rows and columns)")(rows=2, columns=5) == 6


def test_a_text_may_be_compared_with() -> None:
    assert predicate("order == 'grouped' and rows > 0")(order="grouped", rows=1) is True


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("rows == open('x')", 9, "'open' is called; only sum, min, max and len may be"),
        ("sum(widths, start=1)", 1, "'sum' is called"),
        ("rows.real == 1", 1, "'rows.real' is not allowed"),
        ("rows > 1 and [r for r in widths]", 14, "is not allowed"),
        ("  rows ** 2 == 4", 3, "is not allowed"),
        ("rows / 2 == 1", 1, "is not allowed"),
        ("rows is 1", 1, "is not allowed"),
        ("rows in widths", 1, "is not allowed"),
        ("lambda: 1", 1, "is not allowed"),
        ("rows == 1.5", 9, "is not allowed"),
        ("'a' * rows == order", 1, "is not allowed"),
        ("widths[::2]", 1, "is not allowed"),
        ("rows\n == columns.x", 10, "'columns.x' is not allowed"),
        ("rows ==", 8, "is no expression"),
        ("(rows", 1, "is no expression"),
        ("sum == 1", 1, "sum is a function; call it"),
    ],
)
def test_what_is_refused_and_where(text: str, column: int, words: str) -> None:
    with pytest.raises(TextError, match=words) as refused:
        predicate(text)
    assert refused.value.column == column
    assert f"where, column {column}: " in str(refused.value)


@pytest.mark.parametrize("text", ["", "  ", "x" * 3000, "(" * 300 + "x" + ")" * 300, "not " * 490 + "x"])
def test_what_is_no_condition_at_all(text: str) -> None:
    if text.startswith("not "):
        assert predicate(text)(x=1) is True
        return
    with pytest.raises(TextError):
        predicate(text)
