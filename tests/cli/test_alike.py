"""What several commands do they do alike: missing files, formats, help."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof

WRONG = CORPUS / "maps/dest-collision-columns.json"
MISSING = "no such file, or not a regular one"


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "nope"),
        ("replay", "nope"),
        ("replay", "n" * 300),
        ("show", "nope"),
        ("contract", "check", "nope"),
        ("diff", WRONG, "nope"),
        ("render", "nope"),
        ("certify", "nope"),
        ("audit", WRONG, "--reference", "nope"),
        ("audit", WRONG, "--baseline", "nope"),
        ("audit", WRONG, "--expect-shapes", "nope"),
        ("cases", "add", "nope", "--to", "there"),
    ],
    ids=str,
)
def test_a_missing_file_is_said_in_the_same_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str | Path, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = shardproof(*arguments)
    assert ran.code == 2
    assert MISSING in ran.out + ran.err
    assert "Usage" not in ran.err


@pytest.mark.parametrize("command", [("show", WRONG), ("diff", WRONG, WRONG)], ids=str)
def test_every_command_that_reads_maps_can_be_told_the_format(command: tuple[str | Path, ...]) -> None:
    assert shardproof(*command, "--input-format", "json").code == 0
    assert shardproof(*command, "--input-format", "dcp").code == 2
    assert "is no format; known are" in " ".join(shardproof(*command, "--input-format", "x").err.split())


def test_names_that_are_not_listed_are_counted() -> None:
    ran = shardproof("show", CORPUS / "files/dcp/fsdp2_adamw_w4", "--name", "nope")
    assert ran.code == 2
    assert " ".join(ran.err.split()).endswith(", ... (16 more)")
    ran = shardproof("show", CORPUS / "files/dcp/shard0_w4", "--name", "nope")
    assert "more" not in ran.err


@pytest.mark.parametrize("arguments", [(), ("contract",), ("baseline",)], ids=str)
def test_a_command_that_is_asked_nothing_prints_its_usage_once(arguments: tuple[str, ...]) -> None:
    ran = shardproof(*arguments)
    assert ran.code == 2
    assert ran.err.count("Usage: ") == 1
    assert "Error" not in ran.err


def test_help_says_what_is_not_shrunk() -> None:
    assert "file of --baseline" in " ".join(shardproof("audit", "--help").out.split())
    assert "--no-shrink keeps it as it is" in " ".join(shardproof("cases", "add", "--help").out.split())
