"""Labels stand under the text they speak about."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.render import examples
from verifier.certificates.encode import map_to_json
from verifier.diagnostics.snippets import Span, affine_text, piece_label, value_label
from verifier.model.origin import Origin

MEMBERS = ["shape", "source", "dest", "locations"]
MAP = examples.qkv_map(Origin("m.json"))
PIECE = MAP.ranks[0].pieces[1]
ORIGIN = MAP.piece_origin(0, 1)


@pytest.mark.parametrize("member", MEMBERS)
def test_the_affine_form_is_json_and_marks_its_member(member) -> None:
    text, start, end = affine_text(PIECE, member)
    value = json.loads(text)
    assert value == map_to_json(MAP)["ranks"]["0"]["pieces"][1]
    assert json.loads("{" + text[start:end] + "}") == {member: value[member]}


@pytest.mark.parametrize("form", [examples.pretty, examples.minified, lambda _: examples.QKV_TEXT])
@pytest.mark.parametrize("member", MEMBERS)
def test_a_label_marks_the_member_with_its_key(form, member) -> None:
    text = form(MAP)
    label = piece_label(ORIGIN, examples.locator(text), piece=PIECE, member=member, text="", primary=True)
    marked = label.snippet[label.start : label.end]
    assert json.loads("{" + marked + "}") == {member: map_to_json(MAP)["ranks"]["0"]["pieces"][1][member]}
    assert label.place is not None
    assert label.place.pointer == "/ranks/0/pieces/1"
    line = text.splitlines()[(label.place.line or 0) - 1]
    assert line[(label.place.column or 0) - 1 :].startswith(f'"{member}"')
    assert label.quoted == (form is not examples.pretty)


def test_a_member_left_out_is_shown_by_its_piece() -> None:
    find = examples.locator(examples.QKV_TEXT)
    label = piece_label(ORIGIN, find, piece=PIECE, member="scale", text="", primary=True)
    assert label.quoted
    assert json.loads(label.snippet[label.start : label.end]) == json.loads(affine_text(PIECE)[0])


def test_without_text_there_is_a_pointer_and_no_line() -> None:
    label = piece_label(ORIGIN, lambda _: None, piece=PIECE, member="dest", text="", primary=True)
    assert label.place is not None
    assert (label.place.line, label.place.column, label.quoted) == (None, None, False)
    assert piece_label(None, None, piece=PIECE, member="dest", text="", primary=True).place is None


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=300), st.data())
def test_a_long_line_is_cut_around_its_label(line: str, data: st.DataObject) -> None:
    column = data.draw(st.integers(1, len(line) + 1))
    end = data.draw(st.integers(column, len(line) + 1))
    span = Span(1, column, end, line)
    label = value_label(Origin("f"), lambda _: span, fallback="fallback", text="", primary=True)
    assert 0 <= label.start <= label.end <= len(label.snippet)
    assert len(label.snippet) <= (label.end - label.start) + 2 * 123
    if label.quoted:
        assert label.snippet[label.start : label.end].endswith(line[column - 1 : end - 1])
