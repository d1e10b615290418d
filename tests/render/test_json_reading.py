"""A report that comes from anywhere is read strictly, and the error names the place."""

import copy
import dataclasses
import json
import re
from collections.abc import Callable, Iterator

import pytest

from tests.render import examples
from verifier.diagnostics.finding import Json
from verifier.diagnostics.narrate import narrate
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.obligations.faults import Fault
from verifier.render.json_fields import ReportFormatError
from verifier.render.json_hub import SCHEMA, render_json, report_to_json
from verifier.render.json_reading import read_report

GOOD = json.loads(render_json(examples.report_of(examples.qkv_finding())))


FREE = ("tool", "answered_by", "contents", "witness")
"""Members whose own members have free names."""


def members(value: Json, pointer: str = "") -> Iterator[tuple[str, str, Json]]:
    """Every member of every object with fixed names, as (pointer of the object, name, value)."""
    match value:
        case dict():
            for name, item in value.items():
                yield pointer, name, item
                if name not in FREE:
                    yield from members(item, f"{pointer}/{name}")
        case list():
            for k, item in enumerate(value):
                yield from members(item, f"{pointer}/{k}")


MEMBERS = list(members(GOOD))

NEWER = re.compile(
    r"/subjects/\d+/(families|notes|findings/\d+/(counterpart|accepted|(picture|counterpart)/rows/\d+/elements))"
)
"""Members that the first reports of this schema did not have."""


def is_newer(pointer: str, name: str) -> bool:
    return NEWER.fullmatch(f"{pointer}/{name}") is not None


def found(document: Json, pointer: str) -> Json:
    """The object at a pointer, None where an outer one is gone."""
    at = document
    for step in pointer.split("/")[1:]:
        if isinstance(at, dict) and step not in at:
            return None
        at = at[int(step)] if isinstance(at, list) else at[step]
    return at


def changed(pointer: str, change: Callable[[dict], object]) -> str:
    """The good document with one object changed."""
    document = copy.deepcopy(GOOD)
    change(found(document, pointer))
    return json.dumps(document)


def refusal(text: str) -> ReportFormatError:
    with pytest.raises(ReportFormatError) as caught:
        read_report(text)
    return caught.value


def test_the_schema_is_named_first() -> None:
    assert next(iter(GOOD.items())) == ("schema", SCHEMA)
    assert list(GOOD) == ["schema", "tool", "summary", "subjects"]


def test_no_member_may_be_missing() -> None:
    for pointer, name, _ in MEMBERS:
        if is_newer(pointer, name):
            continue
        error = refusal(changed(pointer, lambda at, name=name: at.pop(name)))
        assert (error.pointer, f"has no member '{name}'" in str(error)) == (pointer, True)


def test_a_report_of_an_older_version_is_read() -> None:
    older = copy.deepcopy(GOOD)
    for pointer, name, _ in MEMBERS:
        at = found(older, pointer)
        if is_newer(pointer, name) and isinstance(at, dict):
            del at[name]
    assert len(json.dumps(older)) < len(json.dumps(GOOD))
    report = read_report(json.dumps(older))
    assert report.subjects[0].findings[0].picture is not None
    assert report.subjects[0].findings[0].counterpart is None
    assert report.exit_code == read_report(json.dumps(GOOD)).exit_code


def test_families_have_to_add_up() -> None:
    counts = {"piece": {"proved": 8, "refuted": 1, "undecided": 0}}
    text = changed("/subjects/0", lambda at: at.update(families=counts))
    assert read_report(text).subjects[0].families == {"piece": Obligations(8, 1, 0)}
    counts["piece"]["proved"] = 7
    error = refusal(changed("/subjects/0", lambda at: at.update(families=counts)))
    assert str(error) == "/subjects/0/families: do not add up to the obligations"


def test_no_member_may_be_unknown() -> None:
    for pointer in {pointer for pointer, _, _ in MEMBERS}:
        error = refusal(changed(pointer, lambda at: at.update(extra=1)))
        assert (error.pointer, "has an unknown member 'extra'" in str(error)) == (pointer, True)


