"""Rendering never fails, never overflows a line, never lets a document act on the terminal."""

import dataclasses
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.diagnostics.hostile import assert_inert, faults, names, shard_maps, spans, width
from tests.render import examples
from verifier.diagnostics.narrate import narrate
from verifier.diagnostics.report import NotProved, Report, Subject
from verifier.render.concise import render_concise
from verifier.render.json_hub import render_json
from verifier.render.json_reading import read_report
from verifier.render.lines import WIDTH, Page, written_on
from verifier.render.show import render_map
from verifier.render.text import render_text

modest = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
PAGES = [Page(), Page(width=60), Page(encoding="ascii"), Page(80, "latin-1")]
PICTURE = re.compile(r"^      ")
COLOR = re.compile(r"\x1b\[[0-9;]*m")


@st.composite
def reports(draw: st.DrawFn) -> Report:
    span = draw(st.none() | spans())
    finding = narrate(
        draw(shard_maps()),
        draw(faults),
        locate=None if span is None else lambda _: span,
        notes=(draw(names),),
        helps=(draw(names),),
    )
    subject = Subject(name=draw(names), kind="map", verdict="refuted", findings=(finding,))
    return Report(tool=examples.TOOL, subjects=(subject,), unchecked=(draw(names),))


@modest
@given(reports(), st.sampled_from(PAGES))
def test_text_is_inert_and_of_bounded_width_whatever_the_document_holds(report: Report, page: Page) -> None:
    with written_on(page):
        text = render_text(report)
    assert_inert(text)
    text.encode(page.encoding)
    drawn = [line for line in text.splitlines() if page.width == WIDTH or not PICTURE.match(line)]
    assert max(map(width, drawn)) <= page.width


@modest
@given(reports())
def test_every_view_of_a_finding_says_the_same(report: Report) -> None:
    text, concise = render_text(report), render_concise(report)
    for view in (text, concise, str(NotProved(report))):
        assert_inert(view)
    assert text == render_text(report)
    heads = [line for line in concise.splitlines() if re.search(r": (error|warning|undecided)\[", line)]
    assert len(heads) == len(report.findings)
    assert COLOR.sub("", render_text(report, color=True)) == text
    assert COLOR.sub("", render_concise(report, color=True)) == concise


@modest
@given(reports())
def test_json_holds_the_whole_report(report: Report) -> None:
    text = render_json(report)
    assert text.isascii()
    again = read_report(text)
    assert again == report
    assert render_json(again) == text
    assert render_text(again) == render_text(report)


@modest
@given(shard_maps())
def test_show_never_fails_or_overflows(shard_map) -> None:
    text = render_map(shard_map)
    assert_inert(text)
    assert max(map(width, text.splitlines())) <= WIDTH


@modest
@given(shard_maps(), faults, names, st.none() | spans(), spans())
def test_a_fingerprint_depends_on_no_file_and_no_line(shard_map, fault, file, here, there) -> None:
    moved = shard_map
    if shard_map.origin is not None:
        moved = dataclasses.replace(shard_map, origin=dataclasses.replace(shard_map.origin, file=file))
    first = narrate(shard_map, fault, locate=None if here is None else lambda _: here)
    second = narrate(moved, fault, locate=lambda _: there)
    assert first.fingerprint == second.fingerprint
    assert re.fullmatch("[0-9a-f]{16}", first.fingerprint)
