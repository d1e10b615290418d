"""The report of a campaign in every format, held against goldens of one made by hand."""

import json
from collections.abc import Callable

import pytest

from fuzz.build import piece, shard_map
from fuzz.cases import Case
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally, finding
from fuzz.report.campaign import CampaignReport
from fuzz.report.json import SCHEMA, render_json
from fuzz.report.markdown import render_markdown
from fuzz.report.text import SHOWN, render_text
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap


def one_piece(offset: int = 0) -> ShardMap:
    return shard_map([4], {0: ([4], [piece([4], (offset, [1]), (0, [1]), [0])])}, name="1:7")


def case(offset: int, index: int = 7) -> Case:
    return Case(1, index, "row", "shift-source", one_piece(), one_piece(offset), Expectation())


def acceptance() -> CampaignReport:
    tally = Tally()
    for operation, found, times in (
        ("rebuild", "silently wrong", 3), ("rebuild", "refused by name", 5), ("rebuild", "still exact", 1),
        ("extract", "silently wrong", 4), ("extract", "raised something else", 5),
    ):  # fmt: skip
        tally.count("outcome", operation, found, times=times)
        tally.count("outcome by mutant", operation, "shift-source", found, times=times)
    tally.count("outcome by mutant", "rebuild", "none", "refused though right")
    tally.count("uninitialised", "rebuild", times=2)
    tally.count("accepts", "validate", "wrong, accepted", times=6)
    tally.count("inexpressible", "plan", "no box", times=2)
    tally.count("prover", "with reference", "refuted", times=7)
    for offset in (3, 1, 2):
        tally.note(
            finding(case(offset), SILENT, "rebuild shift-source", f"rebuilds another tensor from {offset}")
        )
    tally.note(finding(case(0), REFUSED_RIGHT, "rebuild none", "refuses a right map"))
    return CampaignReport("converter (1.0)", "shardproof fuzz --target converter --cases 9", 9, tally)


def prover() -> CampaignReport:
    tally = Tally()
    for label, times in (
        (("map", "right"), 900), (("map", "wrong"), 1100), (("verdict", "proved"), 900),
        (("verdict", "refuted"), 1098), (("verdict", "undecided"), 2), (("by construction", "right"), 800),
        (("layout", "row", "right"), 900), (("layout", "row", "wrong"), 1100),
        (("mutant", "none", "right"), 800), (("mutant", "shift-source", "wrong"), 1100),
        (("mutant", "shift-source", "right"), 100), (("question", "Tiling", "holds"), 1500),
        (("question", "Tiling", "fails"), 500), (("engine", "cancel", "holds"), 1500),
        (("engine", "cancel", "fails"), 499), (("engine", "cancel", "unknown"), 1), (("sample", "z3"), 100),
        (("certificate", "auto", "checked"), 900), (("certificate", "auto", "tampered"), 30),
        (("oracle", "row", "exact"), 40), (("oracle", "row", "exact against the reference"), 10),
        (("drawing", "proved"), 5),
    ):  # fmt: skip
        tally.count(*label, times=times)
    tally.note(finding(case(2), DISAGREEMENT, "judge: proved", "judge: proved, but the walk finds a hole"))
    return CampaignReport("prover (0)", "shardproof fuzz --target prover --cases 2000", 2000, tally)


REPORTS = {"acceptance": acceptance, "prover": prover}


@pytest.mark.parametrize("name", REPORTS)
def test_text(golden: Callable[[str, str], None], name: str) -> None:
    golden(f"{name}.txt", render_text(REPORTS[name]()))


@pytest.mark.parametrize("name", REPORTS)
def test_markdown(golden: Callable[[str, str], None], name: str) -> None:
    golden(f"{name}.md", render_markdown(REPORTS[name]()))


@pytest.mark.parametrize("name", REPORTS)
def test_json_has_every_count_and_every_finding_with_its_maps(name: str) -> None:
    report = REPORTS[name]()
    document = json.loads(render_json(report))
    assert document["schema"] == SCHEMA
    assert {tuple(label): n for *label, n in document["counts"]} == dict(report.tally.counts)
    assert [found["words"] for found in document["findings"]] == [f.words for f in report.findings()]
    assert all(found["map"]["logical_shape"] == [4] for found in document["findings"])
    assert all(found["clean"]["logical_shape"] == [4] for found in document["findings"])


def test_the_least_example_is_shown_with_how_often_it_was_seen() -> None:
    (silent, _) = acceptance().findings()
    assert silent.words == "rebuilds another tensor from 1"
    assert acceptance().times_seen(silent) == "3 times"


def test_the_rate_is_the_last_line_and_the_only_difference() -> None:
    with_rate, without = render_markdown(acceptance(), 12.7), render_markdown(acceptance())
    assert with_rate.startswith(without)
    assert with_rate.splitlines()[-1] == "(machine-dependent) 13 cases a second"


def test_many_findings_are_cut_in_text_only() -> None:
    tally = Tally()
    for number in range(SHOWN + 5):
        tally.note(finding(case(1, number), SILENT, f"kind {number}", "words"))
    report = CampaignReport("t (1)", "c", 17, tally)
    assert "and 5 more kinds of finding" in render_text(report)
    assert render_markdown(report).count("**silently wrong**") == SHOWN + 5
    assert (
        render_text(report).splitlines()[-1]
        == f"t (1): 17 cases, 0 disagreements, {SHOWN + 5} silently wrong"
    )
