"""``--write-cases``: what a campaign found becomes small cases that replay, once each."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from fuzz import registry
from verifier.cli.main import shardproof

ARGUMENTS = (
    "fuzz",
    "--target",
    "gullible",
    "--mutants",
    "drop-piece,shift-dest",
    "--cases",
    "60",
    "--write-cases",
)


@pytest.fixture(autouse=True)
def gullible(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(registry._TARGETS, "gullible", "tests.fuzz.targets_for_tests:Gullible")
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> list[str]:
    return CliRunner().invoke(shardproof, arguments).stdout.splitlines()


def test_each_finding_is_written_small_and_replays() -> None:
    lines = [line for line in run(*ARGUMENTS, "found") if line.startswith("wrote ")]
    assert len(lines) == len(list(Path("found").glob("*.json"))) > 0
    assert any("silently wrong, drop-piece" in line for line in lines)
    assert all(path.stat().st_size < 1000 for path in Path("found").glob("*.json"))
    replayed = CliRunner().invoke(shardproof, ["replay", "found"])
    assert replayed.exit_code == 0, replayed.output


def test_a_case_that_is_there_is_known_and_not_written_again() -> None:
    first = run(*ARGUMENTS, "found")
    before = {path: path.read_bytes() for path in Path("found").iterdir()}
    second = run(*ARGUMENTS, "found")
    assert [line.replace("wrote ", "known ") for line in first] == second
    assert {path: path.read_bytes() for path in Path("found").iterdir()} == before


def test_a_folder_that_cannot_be_written_is_said() -> None:
    Path("found").write_text("a file")
    result = CliRunner().invoke(shardproof, [*ARGUMENTS, "found"])
    assert result.exit_code != 0
    assert "found" in result.output
