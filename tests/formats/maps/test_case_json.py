from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.formats.documents import edited, rows_map, without
from verifier.formats import CaseExpect, Document, FormatError, read
from verifier.model.expectation import Expectation

CASE: dict[str, Any] = {
    "name": "rows",
    "what": "two ranks, two rows each",
    "source": "nowhere",
    "map": rows_map(),
    "expect": {"verdict": "refuted", "codes": ["SM501"], "structural_verdict": "proved"},
}


def read_text(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "case.json"
    path.write_text(text)
    return read(path, display="case.json")


def expectation_of(tmp_path: Path, members: dict[str, object]) -> Expectation:
    document = read_text(tmp_path, json.dumps({**CASE, "expectation": members}))
    assert document.refusals == ()
    return document.subjects[0].expectation


def test_a_case_is_one_map_with_its_right_answer(tmp_path: Path) -> None:
    document = read_text(tmp_path, json.dumps(CASE))
    (subject,) = document.subjects
    assert (document.kind, document.file, subject.name) == ("case", "case.json", "rows")
    assert subject.origin.pointer == "/map"
    assert subject.shard_map.origin == subject.origin
    assert subject.expectation == Expectation()
    assert document.expect == CaseExpect(verdict="refuted", codes=("SM501",), structural_verdict="proved")


def test_every_member_of_the_expectation_arrives(tmp_path: Path) -> None:
    expectation = expectation_of(
        tmp_path,
        {
            "reference": rows_map(),
            "holes": {"1": [3, 2]},
            "gaps": [7, 0],
            "cover": False,
            "partial": True,
            "expect_scale": 0.1,
            "int_bits": 16,
            "write_unit": 2,
        },
    )
    assert expectation.reference is not None
    assert expectation.reference.origin is not None
    assert expectation.reference.origin.pointer == "/expectation/reference"
    assert expectation.holes == {1: (2, 3)}
    assert expectation.gaps == (0, 7)
    assert (expectation.cover, expectation.lookup, expectation.partial) == (False, False, True)
    assert expectation_of(tmp_path, {"lookup": True}).lookup
    assert expectation.scale == Fraction(0.1) != Fraction(1, 10)
    assert (expectation.index_bits, expectation.write_unit) == (16, 2)


def test_members_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    document = read_text(tmp_path, json.dumps({**CASE, "expectation": {"lookup": True, "write_unit": 2}}))
    (refusal,) = document.refusals
    assert (refusal.code, refusal.origin.pointer) == ("SM002", "/expectation")


@pytest.mark.parametrize(
    ("member", "value", "code", "pointer"),
    [
        ("hole", [], "SM002", "/hole"),
        ("holes", {"0": [1, 1]}, "SM002", "/holes/0/1"),
        ("holes", {"0": [-1]}, "SM002", "/holes/0/0"),
        ("holes", {"0": [1], "00": [1]}, "SM003", "/holes/00"),
        ("gaps", [1.0], "SM005", "/gaps/0"),
        ("cover", 0, "SM002", "/cover"),
        ("lookup", "true", "SM002", "/lookup"),
        ("partial", None, "SM002", "/partial"),
        ("expect_scale", "1", "SM005", "/expect_scale"),
        ("int_bits", 1, "SM002", "/int_bits"),
        ("int_bits", 65, "SM002", "/int_bits"),
        ("int_bits", True, "SM005", "/int_bits"),
        ("int_bits", 2**127, "SM006", "/int_bits"),
        ("gaps", [0, 2**127], "SM006", "/gaps/1"),
        ("holes", {"0": [2**127]}, "SM006", "/holes/0/0"),
        ("write_unit", 2**127, "SM006", "/write_unit"),
        ("expect_scale", -(2**127), "SM006", "/expect_scale"),
        ("write_unit", 0, "SM002", "/write_unit"),
        ("reference", {"logical_shape": [1]}, "SM002", "/reference"),
    ],
)
def test_malformed_expectations_are_refused(
    tmp_path: Path, member: str, value: object, code: str, pointer: str
) -> None:
    document = read_text(tmp_path, json.dumps({**CASE, "expectation": {member: value}}))
    (refusal,) = document.refusals
    assert (refusal.code, refusal.origin.pointer) == (code, "/expectation" + pointer)
    assert document.subjects == ()


def test_a_map_that_cannot_be_read_leaves_the_right_answer_standing(tmp_path: Path) -> None:
    document = read_text(tmp_path, json.dumps(edited(CASE, ("map", "logical_shape"), "42")))
    assert [refusal.code for refusal in document.refusals] == ["SM002"]
    assert document.expect is not None


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"cover": true', '"cover": true, "cover": false', "SM003"),
        ('"expect_scale": 1', '"expect_scale": NaN', "SM005"),
    ],
)
def test_so_does_a_flaw_of_the_text(tmp_path: Path, old: str, new: str, code: str) -> None:
    text = json.dumps({**CASE, "expectation": {"cover": True, "expect_scale": 1}})
    assert read_text(tmp_path, text).refusals == ()
    document = read_text(tmp_path, text.replace(old, new))
    assert [refusal.code for refusal in document.refusals] == [code]
    assert document.expect is not None


@pytest.mark.parametrize(
    "broken",
    [
        without(CASE, ("name",)),
        edited(CASE, ("name",), 3),
        edited(CASE, ("name",), "a\x1b[2J"),
        edited(CASE, ("comment",), ""),
        edited(CASE, ("expect", "verdict"), "fine"),
        edited(CASE, ("expect", "codes"), "SM201"),
        edited(CASE, ("expect", "codes"), [201]),
        edited(CASE, ("expect", "why"), ""),
        edited(CASE, ("what",), 1),
    ],
)
def test_malformed_cases_are_refused_whole(tmp_path: Path, broken: object) -> None:
    with pytest.raises(FormatError, match="SM002"):
        read_text(tmp_path, json.dumps(broken))


def test_huge_scales_are_exact(tmp_path: Path) -> None:
    assert expectation_of(tmp_path, {"expect_scale": 2**60 + 1}).scale == 2**60 + 1
    assert expectation_of(tmp_path, {"expect_scale": math.ulp(0.0)}).scale == Fraction(1, 2**1074)
