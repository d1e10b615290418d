"""The end of every run: what was looked into is counted, and each thing that was not checked is seen."""

from tests.render import examples
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.render.github import render_github
from verifier.render.lines import paint
from verifier.render.summary import summary_lines, summary_text

CLAUSES = ("values: no tensor data is read", "objects, never unpickled (2): " + ", ".join(['"step"'] * 20))


def report(*unchecked: str, unreadable: int = 0) -> Report:
    proved = Subject(name="a", kind="map", verdict="proved", obligations=Obligations(proved=1))
    broken = Subject(name="b", kind="map", verdict="unreadable", contents={"pieces": 3})
    return Report(tool=examples.TOOL, subjects=(proved, *[broken] * unreadable), unchecked=unchecked)


def lines(one: Report) -> list[str]:
    return paint(summary_lines(one), color=False).splitlines()


def test_each_thing_that_was_not_checked_has_a_line() -> None:
    first, second, third, more = lines(report(*CLAUSES))
    assert first.endswith("; not checked:")
    assert second == f"    {CLAUSES[0]}"
    assert third.startswith("    objects, ")
    assert more.startswith('      "step"')


def test_a_short_one_stays_on_the_line() -> None:
    assert len(lines(report(CLAUSES[0]))) == 1


def test_annotations_keep_them_apart() -> None:
    assert f"not checked:%0A{CLAUSES[0]}%0Aobjects" in render_github(report(*CLAUSES))


def test_what_cannot_be_read_is_not_counted_as_checked() -> None:
    assert summary_text(report(unreadable=16)).startswith("checked 1 map: 1 obligation proved")
    assert "16 unreadable" in summary_text(report(unreadable=16))
