"""SARIF, JUnit and annotations of one run that has everything, and what each of them promises."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from junitparser import Failure, JUnitXml
from sarif_kit.validate import validation_errors

from tests.conftest import Golden
from tests.render import examples, services
from verifier.diagnostics.codes import CODES
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.narrate import narrate, refusal_finding
from verifier.diagnostics.pages import page_of
from verifier.diagnostics.report import Report, Subject
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault
from verifier.render.checkout import Checkout, surroundings
from verifier.render.github import MOST_CHARACTERS, render_github
from verifier.render.junit import render_junit
from verifier.render.sarif import render_sarif

MAP = Origin("maps/qkv_tp2.json")
UNREADABLE = refusal_finding(
    "SM005", "expected an integer, found 4.0", "write it exactly", Place("maps/w.json", "/ranks/0", 6, 34)
)
BUG = narrate(examples.qkv_map(), Fault(code="TB101", side="map", values={"reason": "torch says no"}))


def subject(name: str, verdict: str, *findings: Finding, file: str | None = None) -> Subject:
    place = None if file is None else Place(file)
    counted = examples.report_of(*findings).subjects[0].obligations
    return replace(
        examples.report_of().subjects[0],
        name=name,
        verdict=verdict,
        place=place,
        findings=findings,
        obligations=counted,
    )


def mixed() -> Report:
    """One subject of each verdict, a warning on a proved one, and clauses that say what was not checked."""
    lint = narrate(examples.qkv_map(MAP), examples.LINT)
    late = narrate(examples.qkv_map(MAP), examples.OVER_BUDGET)
    return Report(
        tool={**examples.TOOL, "python": "3.11"},
        subjects=(
            subject("qkv", "refuted", examples.qkv_finding(), lint, file="maps/qkv_tp2.json"),
            subject("late", "undecided", late, file="maps/qkv_tp2.json"),
            subject("fine", "proved", lint, file="maps/qkv_tp2.json"),
            subject("w", "unreadable", UNREADABLE, file="maps/w.json"),
            Subject(name="empty.json", kind="document", verdict="unchecked", place=Place("empty.json")),
            subject("in memory", "refuted", replace(examples.qkv_finding(), place=None, labels=())),
        ),
        unchecked=("empty.json (no map found)", "the values of tensors"),
    )


def without_pages(text: str) -> str:
    """SARIF with the explain pages taken out: they have goldens of their own."""
    document = json.loads(text)
    driver = document["runs"][0]["tool"]["driver"]
    for rule in [*driver["rules"], *driver["notifications"]]:
        rule["help"] = "(the explain page)"
    return json.dumps(document, indent=1) + "\n"


REPORTS = {
    "mixed": mixed(),
    "proved": examples.report_of(),
    "nothing": Report(tool=examples.TOOL, subjects=()),
}


@pytest.mark.parametrize("name", REPORTS)
def test_goldens(name: str, golden: Golden) -> None:
    golden(f"{name}.sarif", without_pages(render_sarif(REPORTS[name])))
    golden(f"{name}.junit.xml", render_junit(REPORTS[name]))
    golden(f"{name}.github.txt", render_github(REPORTS[name]))


def test_sarif_has_the_schema_of_the_standard() -> None:
    for report in REPORTS.values():
        assert validation_errors(json.loads(render_sarif(report))) == []


def test_sarif_rules_carry_their_explain_pages() -> None:
    for code in CODES:
        finding = replace(examples.qkv_finding(), code=code.code, name=code.name)
        document = json.loads(render_sarif(examples.report_of(finding)))
        assert validation_errors(document) == []
        driver = document["runs"][0]["tool"]["driver"]
        (rule,) = [*driver["rules"], *driver["notifications"]]
        assert (rule["id"], rule["name"]) == (code.code, code.name)
        assert rule["help"].get("markdown") == page_of(code)


def test_sarif_of_a_code_that_is_not_known_here() -> None:
    finding = replace(examples.qkv_finding(), code="SM999", name="of-a-later-release")
    document = json.loads(render_sarif(examples.report_of(finding)))
    assert validation_errors(document) == []
    assert document["runs"][0]["tool"]["driver"]["rules"] == [{"id": "SM999", "name": "of-a-later-release"}]


def test_sarif_fingerprints_come_from_the_geometry_and_not_from_the_file() -> None:
    here, there = [
        json.loads(render_sarif(examples.report_of(examples.qkv_finding(file, text))))["runs"][0]["results"][
            0
        ]
        for file, text in (("a.json", examples.QKV_TEXT), ("b/c.pt", None))
    ]
    assert here["partialFingerprints"] == there["partialFingerprints"]
    assert here["locations"] != there["locations"]


def test_sarif_marks_the_culprit_and_points_to_the_other_piece() -> None:
    (run,) = json.loads(render_sarif(examples.report_of(examples.qkv_finding())))["runs"]
    (result,) = run["results"]
    lines = examples.QKV_TEXT.splitlines()
    marked = []
    for location in (*result["locations"], *result["relatedLocations"]):
        region = location["physicalLocation"]["region"]
        line = lines[region["startLine"] - 1]
        marked.append(line[region["startColumn"] - 1 : region["endColumn"] - 1])
    assert marked == ['"dest": [1, [4, 1]]', '"dest": [0, [4, 1]]']
    assert result["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "/ranks/0/pieces/1"}]


def test_sarif_messages_hold_no_placeholder_and_no_link() -> None:
    hostile = replace(examples.qkv_finding(), concise="{0} [here](1) {", notes=(), helps=())
    (run,) = json.loads(render_sarif(examples.report_of(hostile)))["runs"]
    assert run["results"][0]["message"]["text"].startswith("{{0}} [here] (1) {{\n")


def test_an_error_of_the_run_is_no_result() -> None:
    bug = subject("qkv", "refuted", BUG)
    report = Report(tool=examples.TOOL, subjects=(bug, subject("w", "unreadable", UNREADABLE)))
    (run,) = json.loads(render_sarif(report))["runs"]
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 70)
    assert [one["descriptor"]["id"] for one in invocation["toolExecutionNotifications"]] == ["TB101", "SM005"]
    xml = ElementTree.fromstring(render_junit(report))
    assert [one.get("type") for one in xml.iter("error")] == ["TB101", "SM005"]
    assert [one.level for one in services.annotations(render_github(report))] == ["error", "error", "notice"]


def test_junit_is_read_by_others() -> None:
    read = JUnitXml.fromstring(render_junit(mixed()).encode())
    assert (read.tests, read.failures, read.errors, read.skipped) == (6, 3, 1, 1)
    (suite,) = read
    results = {case.name: [type(one).__name__.lower() for one in case.result] for case in suite}
    assert results == {
        "qkv": ["failure"],
        "late": ["failure"],
        "fine": [],
        "w": ["error"],
        "empty.json": ["skipped"],
        "in memory": ["failure"],
    }
    late = next(case for case in suite if case.name == "late")
    assert isinstance(late.result[0], Failure)
    assert late.result[0].type == "undecided"


def test_annotations_keep_to_the_limits_of_a_step() -> None:
    late = narrate(examples.qkv_map(MAP), examples.OVER_BUDGET)
    lint = narrate(examples.qkv_map(MAP), examples.LINT)
    many = examples.report_of(*[lint] * 30, *[examples.qkv_finding()] * 12, late, BUG)
    *shown, notice = services.annotations(render_github(many))
    assert [one.level for one in shown] == ["error"] * 10 + ["warning"] * 10
    titles = [one.properties["title"] for one in shown]
    assert titles[0].startswith("TB101")  # the worst comes first
    assert titles[10].startswith("SM902")
    assert "not shown here: 3 more errors and 21 more warnings; exit code 70" in notice.message


def test_long_messages_are_cut() -> None:
    long = replace(examples.qkv_finding(), notes=("a note %\n" * 2000,))
    report = examples.report_of(long)
    for one in services.annotations(render_github(replace(report, unchecked=("x" * 9000,)))):
        assert len(one.message) <= MOST_CHARACTERS


def test_no_document_can_begin_a_command() -> None:
    file = "maps/a,line=1::b\n::add-mask::x.json"
    finding = replace(
        examples.qkv_finding(file), concise="::error::forged\n::stop-commands::x", about="a: %0A"
    )
    report = replace(examples.report_of(finding), unchecked=("##[add-path]/tmp\n::set-output name=a::b",))
    shown, notice = services.annotations(render_github(report))
    assert shown.properties["file"] == file
    assert shown.message.startswith("::error::forged\\n")
    assert "a: %0A" in shown.message
    assert "\\n::set-output" in notice.message
    comma = services.annotations(render_github(examples.report_of(examples.qkv_finding("a,b:c%.json"))))
    assert comma[0].properties["file"] == "a,b:c%.json"


@pytest.mark.parametrize("file", ["\u00fc/m\u00e4p \u4e2d.json", "two\nlines.json"])
def test_a_file_is_annotated_whatever_its_name(file: str) -> None:
    shown, _ = services.annotations(render_github(examples.report_of(examples.qkv_finding(file))))
    assert {"file", "line", "col"} <= shown.properties.keys()
    assert shown.properties["file"] == file


@pytest.mark.parametrize("file", ["a\x1b[31m.json", "\u202egpj.json", "m\udce4p.json"])
def test_a_name_that_could_act_is_no_property(file: str) -> None:
    text = render_github(examples.report_of(examples.qkv_finding(file)))
    assert file not in text
    assert "file" not in services.annotations(text)[0].properties


@pytest.mark.parametrize(
    ("file", "root", "here", "shown"),
    [
        ("maps/a.json", "", "", "maps/a.json"),
        ("./maps/../a.json", "", "", "a.json"),
        ("/else/a.json", "", "", None),
        ("../a.json", "", "", None),
        ("a.json", "/repo", "/repo/sub", "sub/a.json"),
        ("../a.json", "/repo", "/repo/sub", "a.json"),
        ("../../a.json", "/repo", "/repo/sub", None),
        ("/repo/maps/a.json", "/repo", "/repo", "maps/a.json"),
        ("/repository/a.json", "/repo", "/repo", None),
    ],
)
def test_paths_are_shown_from_the_root_of_the_checkout(
    file: str, root: str, here: str, shown: str | None
) -> None:
    checkout = Checkout(root, here)
    assert checkout.path(file) == shown
    report = examples.report_of(examples.qkv_finding(file))
    assert services.annotations(render_github(report, checkout))[0].properties.get("file") == shown
    (run,) = json.loads(render_sarif(report, checkout))["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (artifact["uri"], "uriBaseId" in artifact) == (
        (shown, True) if shown is not None else (f"file://{file}" if file[0] == "/" else file, False)
    )


def test_the_workspace_of_a_workflow_is_the_root(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "sub"
    inside.mkdir()
    monkeypatch.chdir(inside)
    assert surroundings({}) == Checkout(str(inside), str(inside))
    assert surroundings({"GITHUB_WORKSPACE": str(tmp_path)}) == Checkout(str(tmp_path), str(inside))
    assert surroundings({"GITHUB_WORKSPACE": str(tmp_path / "other")}) == Checkout(str(inside), str(inside))


def test_uris_hold_no_character_that_is_special() -> None:
    finding = examples.qkv_finding("maps/a b#c?d%e:\u4e2d\ud800.json")
    document = json.loads(render_sarif(examples.report_of(finding)))
    assert validation_errors(document) == []
    (result,) = document["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9/._%-]+", uri)
    assert uri.startswith("maps/a%20b%23c%3Fd%25e%3A%E4%B8%AD%")
