"""Domains as text and as tables of TOML."""

from __future__ import annotations

import tomllib

import pytest

from verifier.gate.domain_text import domain_of_table, domain_of_text
from verifier.gate.predicate import TextError, predicate
from verifier.symbolic.domain import AnySize, DomainError, Fixed, ManySizes, Sizes


def described(over: Sizes) -> dict[str, object]:
    return dict(over.arguments)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rows=size", {"rows": AnySize(0)}),
        ("rows=size(least=2)", {"rows": AnySize(2)}),
        ("rows=size(1), widths=sizes(3, 2)", {"rows": AnySize(1), "widths": ManySizes(3, 2)}),
        (
            "widths=sizes(ranks), ranks=1|2|4|8",
            {"widths": ManySizes("ranks", 0), "ranks": [1, 2, 4, 8]},
        ),
        ("widths=sizes(3, least=1)", {"widths": ManySizes(3, 1)}),
        ("shape=(size, 4, (size,))", {"shape": (AnySize(0), 4, (AnySize(0),))}),
        ("shape=(size,)|(size, size)", {"shape": [(AnySize(0),), (AnySize(0), AnySize(0))]}),
        ("ranks=range(1, 9)", {"ranks": range(1, 9)}),
        ("ranks=[1, 2]", {"ranks": [1, 2]}),
        ("ids=fixed({0: [2, 0], 1: [1]})", {"ids": Fixed({0: [2, 0], 1: [1]})}),
        ("order='a'|'b', axis=-1, whole=True, bias=None, scale=0.5",
         {"order": ["a", "b"], "axis": -1, "whole": True, "bias": None, "scale": 0.5}),
    ],
)  # fmt: skip
def test_what_a_text_describes(text: str, expected: dict[str, object]) -> None:
    assert described(domain_of_text(text, None)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rows=sise", "over, column 6: sise is no value; write size"),
        ("rows=size('3')", "over, column 6: takes the least size and nothing else"),
        ("rows=size(1, least=1)", "over, column 6: takes the least size and nothing else"),
        ("rows=size(most=3)", "over, column 6: takes the least size and nothing else, as in size"),
        ("rows=open('x')", "over, column 6: .* is no value"),
        ("rows=size, rows=size", "over, column 12: rows stands here for the second time"),
        ("ranks=range(1, 99999)", "a choice of 99998 values, over 4096"),
        ("ranks=range(1, 9, 0)", "a range has plain numbers"),
        ("rows=size, ranks=[1, 2", "over, column 2.: is no expression"),
        ("5", "names no arguments"),
        ("", "over: is empty"),
        ("**rows", "names no arguments"),
        ("f(rows)", "names no arguments"),
    ],
)
def test_what_a_text_does_not(text: str, words: str) -> None:
    with pytest.raises(TextError, match=words):
        domain_of_text(text, None)


@pytest.mark.parametrize("text", ["ranks=[]", "where=size"])
def test_what_describes_no_sizes(text: str) -> None:
    with pytest.raises(DomainError):
        domain_of_text(text, None)


def test_the_tables_of_toml_say_the_same() -> None:
    table = tomllib.loads("""
        rows = "size(1)"
        widths = "sizes(ranks)"
        ranks = [1, 2]
        shape = ["size", "size"]
        order = ["'a'", "'b'"]
        axis = 0
        whole = true
        ids = "fixed([1, 2])"
    """)
    text = (
        "rows=size(least=1), widths=sizes(ranks), ranks=1|2, shape=(size, size), order='a'|'b', axis=0, "
        "whole=True, ids=fixed([1, 2])"
    )
    assert described(domain_of_table(table, None)) == described(domain_of_text(text, None))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"order": "grouped"}, "over.order, column 1: grouped is no value.* a text stands in quotes"),
        ({"shape": ["size", "sise"]}, r"over.shape\[1\], column 1: sise"),
        ({"ids": {"0": [1]}}, "over.ids: is a table"),
        ({"where": "rows > 1"}, "write it beside over"),
    ],
)
def test_what_a_table_does_not(table: dict[str, object], words: str) -> None:
    with pytest.raises(TextError, match=words):
        domain_of_table(table, None)


def test_a_precondition_may_ask_only_for_what_is_named() -> None:
    with pytest.raises(DomainError, match="where asks for columns"):
        domain_of_text("rows=size", predicate("rows == columns"))
    over = domain_of_text("rows=size, ranks=1|2", predicate("rows % ranks == 0"))
    assert over.admits({"rows": 4, "ranks": 2})
    assert not over.admits({"rows": 3, "ranks": 2})
