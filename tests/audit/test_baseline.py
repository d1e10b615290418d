"""A baseline accepts what it lists by exact fingerprint, nothing new, and only gets smaller."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders import columns, piece, shard_map
from verifier.audit.baseline import (
    BaselineError,
    accepted,
    known_in,
    read_baseline,
    stale_in,
    with_stale,
    write_baseline,
)
from verifier.audit.check import check_map
from verifier.diagnostics.report import EXIT_PROVED, EXIT_REFUTED, EXIT_UNREADABLE, Report
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

HOLE = shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])})
OTHER = shard_map((5,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])})


def report_of(*maps: ShardMap, file: str = "maps.json") -> Report:
    reports = [check_map(replace(found, origin=Origin(file, f"/{k}"))) for k, found in enumerate(maps)]
    return Report(tool=reports[0].tool, subjects=tuple(r.subjects[0] for r in reports))


def test_what_was_there_is_accepted_and_what_is_new_is_not(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, known_in(report_of(HOLE)))
    known = read_baseline(path)
    assert accepted(report_of(HOLE), known).exit_code == EXIT_PROVED
    both = accepted(report_of(HOLE, OTHER), known)
    assert both.exit_code == EXIT_REFUTED
    assert [subject.is_accepted for subject in both.subjects] == [True, False]
    assert len(both.open_findings) == 1


def test_an_accepted_map_is_not_proved() -> None:
    report = accepted(report_of(HOLE), known_in(report_of(HOLE)))
    assert report.subjects[0].verdict == "refuted"
    assert report.summary.refuted == 1


def test_entries_are_sorted_and_listed_once(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, known_in(report_of(OTHER, HOLE, HOLE)))
    known = read_baseline(path)
    assert known == sorted(set(known))
    assert len(known) == 2


def test_what_is_gone_is_stale_where_its_document_was_audited() -> None:
    known = known_in(report_of(HOLE, OTHER))
    repaired = report_of(columns(2, 2, 2), OTHER)
    (stale,) = stale_in(repaired, known)
    assert stale.fingerprint == report_of(HOLE).findings[0][1].fingerprint
    assert stale_in(report_of(columns(2, 2, 2), file="elsewhere.json"), known) == []


def test_a_stale_entry_is_a_warning_that_fails_nothing() -> None:
    known = known_in(report_of(HOLE))
    report = with_stale(report_of(columns(2, 2, 2)), "b.json", known)
    assert report.exit_code == EXIT_PROVED
    assert [finding.code for _, finding in report.findings] == ["HK103"]


def test_what_cannot_be_read_is_never_accepted() -> None:
    report = report_of(HOLE)
    unreadable = replace(report, subjects=(replace(report.subjects[0], verdict="unreadable"),))
    assert known_in(unreadable) == []
    assert accepted(unreadable, known_in(report)).exit_code == EXIT_UNREADABLE


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"schema": "shardproof.baseline/2", "findings": []}',
        '{"schema": "shardproof.baseline/1", "findings": [{}]}',
        json.dumps(
            {
                "schema": "shardproof.baseline/1",
                "findings": [{"code": 1, "fingerprint": "", "name": "", "file": ""}],
            }
        ),
        json.dumps({"schema": "shardproof.baseline/1", "findings": ["SM301"]}),
    ],
)
def test_a_malformed_baseline_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(content)
    with pytest.raises(BaselineError, match=r"baseline\.json"):
        read_baseline(path)
