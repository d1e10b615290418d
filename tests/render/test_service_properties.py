"""Any report at all renders for every service, and all of them are told the same."""

import json
import re
from dataclasses import replace
from typing import get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from sarif_kit.validate import validation_errors

from tests.diagnostics.hostile import assert_inert, faults, names, shard_maps, spans
from tests.render import examples, services
from verifier.cli.output import FORMATS, rendered
from verifier.diagnostics.finding import Finding, FindingVerdict, Place
from verifier.diagnostics.narrate import narrate
from verifier.diagnostics.report import Obligations, Report, Subject, SubjectVerdict
from verifier.render.github import MOST_CHARACTERS, MOST_PER_LEVEL
from verifier.render.json_hub import SCHEMA

modest = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

numbers = st.none() | st.integers(0, 2**31 - 1)
places = st.none() | st.builds(
    Place, names | st.sampled_from(["maps/a.json", "/abs/a.json", "../a.json"]), names, numbers, numbers
)
few = st.lists(names, max_size=2).map(tuple)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding about a random map, or one whose every text came from elsewhere."""
    span = draw(st.none() | spans())
    told = narrate(draw(shard_maps()), draw(faults), locate=None if span is None else lambda _: span)
    told = replace(told, verdict=draw(st.sampled_from(get_args(FindingVerdict))), notes=draw(few))
    if draw(st.booleans()):
        return told
    return replace(
        told,
        code=draw(names),
        name=draw(names),
        headline=draw(names),
        concise=draw(names),
        place=draw(places),
        about=draw(names),
        helps=draw(few),
        fingerprint=draw(names),
        severity=draw(st.sampled_from(["error", "warning"])),
    )


subjects = st.builds(
    Subject,
    name=names,
    kind=st.sampled_from(["map", "constructor"]),
    verdict=st.sampled_from(get_args(SubjectVerdict)),
    place=places,
    obligations=st.builds(Obligations, *[st.integers(0, 3)] * 3),
    findings=st.lists(findings(), max_size=3).map(tuple),
)
tools = st.dictionaries(names, names, max_size=2).map(lambda more: {**more, **examples.TOOL})
reports = st.builds(
    Report, tool=tools, subjects=st.lists(subjects, max_size=3).map(tuple), unchecked=few
)  # fmt: skip


@modest
@given(reports)
def test_every_format_renders_any_report_and_all_agree(report: Report) -> None:
    views = {form: rendered(report, form) for form in FORMATS}
    for form, view in views.items():
        assert view == rendered(report, form)
        assert_inert(view)
        assert view.isascii() or form in ("text", "concise", "github")
    expected = services.Seen(len(report.findings), report.exit_code)
    assert services.sarif(views["sarif"]) == expected
    assert services.junit(views["junit"]) == expected
    assert services.github(views["github"]) == expected
    assert services.html(views["html"]) == expected
    hub = json.loads(views["json"])
    assert hub["schema"] == SCHEMA
    assert sum(len(one["findings"]) for one in hub["subjects"]) == expected.findings
    assert len(services.HEADING.findall(views["text"])) == expected.findings
    concise = re.findall(r": (?:error|warning|undecided)\[", views["concise"])
    assert len(concise) >= expected.findings


@modest
@given(reports)
def test_every_service_reads_its_form(report: Report) -> None:
    assert validation_errors(json.loads(rendered(report, "sarif"))) == []
    suites = JUnitXml.fromstring(rendered(report, "junit").encode())
    assert suites.tests == len(report.subjects)
    passed = sum(not case.result for suite in suites for case in suite)
    assert suites.tests - suites.failures - suites.errors - suites.skipped == passed
    shown = services.annotations(rendered(report, "github"))
    assert max(len(one.message) for one in shown) <= MOST_CHARACTERS
    for level in ("error", "warning"):
        assert sum(one.level == level for one in shown) <= MOST_PER_LEVEL
