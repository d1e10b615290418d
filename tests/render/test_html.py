"""The page: what it says, that it holds nothing but its own, and that it stays small."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import HealthCheck, given, settings

from tests.conftest import Golden
from tests.render import examples
from tests.render.pages import Element, read_page
from tests.render.test_goldens import CASES
from tests.render.test_properties import reports as told_reports
from tests.render.test_service_properties import reports
from verifier.diagnostics.finding import Finding, Json
from verifier.diagnostics.narrate import narrate
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.render.html import MOST_ROWS, render_html
from verifier.render.html_findings import MOST_IN_BRIEF, MOST_IN_FULL
from verifier.render.json_hub import render_json
from verifier.render.json_reading import read_report
from verifier.render.lines import paint
from verifier.render.text import finding_lines

modest = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))

HOSTILE = [
    "</script><script>alert(1)</script>",
    "</style><style>*{display:none}",
    "\"><img src=x onerror='alert(1)'>",
    "' onmouseover=alert(1) x='",
    "<!-- --><![CDATA[<a href=https://example.org>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&#0;&",
    "\x00\x1b[2J\u202e\ud800",
    "</pre></table></article></body></html>",
    "[0, 1]|[0, 2]",
]


def layers(number: int, **changes: object) -> tuple[Subject, ...]:
    """As many equal subjects."""
    subject = Subject(
        name="",
        kind="map",
        verdict="proved",
        obligations=Obligations(15, 0, 0),
        families={
            "piece": Obligations(8, 0, 0),
            "shard side": Obligations(4, 0, 0),
            "replicas": Obligations(3, 0, 0),
        },
        contents={"ranks": 4, "pieces": 4},
    )
    return tuple(
        [dataclasses.replace(subject, name=f"layers.{k}.mlp.weight", **changes) for k in range(number)]
    )


def small() -> Report:
    """A refuted map, 126 proved ones, an accepted finding, something not checked."""
    refuted = examples.report_of(examples.qkv_finding()).subjects[0]
    accepted = dataclasses.replace(
        narrate(examples.experts(), examples.EXPERT_GAP),
        accepted="the last row is padding (until 2027-03-31)",
    )
    gap = dataclasses.replace(examples.report_of(accepted).subjects[0], name="moe.experts.w1")
    return Report(
        tool={**examples.TOOL, "python": "3.11.2"},
        subjects=(*layers(126), refuted, gap),
        unchecked=("values: no tensor data is read", "2 checkpoints without a map"),
    )


def test_a_small_page(golden: Golden) -> None:
    golden("page.html", render_html(small()))
    assert read_page(render_html(small())).one("h1").text == "shardproof: refuted"


@pytest.mark.parametrize("name", CASES)
def test_a_finding_has_the_words_of_the_terminal(name: str) -> None:
    finding = narrate(*CASES[name])
    page = read_page(render_html(examples.report_of(finding)))
    assert page.one("article").one("pre").text == paint(finding_lines(finding), color=False)


def test_what_was_not_checked_comes_before_everything_that_was() -> None:
    page = read_page(render_html(small()))
    assert [heading.text for heading in page.all("h2")] == [
        "Not checked, and accepted as it is",
        "What was asked, by family",
        "Findings",
    ]
    clauses = [item.text for item in page.all("section")[0].all("li")]
    assert clauses == [
        "values: no tensor data is read",
        "2 checkpoints without a map",
        "accepted: SM301 moe.experts.w1: the last row is padding (until 2027-03-31)",
    ]


def cells(figure: Element) -> dict[str, list[str]]:
    """The elements of a picture with the classes of their cells."""
    return {
        cell.attributes["data-e"]: cell.classes for cell in figure.all("td") if "data-e" in cell.attributes
    }


def test_both_pictures_outline_what_the_witness_holds_without_any_script() -> None:
    page = read_page(render_html(examples.report_of(examples.qkv_finding())))
    shard, parameter = page.one("div", "pair").all("figure")
    assert [figure.one("figcaption").text for figure in (shard, parameter)] == ["rank 0 shard", "parameter"]
    assert cells(shard)["[0, 1]|[0, 4]"] == ["several", "witness"]
    outlined = [element for element, classes in cells(parameter).items() if "same" in classes]
    assert outlined == ["[0, 1]", "[0, 4]"]
    assert "[0, 1] and [0, 4] of the parameter" in page.one("p", "readout").text


def test_a_hole_is_outlined_on_one_side_only() -> None:
    finding = narrate(examples.chunks(), examples.CHUNK_HOLE)
    parameter, chunk = read_page(render_html(examples.report_of(finding))).one("div", "pair").all("figure")
    assert cells(parameter)["[5, 4]"] == ["nobody", "witness"]
    assert chunk.one("figcaption").text == "chunk 4"
    assert cells(chunk) == {"[5, 3]": ["h4"], "[6, 3]": ["h4"]}


@pytest.mark.parametrize(
    ("place", "foreign"),
    [
        ("</h1>", "<img src=x></h1>"),
        ("</h1>", "<p onclick=x></p></h1>"),
        ("</h1>", "<a href='https://example.org'></a></h1>"),
        ("</h1>", "<script>1</script></h1>"),
        ("</h1>", "<!-- --></h1>"),
        ("</h1>", "</h2></h1>"),
        ("color-scheme", "colour-scheme"),
        ("use strict", "use sloppy"),
    ],
)
def test_the_reader_of_pages_refuses_what_is_foreign(place: str, foreign: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        read_page(render_html(small()).replace(place, foreign, 1))


@modest
@given(reports)
def test_any_report_makes_a_page_of_its_own_only(report: Report) -> None:
    page = read_page(render_html(report))
    assert len(page.all("article")) == len(report.findings)


@modest
@given(told_reports())
def test_a_stored_report_makes_the_same_page(report: Report) -> None:
    assert render_html(read_report(render_json(report))) == render_html(report)


def leaves(value: Json, change) -> Json:
    """A JSON value with its texts changed."""
    match value:
        case dict():
            return {name: leaves(item, change) for name, item in value.items()}
        case list():
            return [leaves(item, change) for item in value]
        case str():
            return change(value)
        case _:
            return value


WORDS = {"error", "warning", "refuted", "undecided", "proved", "unreadable", "shardproof.report/1"}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_in_every_place_of_a_report_stay_words(hostile: str) -> None:
    report = examples.report_of(examples.qkv_finding(), narrate(*CASES["warning"]))
    document = json.loads(render_json(report))
    plain = read_page(render_html(read_report(json.dumps(document))))

    def named(word: str) -> str:
        return hostile + word if word and word not in WORDS else word

    page = read_page(render_html(read_report(json.dumps(leaves(document, named)))))
    assert shape(page) == shape(plain)
    assert page.one("script").text == plain.one("script").text


def shape(element: Element) -> list[object]:
    """The tags alone; lines of a message may be broken elsewhere, and cells may become links."""
    if element.tag in ("pre", "td"):
        return [element.tag]
    return [element.tag, *[shape(child) for child in element.children]]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_names(hostile: str) -> None:
    shard_map = dataclasses.replace(examples.qkv_map(), name=hostile)
    finding = dataclasses.replace(narrate(shard_map, examples.QKV_FAULT), accepted=hostile)
    subject = dataclasses.replace(
        examples.report_of(finding).subjects[0],
        name=hostile,
        kind=hostile,
        notes=(hostile,),
        contents={hostile: 2},
    )
    report = Report(tool={hostile: hostile}, subjects=(subject,), unchecked=(hostile,))
    page = read_page(render_html(report))
    assert (len(page.all("article")), len(page.all("li"))) == (1, 3)


def many(finding: Finding, number: int) -> Report:
    subject = examples.report_of(finding).subjects[0]
    subjects = [
        dataclasses.replace(subject, name=f"block{k * k}.w", findings=(finding,)) for k in range(number)
    ]
    return Report(tool=examples.TOOL, subjects=tuple(subjects))


def test_ten_thousand_findings_make_a_small_page_that_says_what_it_leaves_out() -> None:
    text = render_html(many(examples.qkv_finding(), 10_000))
    assert len(text) < MOST_IN_FULL + 2 * MOST_IN_BRIEF + 100_000
    in_full, brief = text.count("<article "), text.count('<li><span class="error">')
    assert in_full > 100
    assert brief > 500
    assert (
        f"{in_full} of 10000 findings are shown in full, {brief} in one line each; "
        f"{10_000 - in_full - brief} are left out of this page: the JSON report (--json-output) has all."
    ) in text


def test_a_huge_finding_does_not_hide_the_others() -> None:
    huge = dataclasses.replace(examples.qkv_finding(), notes=("very long " * 100_000,))
    report = examples.report_of(huge, narrate(*CASES["replicas"]))
    page = read_page(render_html(report))
    assert [article.attributes["id"] for article in page.all("article")] == ["finding-1"]
    assert len(page.one("ul", "more").all("li")) == 1
    assert "1 of 2 findings is shown in full, 1 in one line each." in page.text


def test_the_worst_is_shown_first_and_what_is_accepted_last() -> None:
    finding = examples.qkv_finding()
    accepted = dataclasses.replace(finding, accepted="known")
    report = examples.report_of(accepted, narrate(*CASES["warning"]), narrate(*CASES["over-budget"]), finding)
    articles = read_page(render_html(report)).all("article")
    assert [article.attributes["id"] for article in articles] == [
        "finding-3",
        "finding-2",
        "finding-1",
        "finding-0",
    ]
    assert articles[-1].one("p", "accepted").text == "Accepted: known"


@pytest.mark.parametrize(
    ("report", "heading"),
    [
        (Report(tool={}, subjects=()), "nothing was checked, in all or on one path"),
        (Report(tool={}, subjects=layers(2)), "proved"),
        (examples.report_of(narrate(*CASES["over-budget"])), "undecided, which is not a pass"),
        (examples.report_of(dataclasses.replace(examples.qkv_finding(), accepted="known")), "nothing new"),
    ],
    ids=["nothing", "proved", "undecided", "accepted"],
)
def test_the_heading_is_the_exit_code_in_words(report: Report, heading: str) -> None:
    page = read_page(render_html(report))
    assert page.one("h1").text == f"shardproof: {heading}"
    assert f"Exit code {report.exit_code}." in page.text


def test_many_rows_are_cut_with_a_count() -> None:
    subjects = [dataclasses.replace(layers(1)[0], name=f"w{'x' * k}") for k in range(MOST_ROWS)]
    refuted = examples.report_of(examples.qkv_finding()).subjects[0]
    page = read_page(render_html(Report(tool={}, subjects=(*subjects, refuted))))
    names = [
        row.one("span", "name").text
        for row in page.one("table", "matrix").all("tr")
        if row.all("span", "name")
    ]
    assert len(names) == MOST_ROWS
    assert names[0] == "w"
    assert f"{MOST_ROWS} of {MOST_ROWS + 1} rows are shown" in page.text
