from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.documents import edited, rows_map, without
from verifier.formats import Document, FormatError, read, resolve

KEYS = {"^layers\\.0\\.w$": "layers.0.w", "layers.1.w": "layers.1.w"}
MANY: dict[str, Any] = {"version": 1, "params": {key: rows_map() for key in KEYS}}


def read_json(tmp_path: Path, value: object) -> Document:
    path = tmp_path / "maps.json"
    path.write_text(json.dumps(value, indent=1))
    return read(path, display="maps.json")


def test_one_map_is_named_after_its_file(tmp_path: Path) -> None:
    document = read_json(tmp_path, rows_map())
    assert (document.kind, [subject.name for subject in document.subjects]) == ("map", ["maps"])
    assert document.subjects[0].origin.pointer == ""
    assert document.expect is None


@pytest.mark.parametrize(
    ("wrap", "prefix"),
    [
        (lambda value: value, ""),
        (lambda value: {"affine_map": value}, "/affine_map"),
        (
            lambda value: {"universal_checkpoint_info": {"affine_map": value}, "module": None},
            "/universal_checkpoint_info/affine_map",
        ),
    ],
    ids=["params", "affine_map", "universal_checkpoint_info"],
)
def test_many_maps_are_named_by_their_keys(tmp_path: Path, wrap: Any, prefix: str) -> None:
    document = read_json(tmp_path, wrap(MANY))
    assert document.kind == "affine-json"
    assert [subject.name for subject in document.subjects] == list(KEYS.values())
    for subject, key in zip(document.subjects, KEYS, strict=True):
        assert subject.origin.pointer == f"{prefix}/params/{key}"
        piece = subject.shard_map.piece_origin(1, 0)
        assert piece is not None
        span = resolve(piece.child("source"), tmp_path)
        assert span is not None
        assert span.text.strip().startswith('"source"')


def test_an_empty_pattern_is_shown_in_quotes(tmp_path: Path) -> None:
    document = read_json(tmp_path, {"version": 1, "params": {"": rows_map()}})
    assert document.unchecked == ('which parameters the pattern "" matches: it is used as a name',)


def test_one_bad_map_does_not_hide_the_others(tmp_path: Path) -> None:
    document = read_json(tmp_path, edited(MANY, ("params", "layers.1.w", "logical_shape"), [4, -2]))
    assert [subject.name for subject in document.subjects] == ["layers.0.w"]
    (refusal,) = document.refusals
    assert (refusal.name, refusal.code) == ("layers.1.w", "SM104")
    assert refusal.origin.pointer == "/params/layers.1.w/logical_shape/1"


def test_a_pattern_that_is_no_escaped_name_is_used_as_it_is_and_said_so(tmp_path: Path) -> None:
    document = read_json(tmp_path, {"version": 1, "params": {"^layers\\..*\\.w$": rows_map()}})
    assert [subject.name for subject in document.subjects] == ["^layers\\..*\\.w$"]
    assert any("pattern" in note for note in document.unchecked)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (edited(MANY, ("version",), 2), "SM004"),
        (edited(MANY, ("version",), True), "SM004"),
        (without(MANY, ("version",)), "SM004"),
        (edited(MANY, ("extra",), 1), "SM002"),
        (edited(MANY, ("params",), []), "SM002"),
        ({"universal_checkpoint_info": {}}, "SM002"),
        ({"weight_map": {}}, "SM001"),
        ({}, "SM001"),
        ([rows_map()], "SM001"),
        ("map", "SM001"),
        (3, "SM001"),
    ],
)
def test_documents_without_a_readable_map_are_refused(tmp_path: Path, value: object, code: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_json(tmp_path, value)
    assert caught.value.code == code
    assert caught.value.help


def test_names_that_cannot_be_shown_are_refused_without_being_shown(tmp_path: Path) -> None:
    document = read_json(tmp_path, {"version": 1, "params": {"a\x1b[2J": rows_map(), "\ud800": rows_map()}})
    assert [refusal.code for refusal in document.refusals] == ["SM002", "SM002"]
    for refusal in document.refusals:
        assert f"{refusal.name}{refusal.origin}{refusal.message}{refusal.help}".isprintable()
