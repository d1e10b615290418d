"""Rows fold without losing anybody, and a cell never looks better than what was found."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.render import examples
from tests.render.test_html import layers
from verifier.diagnostics.finding import Place
from verifier.diagnostics.narrate import narrate
from verifier.diagnostics.report import Obligations, Subject
from verifier.obligations.faults import Fault
from verifier.render.matrix import FAMILIES, columns, family_of, rows

modest = settings(max_examples=80, deadline=None)


def named(*names: str) -> list[Subject]:
    return [dataclasses.replace(layers(1)[0], name=name) for name in names]


def test_equal_layers_are_one_row() -> None:
    (row,) = rows(layers(126))
    assert (row.name, row.count, row.slots) == ("layers.{0-125}.mlp.weight", 126, 126)
    assert {family: cell.state for family, cell in row.cells.items()} == {
        "piece": "proved",
        "shard side": "proved",
        "replicas": "proved",
    }


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["w"], "w"),
        (["l.0.w", "l.2.w"], "l.{0, 2}.w"),
        ([f"l.{k}.w" for k in (0, 1, 2, 7, 9, 10)], "l.{0-2, 7, 9-10}.w"),
        ([f"l.{k}.w" for k in range(0, 20, 2)], "l.{0, 2, 4, ..., 18}.w"),
        ([f"l.{k}.e.{e}.w" for k in (3, 4) for e in range(8)], "l.{3-4}.e.{0-7}.w"),
        (["l.1.w", "l.1.w"], "l.1.w"),
        (["h2o.0.w", "h2o.1.w"], "h2o.{0-1}.w"),
    ],
)
def test_numbers_that_vary_are_shown_as_ranges(names: list[str], said: str) -> None:
    (row,) = rows(named(*names))
    assert (row.name, row.count) == (said, len(names))


def test_a_range_with_gaps_says_how_many_names_are_there() -> None:
    (row,) = rows(named("l.0.e.0", "l.0.e.1", "l.1.e.0"))
    assert (row.name, row.count, row.slots) == ("l.{0-1}.e.{0-1}", 3, 4)


@pytest.mark.parametrize("pair", [("l.01.w", "l.1.w"), ("l.1.w", "m.1.w"), ("w", "w0")])
def test_names_that_differ_in_more_than_numbers_stay_apart(pair: tuple[str, str]) -> None:
    assert len(rows(named(*pair))) == 2


def test_rows_of_different_files_kinds_and_answers_stay_apart() -> None:
    one = layers(1)[0]
    others = [
        dataclasses.replace(one, place=Place("b.json")),
        dataclasses.replace(one, kind="document"),
        dataclasses.replace(one, verdict="refuted"),
        dataclasses.replace(one, families={}),
    ]
    assert len(rows([one, *others])) == 5


@modest
@given(st.lists(st.sampled_from(["a.0", "a.1", "a.2", "b.0.c.1", "b.1.c.1", "x", "9" * 20, ""]), max_size=20))
def test_no_subject_is_lost(names: list[str]) -> None:
    table = rows(named(*names))
    assert sum(row.count for row in table) == len(names)
    assert all(row.name.count("{") <= 2 for row in table)


def test_what_is_found_is_worse_than_what_was_counted() -> None:
    finding = examples.qkv_finding()
    subject = dataclasses.replace(layers(1)[0], verdict="refuted", findings=(finding,))
    (row,) = rows([*layers(2), subject])[1:]
    assert (row.cells["shard side"].state, row.cells["shard side"].codes) == ("refuted", ("SM201", "SM203"))
    assert row.cells["shard side"].finding == 0
    assert row.cells["piece"].state == "proved"


def test_findings_are_numbered_in_report_order() -> None:
    finding = examples.qkv_finding()
    first = dataclasses.replace(layers(1)[0], verdict="refuted", findings=(finding, finding))
    second = dataclasses.replace(first, name="other", findings=(finding,))
    assert [row.cells["shard side"].finding for row in rows([first, second])] == [0, 2]


def test_accepted_findings_do_not_look_refuted_and_one_open_one_does() -> None:
    known = dataclasses.replace(examples.qkv_finding(), accepted="known")
    counted = {"shard side": Obligations(0, 2, 0)}
    subject = dataclasses.replace(layers(1)[0], verdict="refuted", families=counted, findings=(known,))
    assert rows([subject])[0].cells["shard side"].state == "accepted"
    assert rows([subject])[0].verdict == "accepted"
    both = dataclasses.replace(subject, findings=(known, examples.qkv_finding()))
    assert rows([both])[0].cells["shard side"].state == "refuted"


@pytest.mark.parametrize(
    ("fault", "family"),
    [
        (examples.QKV_FAULT, "shard side"),
        (examples.OVER_BUDGET, "shard side"),
        (examples.LINT, "canonical form"),
        (Fault(code="CK202", side="map"), "checkpoint set"),
        (
            Fault(code="SM902", side="map", values={"obligation": "holders/0,1/1/1"}, undecided=True),
            "replicas",
        ),
        (
            Fault(code="SM902", side="map", values={"obligation": "something else"}, undecided=True),
            "undecided",
        ),
        (Fault(code="TB101", side="map", values={"obligation": "shard/0"}), "tool bug"),
    ],
)
def test_the_family_of_a_finding(fault: Fault, family: str) -> None:
    assert family_of(narrate(examples.qkv_map(), fault)) == family


def test_six_columns_are_always_there_and_others_where_they_occur() -> None:
    assert list(columns([]).values()) == [
        *("bounds", "shard side", "parameter side", "replicas", "expectations", "checkpoint set"),
    ]
    lint = narrate(examples.qkv_map(), examples.LINT)
    table = rows([dataclasses.replace(layers(1)[0], findings=(lint,))])
    assert list(columns(table)) == [*FAMILIES, "canonical form"]
    assert table[0].cells["canonical form"].state == "warning"


def test_a_checkpoint_is_judged_as_a_set() -> None:
    checkpoint = Subject(name="ckpt", kind="checkpoint", verdict="proved", obligations=Obligations(16, 0, 0))
    (row,) = rows([checkpoint])
    assert {family: cell.state for family, cell in row.cells.items()} == {"checkpoint set": "proved"}
