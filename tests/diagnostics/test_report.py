"""Exit codes: the worst wins, and a run that checked nothing is not a pass."""

from itertools import combinations

import pytest

from tests.render import examples
from verifier.diagnostics.finding import Place
from verifier.diagnostics.narrate import narrate, refusal_finding
from verifier.diagnostics.report import NotProved, Obligations, Report, Subject
from verifier.obligations.faults import Fault

BUG = narrate(examples.qkv_map(), Fault(code="TB101", side="map"))
REFUSED = refusal_finding("SM001", "no map is in this object", None, Place("a.json"))
LINT = narrate(examples.qkv_map(), examples.LINT)
ONE = Obligations(proved=1)
SUBJECTS = {
    70: Subject(name="bug", kind="map", verdict="proved", obligations=ONE, findings=(BUG,)),
    2: Subject(name="unreadable", kind="map", verdict="unreadable", findings=(REFUSED,)),
    1: Subject(name="refuted", kind="map", verdict="refuted", obligations=Obligations(0, 1, 0)),
    3: Subject(name="undecided", kind="map", verdict="undecided", obligations=Obligations(0, 0, 1)),
    4: Subject(name="unchecked", kind="document", verdict="unchecked"),
    0: Subject(name="proved", kind="map", verdict="proved", obligations=ONE, findings=(LINT,)),
}
ORDER = [70, 2, 1, 3, 4, 0]


def report(*codes: int) -> Report:
    return Report(tool={}, subjects=tuple(SUBJECTS[code] for code in codes))


@pytest.mark.parametrize("size", range(1, 7))
def test_the_worst_subject_decides(size: int) -> None:
    for codes in combinations(ORDER, size):
        assert report(*codes).exit_code == report(*reversed(codes)).exit_code == codes[0]


def test_nothing_checked_is_worse_than_proved_only() -> None:
    vacuous = Subject(name="empty", kind="map", verdict="proved")
    assert Report(tool={}, subjects=()).exit_code == 4
    assert Report(tool={}, subjects=(vacuous,)).exit_code == 4
    assert Report(tool={}, subjects=(vacuous, SUBJECTS[0])).exit_code == 0
    assert Report(tool={}, subjects=(vacuous, SUBJECTS[3])).exit_code == 3


def test_a_warning_changes_no_exit_code() -> None:
    assert LINT.severity == "warning"
    report(0).raise_if_not_proved()


@pytest.mark.parametrize("code", ORDER[:-1])
def test_whatever_is_not_proved_raises_with_a_line_per_finding(code: int) -> None:
    with pytest.raises(NotProved) as caught:
        report(0, code).raise_if_not_proved()
    assert caught.value.report == report(0, code)
    lines = str(caught.value).splitlines()
    assert any(SUBJECTS[code].name in line or "a.json: unreadable[SM001]" in line for line in lines)


def test_nothing_checked_raises_too() -> None:
    with pytest.raises(NotProved, match="nothing was checked"):
        Report(tool={}, subjects=()).raise_if_not_proved()


def test_the_summary_counts_subjects_and_obligations() -> None:
    summary = report(*ORDER).summary
    assert (summary.proved, summary.refuted, summary.undecided, summary.unreadable) == (2, 1, 1, 1)
    assert summary.obligations == Obligations(2, 1, 1)
