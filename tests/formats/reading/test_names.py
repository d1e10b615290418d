from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counting import no_hang
from verifier.formats.reading.names import PatternList, parameter_name, pattern_of

names = st.text(st.sampled_from("abz019_.-[]() *\\^$|/"), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(names)
def test_an_escaped_name_is_read_back(name: str) -> None:
    assert parameter_name(pattern_of(name)) == (name, True)
    assert PatternList([pattern_of(name)]).matching(name) == [pattern_of(name)]


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab.\\$^*+d("), max_size=8), names)
def test_only_exact_keys_are_unescaped_and_they_match_nothing_else(key: str, other: str) -> None:
    name, exact = parameter_name(key)
    if not exact:
        assert name == key
    elif key.startswith("^"):
        assert re.match(key, name)
        assert (re.match(key, other) is not None) == (other == name)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab0.\\d*+^$"), max_size=7), st.text("ab0.", max_size=8))
def test_patterns_that_are_run_match_as_re_matches(pattern: str, name: str) -> None:
    patterns = PatternList([pattern])
    if not patterns.wild:
        assert patterns.matching(name) == ([pattern] if re.match(pattern, name) else [])


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|a)*b", "a*a*a*a*a*a*b", "(?:x{1,99}){1,99}", "[a-z]*", "a**", "(?P<x>a)", "\\", ""],
)
def test_wild_patterns_are_not_run(pattern: str) -> None:
    patterns = PatternList([pattern])
    assert patterns.wild == [pattern]
    assert patterns.matching("a" * 40) == []


def test_the_slowest_pattern_that_is_run_ends_soon() -> None:
    with no_hang():
        assert PatternList([".*a.*b$"]).matching("a" * 4096) == []
