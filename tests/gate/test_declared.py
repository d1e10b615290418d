"""Where a domain comes from: the command line before pyproject.toml before the decorator."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import verifier
from verifier import Expectation, Sizes, constructor, size
from verifier.gate.configured import configuration
from verifier.gate.declared import Declaration, DeclarationError, declaration_of, declared_by
from verifier.gate.loading import FunctionError, load
from verifier.gate.predicate import TextError

DECORATED = """\
from verifier import Sizes, constructor, size
from right import cut_columns as reference

@constructor(over=Sizes(rows=size(), columns=size(), ranks=[2]), reference=reference)
def decorated(rows, columns, ranks):
    return reference(rows, columns, ranks)
"""
TABLES = """\
[tool.shardproof.gate]
"right.py:cut_columns" = {over = {rows = "size", columns = "size", ranks = [1, 2]}, where = "rows > columns"}
"plans.py:cut_columns" = {over = {rows = "size", columns = 4, ranks = 2}, reference = "right.py:cut_columns"}
"verifier.layouts:vocabulary" = {over = {rows = "size", hidden = "None", ranks = 4}}
"""


def arguments(found: Declaration) -> list[str]:
    return list(found.over.arguments)


def test_the_decorator_leaves_the_function_alone(scratch: Path) -> None:
    (scratch / "decorated.py").write_text(DECORATED)
    loaded = load("decorated.py:decorated")
    found = declared_by(loaded.call)
    assert found is not None
    assert arguments(found) == ["rows", "columns", "ranks"]
    assert found.reference_call is not None
    assert loaded.call(4, 4, 2).logical_shape == (4, 4)

    @constructor(over=Sizes(rows=size()), reference="right.py:cut_columns")
    def other(rows: int) -> int:
        return rows

    assert other(5) == 5
    named = declared_by(other)
    assert named is not None
    assert named.reference == load("right.py:cut_columns")


def test_the_nearest_pyproject_has_a_table_for_each(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (scratch / "pyproject.toml").write_text(TABLES)
    (scratch / "inner").mkdir()
    monkeypatch.chdir(scratch / "inner")
    found = configuration(Path.cwd())
    assert [place.rpartition("/")[2] for place in found.places] == [
        "right.py:cut_columns",
        "plans.py:cut_columns",
        "verifier.layouts:vocabulary",
    ]
    right = found.declaration(load("../right.py:cut_columns"))
    assert right is not None
    assert list(right.over.choices()) == [{"ranks": 1}, {"ranks": 2}]
    assert not right.over.admits({"rows": 2, "columns": 2})
    plans = found.declaration(load("../plans.py:cut_columns"))
    assert plans is not None
    assert plans.reference_call is load(found.places[0]).call
    assert found.declaration(load("verifier.layouts:vocabulary")) is not None
    assert found.declaration(load("verifier.layouts:qkv")) is None


def test_modules_are_found_beside_the_file_that_names_them(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch / "pkg_of_a_table").mkdir()
    (scratch / "pkg_of_a_table" / "layouts.py").write_text((scratch / "right.py").read_text())
    (scratch / "pyproject.toml").write_text(
        "[tool.shardproof.gate]\n"
        '"pkg_of_a_table.layouts:cut_columns" = {over = {rows = "size", columns = "size", ranks = [1]}, '
        'reference = "pkg_of_a_table.layouts:cut_columns"}\n'
    )
    (scratch / "sub").mkdir()
    monkeypatch.chdir(scratch / "sub")
    (place,) = configuration(Path.cwd()).places
    loaded = load(place)
    assert loaded.folder == scratch
    assert configuration(Path.cwd()).declaration(loaded) is not None
    assert str(scratch) not in sys.path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '"a:b" = {over = {rows = "size"}, wher = "x"}',
            "'a:b' has a key 'wher'; it has over, where, reference",
        ),
        ('"a:b" = {where = "x"}', "'a:b' has no table 'over'"),
        ('"a:b" = {over = {rows = "size"}, where = 3}', "where of 'a:b' is no text"),
    ],
)
def test_tables_that_say_nothing(scratch: Path, text: str, words: str) -> None:
    (scratch / "a.py").write_text("def b(rows): return None\n")
    (scratch / "pyproject.toml").write_text(f"[tool.shardproof.gate]\n{text}\n")
    with pytest.raises(DeclarationError, match=words):
        configuration(scratch).declaration(load("a:b"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[tool", DeclarationError),
        ("[tool.shardproof]\ngate = 3", DeclarationError),
        ('[tool.shardproof.gate]\n"a:b" = 3', DeclarationError),
        ('[tool.shardproof.gate]\n"b" = {}', FunctionError),
        ("[tool.other]", None),
    ],
)
def test_files_that_say_nothing(scratch: Path, text: str, error: type[Exception] | None) -> None:
    (scratch / "pyproject.toml").write_text(text)
    if error is None:
        assert configuration(scratch).places == []
        return
    with pytest.raises(error):
        configuration(scratch)


def test_texts_in_a_table_are_refused_by_their_key(scratch: Path) -> None:
    (scratch / "pyproject.toml").write_text(
        '[tool.shardproof.gate]\n"verifier.layouts:split" = {over = {ranks = "sise"}}'
    )
    with pytest.raises(TextError, match=r"over\.ranks, column 1"):
        configuration(scratch).declaration(load("verifier.layouts:split"))


def test_the_command_line_comes_first_then_the_file_then_the_decorator(scratch: Path) -> None:
    (scratch / "decorated.py").write_text(DECORATED)
    loaded = load("decorated.py:decorated")
    asked, configured = Sizes(asked=size()), Declaration(Sizes(configured=size()))
    reference = load("right.py:cut_columns")
    pick = declaration_of
    assert arguments(pick(loaded, asked=None, configured=None, reference=None)) == [
        "rows",
        "columns",
        "ranks",
    ]
    assert arguments(pick(loaded, asked=None, configured=configured, reference=None)) == ["configured"]
    first = pick(loaded, asked=asked, configured=configured, reference=reference)
    assert arguments(first) == ["asked"]
    assert first.reference is reference
    with pytest.raises(DeclarationError, match="has no domain; say which sizes"):
        pick(reference, asked=None, configured=None, reference=None)


@pytest.mark.parametrize(
    "expectation",
    [
        Expectation(index_bits=32),
        Expectation(write_unit=4),
        Expectation(gaps=(1,)),
        Expectation(partial=True),
    ],
)
def test_what_cannot_be_asked_of_all_sizes_is_refused(expectation: Expectation) -> None:
    with pytest.raises(DeclarationError, match="cannot be asked of all sizes at once"):
        constructor(over=Sizes(rows=size()), expectation=expectation)


def test_the_public_names() -> None:
    assert {"Sizes", "constructor", "fixed", "size", "sizes"} <= set(verifier.__all__)
