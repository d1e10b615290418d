from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counting import calls_at_most, no_hang
from tests.formats.documents import HERE, LIMITS, refusal_of
from verifier.formats.reading.json_text import parse
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(values, st.sampled_from([None, 1]), st.booleans())
def test_plain_json_is_read_as_python_reads_it(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    try:
        data = text.encode()
    except UnicodeEncodeError:  # a lone surrogate cannot be written as UTF-8
        return
    parsed = parse(data, HERE, LIMITS)
    assert parsed.value == value
    assert parsed.flaws == ()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text('{}[]",:0123456789eE.-\\u NaInfity\n', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    refusal = refusal_of(lambda: parse(data, HERE, LIMITS))
    if refusal is not None:
        assert refusal.code in {"SM001", "SM006"}
        return
    parsed = parse(data, HERE, LIMITS)
    for flaw in parsed.flaws:
        assert flaw.code in {"SM003", "SM005"}
    assert json.loads(data) == parsed.value or parsed.flaws


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ('{"a": 1,\n "a": 2}', "SM003", 2, 2),
        ('{"x": [{"a": 1, "b": {}, "a": 2}]}', "SM003", 1, 26),
        ('{"a": 1, "\\u0061": 2}', "SM003", 1, 10),
        ('{"scale": NaN}', "SM005", 1, 11),
        ("[1,\n Infinity]", "SM005", 2, 2),
        ("[-Infinity]", "SM005", 1, 2),
        ('{"NaN": [1.5, 1e999]}', "SM005", 1, 15),
    ],
)
def test_a_text_of_two_meanings_has_a_flaw(text: str, code: str, line: int, column: int) -> None:
    (flaw,) = parse(text.encode(), HERE, LIMITS).flaws
    assert (flaw.code, flaw.line, flaw.column) == (code, line, column)


def test_the_same_key_in_different_objects_is_no_flaw() -> None:
    assert parse(b'[{"a": 1}, {"a": {"a": 2}}]', HERE, LIMITS).flaws == ()


@pytest.mark.parametrize(
    ("data", "code", "line", "column"),
    [
        (b'{"a": 1,\n "b" 2}', "SM001", 2, 6),
        (b"", "SM001", 1, 1),
        (b"[1] 2", "SM001", 1, 5),
        (b'{"a": "\xff"}', "SM001", 1, 8),
        (b'{\n"\xc3\xa9": \x80}', "SM001", 2, 6),
        (b"\xef\xbb\xbf{}", "SM001", 1, 1),
        ("{}".encode("utf-16"), "SM001", 1, 1),
    ],
)
def test_what_is_no_utf8_json_is_refused_with_line_and_column(
    data: bytes, code: str, line: int, column: int
) -> None:
    with pytest.raises(FormatError) as caught:
        parse(data, HERE, LIMITS)
    assert (caught.value.code, caught.value.line, caught.value.column) == (code, line, column)


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        (b"[" * 200_000, LIMITS),
        (b'{"a":' * 200_000, LIMITS),
        (b"[" * 101 + b"]" * 101, LIMITS),
        (b"[" + b"9" * 129 + b"]", LIMITS),
        (b"[0." + b"3" * 129 + b"]", LIMITS),
        (b"[1,2,3,4,5]", Limits(nodes=5)),
        (b"[1,2,3]", Limits(json_bytes=6)),
    ],
)
def test_texts_over_a_limit_are_refused(data: bytes, limits: Limits) -> None:
    with pytest.raises(FormatError, match="SM006"):
        parse(data, HERE, limits)


def test_brackets_and_digits_in_texts_do_not_count() -> None:
    text = json.dumps(["[" * 500, "9" * 500, '\\"' + "{" * 500, ",,,"])
    assert parse(text.encode(), HERE, Limits(nodes=6)).flaws == ()


@pytest.mark.parametrize(
    "data",
    [
        b'"' + b'\\"' * 2_000_000,
        b'["' * 1_000_000,
        b'{"a":1,' * 1_000_000,
        b"{}," * 1_000_000,
        b"\\" * 4_000_000,
    ],
    ids=["escaped-quotes", "open-lists", "open-objects", "many-values", "backslashes"],
)
def test_hostile_texts_are_refused_in_linear_time(data: bytes) -> None:
    with no_hang(), calls_at_most(1000), pytest.raises(FormatError):
        parse(data, HERE, LIMITS)
