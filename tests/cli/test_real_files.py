"""Real checkpoints, good and damaged, against the verdicts of the corpus manifest."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import CORPUS, shardproof
from verifier.audit.manifest import REASONS

FILES = CORPUS / "files"
ENTRIES = {entry["path"]: entry for entry in json.loads((FILES / "manifest.json").read_text())}
EXITS = {"proved": 0, "refuted": 1, "unreadable": 2}

NEED_SHAPES = {  # only a list of the parameters, which the file does not hold, shows what is wrong
    path for path, entry in ENTRIES.items() if {"moment_shape", "missing_state"} & set(entry["reasons"])
}


@pytest.mark.parametrize("path", sorted(ENTRIES))
def test_verdict_and_reason_of_every_file(path: str) -> None:
    entry = ENTRIES[path]
    options = ["--payload", "--values"]
    if path in NEED_SHAPES:
        options += ["--expect-shapes", str(FILES / path).rpartition("/")[0] + "/shapes.json"]
    ran = shardproof("audit", FILES / path, "--format", "json", *options)
    report = json.loads(ran.out)
    found = [finding for subject in report["subjects"] for finding in subject["findings"]]
    codes = {finding["code"] for finding in found}
    # A file in which only a value is no value, such as a version or a dtype nobody knows, is not read.
    unreadable = bool(codes) and all(code.startswith("SM0") for code in codes)
    assert ran.code == (2 if unreadable else EXITS[entry["verdict"]]), codes
    if entry["verdict"] == "refuted":
        assert codes & set().union(*(REASONS[reason] for reason in entry["reasons"]))


@pytest.mark.parametrize("path", sorted(NEED_SHAPES))
def test_shapes_that_a_file_does_not_store_are_said_to_be_unchecked(path: str) -> None:
    ran = shardproof("audit", FILES / path)
    assert ran.code == 0
    assert "the shapes of the parameters" in " ".join(ran.out.split())
