"""One run, many forms: what is printed, what is written beside it, and what is rendered again later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sarif_kit.validate import validation_errors

from tests.cli.command import CORPUS, ROOT, Ran, shardproof
from verifier.cli.output import FORMATS

RIGHT = "corpora/maps/four-block-fused-qkv-tp2.json"
WRONG = "corpora/maps/dest-collision-columns.json"
WARNED = "corpora/maps/strides-interleave-without-overlap.json"
RUNS = {
    "audit": ("audit", RIGHT, WRONG, WARNED),
    "unreadable": ("audit", "pyproject.toml", RIGHT),
    "undecided": ("audit", RIGHT, "--engine", "fingerprint"),
    "diff": ("diff", RIGHT, WRONG),
}
FILES = [form for form in FORMATS if form not in ("text", "concise")]


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


def ran_with_files(arguments: tuple[str, ...], folder: Path) -> tuple[Ran, dict[str, str]]:
    options = [part for form in FILES for part in (f"--{form}-output", folder / form)]
    ran = shardproof(*arguments, *options)
    return ran, {form: (folder / form).read_text() for form in FILES}


@pytest.mark.parametrize("name", RUNS)
def test_a_stored_run_renders_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    ran, files = ran_with_files(RUNS[name], tmp_path)
    assert ran.out == shardproof(*RUNS[name]).out
    for form in FORMATS:
        printed = shardproof(*RUNS[name], "--format", form)
        again = shardproof("render", tmp_path / "json", "--format", form)
        assert (again.out, again.code) == (printed.out, ran.code)
        assert files.get(form, printed.out) == printed.out
    (tmp_path / "again").mkdir()
    _, rendered = ran_with_files(("render", str(tmp_path / "json")), tmp_path / "again")
    assert rendered == files


@pytest.mark.parametrize("name", RUNS)
def test_sarif_of_real_runs_is_valid_and_relative(name: str) -> None:
    ran = shardproof(*RUNS[name], "--format", "sarif")
    document = json.loads(ran.out)
    assert validation_errors(document) == []
    (run,) = document["runs"]
    assert run["invocations"][0]["exitCode"] == ran.code
    for result in run["results"]:
        assert result["partialFingerprints"]
        for location in result["locations"]:
            artifact = location["physicalLocation"]["artifactLocation"]
            assert (ROOT / artifact["uri"]).is_file()
            assert ("region" in location["physicalLocation"]) == (name != "undecided")


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_absolute_paths_below_the_root_become_relative(form: str) -> None:
    relative = shardproof("audit", WRONG, "--format", form).out
    absolute = shardproof("audit", ROOT / WRONG, "--format", form).out
    assert relative == absolute
    assert str(ROOT) not in absolute


def test_a_workflow_in_a_folder_of_its_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CORPUS)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(ROOT))
    ran = shardproof("audit", "maps/dest-collision-columns.json", "--format", "github")
    assert ran.out.startswith(f"::error file={WRONG},line=12,col=53,title=SM201 overlapping-write::")


@pytest.mark.parametrize("form", FILES)
def test_a_file_that_cannot_be_written_is_said(form: str, tmp_path: Path) -> None:
    ran = shardproof("audit", RIGHT, f"--{form}-output", tmp_path / "missing" / "file")
    assert ran.code == 2
    assert "No such file or directory" in " ".join(ran.err.split())
