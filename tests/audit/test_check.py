"""The last word on a map: verdict, exit code, counts, the API and certificates all say the same."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.audit.test_boxes import boxes_of
from tests.builders import columns, piece, replicated, shard_map
from verifier.answers import Answer, Unknown
from verifier.audit import check as checking
from verifier.audit.answering import Answering
from verifier.audit.boxes import FEW, MOST_TOLD, check_boxes
from verifier.audit.certificate_files import write_certificates
from verifier.audit.check import Settings, check_subject, tool_versions
from verifier.audit.entries import file_set
from verifier.audit.execution import Execution
from verifier.audit.proofs import Proofs
from verifier.budget import Budget
from verifier.certificates.check import Rejected, TooLarge
from verifier.certificates.check_boxes import TooLarge as TooManyBoxes
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.formats import BoxSubject, Document
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.obligations.questions import Question
from verifier.verdicts import Proved, Refuted, Undecided

MAP = columns(3, 2, 4)
SCALED = replicated((2,), 2, Fraction(1, 2))
"""Proved, with a lint for each rank."""
SETTINGS = Settings()
STRICT = Settings(strict=True)


def report_of(shard_map: ShardMap, settings: Settings = SETTINGS, proofs: Proofs | None = None) -> Report:
    answering = settings.answering()
    return report(check_subject(shard_map, Expectation(), settings, answering, proofs=proofs))


def report(subject: Subject) -> Report:
    assert sum(subject.families.values(), Obligations()) == subject.obligations
    return Report(tool=tool_versions(), subjects=(subject,))


def unconfirmed(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """From here on the independent checker accepts nothing."""

    def give_up(text: str) -> tuple[str, ...]:
        raise error

    monkeypatch.setattr(checking, "check_text", give_up)


@pytest.mark.parametrize(
    ("error", "code", "exit_code"), [(TooLarge("no"), "SM902", 3), (Rejected("no"), "TB102", 70)]
)
def test_a_proof_that_the_checker_does_not_confirm_is_none_anywhere(
    error: Exception, code: str, exit_code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = report_of(MAP).subjects[0].obligations.total
    unconfirmed(monkeypatch, error)
    proofs = Proofs(stored=lambda key: None)
    found = report_of(MAP, proofs=proofs)
    assert found.exit_code == exit_code
    assert found.subjects[0].verdict == "undecided"
    assert [finding.code for finding in found.subjects[0].findings] == [code]
    assert isinstance(found.verdict, Undecided)
    assert [fault.code for fault in found.verdict.faults] == [code]
    assert "no" in found.verdict.reason
    assert found.summary.obligations == Obligations(undecided=total)
    assert write_certificates(found, tmp_path) == 0
    assert not proofs.fresh


def test_a_proof_that_an_execution_contradicts_is_none_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug = Fault(code="TB101", side="map", values={"obligation": "torch oracle", "reason": "on purpose"})
    monkeypatch.setattr(checking, "_execution", lambda *_: Execution(faults=(bug,)))
    proofs = Proofs(stored=lambda key: None)
    found = report_of(MAP, proofs=proofs)
    assert (found.exit_code, found.subjects[0].verdict) == (70, "undecided")
    assert found.verdict == Undecided("on purpose", (bug,))
    assert (found.summary.obligations.proved, write_certificates(found, tmp_path)) == (0, 0)
    assert not proofs.fresh
    wrong = report_of(shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])}))
    assert (wrong.exit_code, wrong.subjects[0].verdict) == (70, "refuted")
    assert isinstance(wrong.verdict, Refuted)


def test_demanded_form_is_refuted_where_a_map_has_another(tmp_path: Path) -> None:
    lenient, strict = report_of(SCALED), report_of(SCALED, STRICT)
    assert isinstance(lenient.verdict, Proved)
    assert lenient.exit_code == 0
    assert isinstance(strict.verdict, Refuted)
    assert strict.verdict.witness.code == "SM704"
    assert strict.exit_code == 1
    assert strict.summary.obligations == lenient.summary.obligations + Obligations(refuted=2)
    assert strict.subjects[0].families["expectations"] == Obligations(refuted=2)
    assert [finding.severity for finding in strict.subjects[0].findings] == ["error", "error"]
    assert write_certificates(strict, tmp_path) == 0


def test_a_map_of_the_demanded_form_is_proved() -> None:
    assert report_of(MAP, STRICT) == report_of(MAP)
    assert isinstance(report_of(MAP, STRICT).verdict, Proved)


def test_demanded_form_is_refuted_also_where_the_rest_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    total = report_of(SCALED).summary.obligations.total
    unconfirmed(monkeypatch, TooLarge("no"))
    found = report_of(SCALED, STRICT)
    assert isinstance(found.verdict, Refuted)
    assert found.summary.obligations == Obligations(refuted=2, undecided=total)
    assert found.exit_code == 1


def test_remarks_on_files_are_refutations_where_they_are_demanded_to_be() -> None:
    remark = Fault(code="CK202", side="map", values={"what": "the file a", "found": "is ignored"})
    document = Document(file="folder", kind="dcp", remarks=(remark,), checks={"byte ranges": 3})
    for settings, refuted in ((SETTINGS, 0), (STRICT, 1)):
        found = file_set(document, settings)
        assert found is not None
        assert found.obligations == Obligations(proved=3, refuted=refuted)
        assert found.verdict == ("refuted" if refuted else "proved")


class Silent:
    """An engine that decides nothing."""

    name = "silent"

    def decide(self, question: Question, budget: Budget) -> Answer:
        return Unknown("SM902", "did not try", self.name)


def test_an_undecided_map_says_why() -> None:
    found = report(check_subject(MAP, Expectation(), SETTINGS, Answering(Silent(), Budget())))
    assert isinstance(found.verdict, Undecided)
    assert found.verdict.reason == "did not try"


def rows(number: int) -> BoxSubject:
    return BoxSubject(boxes=boxes_of((number,), *[((row,), (1,)) for row in range(number)]))


def test_many_boxes_that_the_checker_does_not_confirm_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> None:
        raise TooManyBoxes("no")

    monkeypatch.setattr("verifier.audit.many_boxes.check_tiled", give_up)
    found = report(check_boxes(rows(MOST_TOLD + 1), SETTINGS, SETTINGS.answering()))
    assert (found.exit_code, found.summary.obligations.proved) == (3, 0)
    assert isinstance(found.verdict, Undecided)


def test_many_boxes_with_a_hole_have_a_witness() -> None:
    whole, hole = rows(FEW + 1).boxes, rows(MOST_TOLD + 1).boxes
    hole = replace(hole, logical_shape=(MOST_TOLD + 2,))
    right, wrong = [
        check_boxes(BoxSubject(boxes=boxes), SETTINGS, SETTINGS.answering()) for boxes in (whole, hole)
    ]
    found = Report(tool=tool_versions(), subjects=(right, wrong))
    assert isinstance(found.verdict, Refuted)
    assert (found.verdict.witness.code, found.verdict.witness.address) == ("SM301", MOST_TOLD + 1)