@pytest.mark.parametrize("wrong", [7.5, -1, True, "text", ["list"], {"member": []}], ids=str)
def test_no_member_may_have_another_type(wrong: Json) -> None:
    for pointer, name, value in MEMBERS:
        if type(value) is not type(wrong):
            error = refusal(changed(pointer, lambda at, name=name: at.update({name: wrong})))
            assert error.pointer.startswith(f"{pointer}/{name}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("9" * 5000, "is not JSON"),
        ("[]", "expected an object, found a list"),
        ('{"schema": 1, "schema": 2}', "repeated member"),
        ('{"schema": NaN}', "the number NaN"),
        ('{"schema": 1e999}', "the number 1e999"),
        ('{"schema": [-1e999]}', "the number -1e999"),
        (json.dumps({**GOOD, "schema": "shardproof.report/2"}), "expected 'shardproof.report/1'"),
    ],
)
def test_what_is_no_report_is_refused(text: str, message: str) -> None:
    with pytest.raises(ReportFormatError, match=message):
        read_report(text)


def test_a_summary_has_to_add_up() -> None:
    error = refusal(changed("/summary", lambda at: at.update(proved=1)))
    assert str(error) == "/summary: does not add up to the subjects"


def test_pictures_and_labels_have_to_fit_together() -> None:
    finding = "/subjects/0/findings/0"
    error = refusal(changed(f"{finding}/picture/rows/0", lambda at: at.update(cells=["0"])))
    assert "another number of cells" in str(error)
    for picture in ("picture", "counterpart"):
        error = refusal(changed(f"{finding}/{picture}/rows/0", lambda at: at.update(elements=["[0, 0]"])))
        assert (error.pointer, "number of elements" in str(error)) == (f"{finding}/{picture}/rows", True)
    error = refusal(changed(f"{finding}/labels/0", lambda at: at.update(end=10_000)))
    assert "outside its snippet" in str(error)


def test_a_line_number_belongs_to_a_document() -> None:
    place = "/subjects/0/findings/0/place"
    for member in ("line", "column"):
        read_report(changed(place, lambda at, member=member: at.update({member: 10**9})))
        error = refusal(changed(place, lambda at, member=member: at.update({member: 10**9 + 1})))
        assert error.pointer == f"{place}/{member}"


@pytest.mark.parametrize(
    ("verdict", "finding", "accepted"),
    [
        ("proved", "refuted", False),
        ("proved", "undecided", False),
        ("undecided", "refuted", False),
        ("undecided", "undecided", True),
        ("refuted", "undecided", True),
        ("refuted", "unreadable", False),
        ("unreadable", "refuted", True),
        ("unchecked", "refuted", False),
    ],
)
def test_a_verdict_better_than_its_findings_is_refused(verdict: str, finding: str, accepted: bool) -> None:
    document = report_to_json(
        Report(
            tool=examples.TOOL,
            subjects=(
                Subject(
                    name="w",
                    kind="map",
                    verdict=verdict,
                    findings=(dataclasses.replace(examples.qkv_finding(), verdict=finding),),
                ),
            ),
        )
    )
    text = json.dumps(document)
    if accepted:
        assert read_report(text).subjects[0].verdict == verdict
    else:
        error = refusal(text)
        assert error.pointer == "/subjects/0/verdict"
        assert "contradicts" in str(error)


def test_a_proof_with_refuted_obligations_is_refused_and_a_tool_bug_is_not_about_the_map() -> None:
    wrong = Subject(name="w", kind="map", verdict="proved", obligations=Obligations(1, 1, 0))
    assert "contradicts" in str(refusal(render_json(Report(tool=examples.TOOL, subjects=(wrong,)))))
    bug = narrate(examples.qkv_map(), Fault(code="TB101", side="map"))
    fine = Report(
        tool=examples.TOOL,
        subjects=(
            Subject(
                name="w", kind="map", verdict="proved", obligations=Obligations(1, 0, 0), findings=(bug,)
            ),
        ),
    )
    assert read_report(render_json(fine)).exit_code == 70


def test_an_error_may_not_be_called_a_warning() -> None:
    finding = "/subjects/0/findings/0"
    error = refusal(changed(finding, lambda at: at.update(severity="warning")))
    assert error.pointer == f"{finding}/severity"


def test_an_unchecked_document_is_read_back() -> None:
    nothing = Subject(name="empty.json", kind="document", verdict="unchecked")
    report = Report(tool=examples.TOOL, subjects=(nothing,), unchecked=("empty.json (no map found)",))
    assert read_report(render_json(report)) == report
