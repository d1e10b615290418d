"""Real checkpoints, good and damaged, against the verdicts of the corpus manifest."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import CORPUS, shardproof

FILES = CORPUS / "files"
ENTRIES = {entry["path"]: entry for entry in json.loads((FILES / "manifest.json").read_text())}
EXITS = {"proved": 0, "refuted": 1, "unreadable": 2}

# Their maps are implied by the order of ranks, which the ZeRO reader of a later release will state.
UNREAD = {f"deepspeed/{name}" for name in ("zero1", "zero2", "zero3", "damaged/zero1_fragment_short")}

REASONS = {  # a code for each reason in words that the manifest gives
    "bad-scale": {"SM106"},
    "dest-gap": {"SM203"},
    "gap": {"SM203", "SM301", "SM403"},
    "locations": {"SM401", "SM402", "SM403"},
    "overlap": {"SM403", "SM302"},
    "rank-missing": {"SM301", "CK101", "SM507"},
    "scale-differs": {"SM303"},
    "shard-shape-vs-file": {"SM507", "SM204"},
    "source-out-of-bounds": {"SM102"},
    "version": {"SM004"},
}


@pytest.mark.parametrize("path", sorted(ENTRIES.keys() - UNREAD))
def test_verdict_and_reason_of_every_file(path: str) -> None:
    entry = ENTRIES[path]
    ran = shardproof("audit", FILES / path, "--format", "json")
    report = json.loads(ran.out)
    codes = {finding["code"] for subject in report["subjects"] for finding in subject["findings"]}
    expected = 2 if "version" in entry["reasons"] else EXITS[entry["verdict"]]
    assert ran.code == expected, codes
    if entry["verdict"] == "refuted":
        accepted = set().union(*(REASONS[reason] for reason in entry["reasons"]))
        assert codes & accepted


@pytest.mark.parametrize("path", sorted(UNREAD & ENTRIES.keys()))
def test_what_no_reader_understands_yet_is_not_a_pass(path: str) -> None:
    ran = shardproof("audit", FILES / path)
    assert ran.code == 4
    assert "not checked" in ran.out
    assert "optimizer shards" in ran.out
