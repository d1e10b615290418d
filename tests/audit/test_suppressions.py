"""Suppressions: what they match, when they end, and that a malformed one is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.builders import piece, shard_map
from verifier.audit.check import check_map
from verifier.audit.suppressions import (
    ConfigurationError,
    Suppression,
    project_file,
    read_suppressions,
    suppressed,
)
from verifier.diagnostics.report import EXIT_PROVED, EXIT_REFUTED, Report
from verifier.model.origin import Origin

HOLE = shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])}, name="layers.3.w")
TODAY = date(2026, 6, 1)
GOOD = 'code = "SM301"\nreason = "padded"\nuntil = 2026-12-31\n'


def hole_report() -> Report:
    return check_map(replace(HOLE, origin=Origin("old/maps.json", "/w")))


def written(tmp_path: Path, *tables: str) -> Path:
    path = tmp_path / "pyproject.toml"
    path.write_text("".join(f"[[tool.shardproof.suppress]]\n{table}\n" for table in tables))
    return path


@pytest.mark.parametrize(
    ("more", "matches"),
    [
        ("", True),
        ('name = "layers.*.w"', True),
        ('name = "layers.?.b"', False),
        ('file = "old/*"', True),
        ('file = "new/*"', False),
        (f'fingerprint = "{hole_report().findings[0][1].fingerprint}"', True),
        ('fingerprint = "0000000000000000"', False),
    ],
)
def test_what_a_suppression_is_about(more: str, matches: bool, tmp_path: Path) -> None:
    found = read_suppressions(written(tmp_path, GOOD + more))
    report = suppressed(hole_report(), found, TODAY)
    assert report.exit_code == (EXIT_PROVED if matches else EXIT_REFUTED)
    codes = [finding.code for _, finding in report.open_findings]
    assert codes == ([] if matches else ["SM301", "HK101"])
    if matches:
        assert report.findings[0][1].accepted == "suppressed until 2026-12-31: padded"


@pytest.mark.parametrize(("until", "code"), [("2026-06-01", EXIT_PROVED), ("2026-05-31", EXIT_REFUTED)])
def test_it_holds_on_its_last_day_and_not_after(until: str, code: int, tmp_path: Path) -> None:
    table = f'code = "uncovered-element"\nreason = "r"\nuntil = {until}'
    report = suppressed(hole_report(), read_suppressions(written(tmp_path, table)), TODAY)
    assert report.exit_code == code
    assert ("HK102" in [finding.code for _, finding in report.findings]) == (code == EXIT_REFUTED)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('reason = "r"\nuntil = 2026-12-31', "has no code"),
        ('code = "SM301"\nuntil = 2026-12-31', "has no reason"),
        ('code = "SM301"\nreason = "r"', "has no until"),
        ('code = "SM301"\nreason = " "\nuntil = 2026-12-31', "reason is no text"),
        ('code = "SM301"\nreason = "r"\nuntil = "2026-12-31"', "until is no date"),
        ('code = "SM301"\nreason = "r"\nuntil = 2026-12-31T00:00:00', "until is no date"),
        ('code = "SM999"\nreason = "r"\nuntil = 2026-12-31', "no diagnostic is called 'SM999'"),
        ('code = "TB101"\nreason = "r"\nuntil = 2026-12-31', "cannot be suppressed"),
        (GOOD + 'nmae = "w"', "unknown key 'nmae'"),
        (GOOD + "name = 3", "name is no text"),
    ],
)
def test_a_malformed_suppression_is_named(table: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as raised:
        read_suppressions(written(tmp_path, GOOD, table))
    assert "suppression 2" in str(raised.value)


def test_other_shapes_and_unreadable_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.shardproof]\nsuppress = 3")
    with pytest.raises(ConfigurationError, match="write each suppression as"):
        read_suppressions(path)
    path.write_text("[tool")
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml"):
        read_suppressions(path)


def test_the_nearest_project_file_counts(tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    path = written(tmp_path)
    assert project_file(inside) == path.resolve()


def test_a_finding_is_accepted_by_one_decision() -> None:
    one = Suppression(position=0, code="SM301", reason="first", until=TODAY)
    two = Suppression(position=1, code="SM301", reason="second", until=TODAY)
    report = suppressed(hole_report(), [one, two], TODAY)
    assert report.findings[0][1].accepted.endswith("first")
    assert [finding.code for _, finding in report.open_findings] == ["HK101"]
