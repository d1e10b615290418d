"""Painting and wrapping."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diagnostics.hostile import width
from verifier.diagnostics.wording import escaped
from verifier.render.lines import Span, hanging, line, paint, wants_color, wrapped

modest = settings(max_examples=80, deadline=None)


@pytest.mark.parametrize(
    ("mode", "environment", "is_terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("always", {}, False, True),
        ("never", {}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, True),
        ("always", {"FORCE_COLOR": "0"}, True, False),
        ("auto", {"FORCE_COLOR": ""}, False, False),
    ],
)
def test_who_decides_on_colour(mode, environment, is_terminal, expected) -> None:
    assert wants_color(mode, environment, is_terminal=is_terminal) is expected


@modest
@given(st.text(), st.integers(2, 40))
def test_wrapping_loses_nothing_but_blanks(text: str, most: int) -> None:
    lines = wrapped(text, most)
    assert all(width(each) <= most for each in lines)
    assert "".join(lines).replace(" ", "") == escaped(text).replace(" ", "")


def test_words_stay_whole_where_they_fit() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("abcdefghij kl", 4) == ["abcd", "efgh", "ij", "kl"]
    assert wrapped("", 4) == [""]


def test_wide_characters_are_not_torn() -> None:
    assert wrapped("\u4e2d\u6587\u4e2d ab", 3) == ["\u4e2d", "\u6587", "\u4e2d", "ab"]


def test_no_width_is_too_small() -> None:
    for most in (1, 0, -5):
        assert wrapped("ab c", most) == ["a", "b", "c"]


def test_continued_lines_hang_below_their_beginning() -> None:
    assert paint(hanging(line("= note: "), "aaaa " * 5, width=30), color=False) == (
        "= note: aaaa aaaa aaaa aaaa\n        aaaa\n"
    )


def test_painting_escapes_and_drops_trailing_blanks() -> None:
    lines = [line(Span("a\x1b[31m", "error"), "  ", Span("  ")), ()]
    assert paint(lines, color=False) == "a\\x1b[31m\n\n"
    assert paint(lines, color=True) == "\x1b[1;31ma\\x1b[31m\x1b[0m\n\n"
