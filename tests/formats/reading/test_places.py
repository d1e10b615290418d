from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.reading.test_json_text import values
from verifier.formats import resolve
from verifier.formats.reading.places import line_column, locate, repeated_key, span_of
from verifier.model.origin import Origin


def members(value: object, origin: Origin) -> list[tuple[Origin, object]]:
    found = [(origin, value)]
    if isinstance(value, dict):
        for key, item in value.items():
            found += members(item, origin.child(key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            found += members(item, origin.child(position))
    return found


@settings(max_examples=60, deadline=None)
@given(values, st.sampled_from([None, 0, 3]), st.booleans())
def test_every_value_is_found_where_it_stands(value: object, indent: int | None, ascii_only: bool) -> None:
    text = "\n " + json.dumps(value, indent=indent, ensure_ascii=ascii_only) + " \n"
    for origin, part in members(value, Origin("m.json")):
        located = locate(text, origin.pointer)
        assert located is not None
        assert json.loads(text[located.start : located.end]) == part
        assert (located.key is None) == (origin.pointer == "" or not _in_object(value, origin))
        if located.key is not None:
            assert origin.pointer.endswith(
                Origin("").child(json.loads(text[located.key[0] : located.key[1]])).pointer
            )


def _in_object(value: object, origin: Origin) -> bool:
    parent = origin.pointer.rpartition("/")[0]
    return any(
        place.pointer == parent and isinstance(part, dict) for place, part in members(value, Origin("m.json"))
    )


@pytest.mark.parametrize("pointer", ["/b", "/a/2", "/a/x", "/a/0/0", "/a/01"])
def test_a_pointer_to_nothing_finds_nothing(pointer: str) -> None:
    assert locate('{"a": [1, 2]}', pointer) is None


@settings(max_examples=200, deadline=None)
@given(st.text('{}[]",:1\\ a\n', max_size=40), st.sampled_from(["", "/0", "/a", "/a/0", "/0/a"]))
def test_text_that_is_no_json_does_not_upset_the_scanner(text: str, pointer: str) -> None:
    located = locate(text, pointer)
    assert located is None or 0 <= located.start < located.end <= len(text)


def test_a_repeated_key_is_found_at_its_second_place() -> None:
    assert repeated_key('{"a": 1, "a": 2}') == ((), "a", 9)
    assert repeated_key('[{"a": 1}, {"x": [{"a": {}, "a": 2}]}]') == ((1, "x", 0), "a", 28)


@settings(max_examples=60, deadline=None)
@given(values)
def test_python_writes_no_key_twice(value: object) -> None:
    assert repeated_key(json.dumps(value)) is None


def test_span_counts_from_one_and_ends_on_its_first_line() -> None:
    text = '{\n  "a": 12,\r\n  "b": [\n 3]\n}'
    twelve, three = locate(text, "/a"), locate(text, "/b")
    assert twelve is not None
    assert three is not None
    assert span_of(text, twelve).text == '  "a": 12,'
    assert (span_of(text, twelve).line, span_of(text, twelve).column, span_of(text, twelve).end_column) == (
        2,
        8,
        10,
    )
    assert (span_of(text, three).line, span_of(text, three).column, span_of(text, three).end_column) == (
        3,
        8,
        9,
    )


@settings(max_examples=50, deadline=None)
@given(st.text("ab\n", max_size=20), st.integers(0, 20))
def test_line_and_column_invert_to_the_offset(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    line, column = line_column(text, offset)
    assert sum(len(part) + 1 for part in text.split("\n")[: line - 1]) + column - 1 == offset


def test_resolve_reads_the_file_again_only_when_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"a": 1}')
    span = resolve(Origin("m.json", "/a"), tmp_path)
    assert span is not None
    assert (span.line, span.column, span.text) == (1, 7, '{"a": 1}')
    path.write_text('{\n\n"a": 1}')
    moved = resolve(Origin("m.json", "/a"), tmp_path)
    assert moved is not None
    assert moved.line == 3


def test_resolve_has_nothing_to_show_for_pickles_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(b"PK\x03\x04 {")
    (tmp_path / "bad.json").write_bytes(b"{\xff}")
    for file in ("x.pt", "bad.json", "none.json", "."):
        assert resolve(Origin(file, "/a"), tmp_path) is None
