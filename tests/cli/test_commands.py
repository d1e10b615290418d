"""Every command as people use it, and how it fails."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, ROOT, shardproof
from verifier.engines.registry import ENGINES

MAPS = CORPUS / "maps"
RIGHT = MAPS / "four-block-fused-qkv-tp2.json"
WRONG = MAPS / "dest-collision-columns.json"


def bare_map(case: Path, target: Path) -> Path:
    """The map of a case file as a document of its own."""
    target.write_text(json.dumps(json.loads(case.read_text())["map"]))
    return target


def test_audit_proves_and_says_so_in_one_line() -> None:
    ran = shardproof("audit", RIGHT)
    assert ran.code == 0
    assert ran.out.startswith("proved: 1 map")
    assert ran.err == ""


def test_audit_refutes_with_the_element_both_pieces_and_a_picture() -> None:
    ran = shardproof("audit", WRONG)
    assert ran.code == 1
    for needed in (
        "error[SM201] overlapping-write",
        "piece 0 at index (0, 0)",
        "piece 1 at index (0, 0)",
        "smallest of 8 clashes",
        "rank 0 shard",
        "leaves 8 addresses unwritten",
        "SM203",
        'with "dest": [2, [6, 1]]',
    ):
        assert needed in ran.out


def test_the_worst_answer_decides_the_exit_code_and_hides_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"logical_shape": [4')
    ran = shardproof("audit", RIGHT, broken, WRONG, "--format", "concise")
    assert ran.code == 2
    assert "SM001" in ran.out
    assert "SM201" in ran.out


def test_a_document_without_a_map_does_not_pass_beside_others(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text('{"version": 1, "params": {}}')
    run = tmp_path / "run.json"
    ran = shardproof("audit", RIGHT, empty, "--format", "concise", "--json-output", run)
    assert ran.code == 4
    assert f"{empty} (no map found)" in " ".join(ran.out.split())
    assert "8 obligations proved" in ran.out
    subject = json.loads(run.read_text())["subjects"][1]
    assert (subject["verdict"], subject["kind"]) == ("unchecked", "document")
    assert set(subject["obligations"].values()) == {0}
    rendered = shardproof("render", run, "--format", "concise")
    assert (rendered.out, rendered.code) == (ran.out, 4)
    assert shardproof("audit", empty).code == 4
    assert shardproof("audit", empty, WRONG).code == 1


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "fingerprint"])
def test_every_engine_refutes(engine: str) -> None:
    ran = shardproof("audit", WRONG, "--engine", engine, "--format", "concise")
    assert ran.code == 1
    assert "SM201" in ran.out


def test_fingerprint_never_proves() -> None:
    assert shardproof("audit", RIGHT, "--engine", "fingerprint").code == 3
    assert shardproof("audit", WRONG, "--engine", "fingerprint").code == 1


def test_cross_check_finds_no_disagreement() -> None:
    assert shardproof("audit", RIGHT, "--cross-check").code == 0
    assert shardproof("audit", WRONG, "--cross-check").code == 1


def test_the_number_of_processes_changes_no_byte() -> None:
    paths = sorted(MAPS.glob("*.json"))[:24]
    alone = shardproof("audit", *paths, "--format", "json")
    together = shardproof("audit", *paths, "--format", "json", "-j", "2")
    assert alone == together
    assert str(ROOT.parent) not in alone.out.replace(str(CORPUS), "")


def test_json_report_is_rendered_back(tmp_path: Path) -> None:
    run = tmp_path / "run.json"
    audited = shardproof("audit", RIGHT, WRONG, "--json-output", run)
    assert json.loads(run.read_text())["schema"] == "shardproof.report/1"
    rendered = shardproof("render", run)
    assert (rendered.out, rendered.code) == (audited.out, audited.code)
    garbage = tmp_path / "garbage.json"
    garbage.write_text("{}")
    refused = shardproof("render", garbage)
    assert refused.code == 2
    assert "is no report" in " ".join(refused.err.split())


def test_certificates_are_written_and_accepted_and_tampered_ones_rejected(tmp_path: Path) -> None:
    ran = shardproof("audit", RIGHT, CORPUS / "files/deepspeed/autotp", "--certificates", tmp_path / "certs")
    assert ran.code == 0
    certificates = sorted((tmp_path / "certs").glob("*.cert.json"))
    assert len(certificates) == 28
    accepted = shardproof("certify", *certificates)
    assert accepted.code == 0
    assert accepted.out.count("accepted") == 28
    tampered = tmp_path / "tampered.json"
    text = certificates[0].read_text()
    tampered.write_text(re.sub(r'"dest":\[(\d+)', lambda m: f'"dest":[{int(m[1]) + 1}', text, count=1))
    rejected = shardproof("certify", certificates[1], tampered)
    assert rejected.code == 1
    assert "rejected" in rejected.out
    assert shardproof("certify", tmp_path / "missing.json").code == 2


def test_the_checker_runs_alone(tmp_path: Path) -> None:
    shardproof("audit", RIGHT, "--certificates", tmp_path)
    (certificate,) = tmp_path.glob("*.cert.json")
    checker = tmp_path / "check.py"
    shutil.copy(ROOT / "verifier/certificates/check.py", checker)
    finished = subprocess.run(
        [sys.executable, "-I", checker, certificate], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr


def test_diff_proves_equality_however_the_pieces_are_cut(tmp_path: Path) -> None:
    whole = bare_map(MAPS / "replica-cut-at-other-boundary.json", tmp_path / "whole.json")
    cut = json.loads(whole.read_text())
    cut["ranks"]["0"]["pieces"] = cut["ranks"]["1"]["pieces"]
    (tmp_path / "cut.json").write_text(json.dumps(cut))
    assert shardproof("diff", whole, tmp_path / "cut.json").code == 0
    cut["ranks"]["0"]["pieces"] = [
        {"shape": [4], "source": [4, [1]], "dest": [0, [1]], "locations": [0, 1]},
        {"shape": [4], "source": [0, [1]], "dest": [4, [1]], "locations": [0, 1]},
    ]
    (tmp_path / "other.json").write_text(json.dumps(cut))
    different = shardproof("diff", whole, tmp_path / "other.json")
    assert different.code == 1
    assert "SM501" in different.out
    assert "element [0]" in different.out


def test_diff_of_checkpoints_matches_parameters_by_name(tmp_path: Path) -> None:
    checkpoint = CORPUS / "files/deepspeed/autotp"
    assert shardproof("diff", checkpoint, checkpoint).code == 0
    lonely = shardproof("diff", checkpoint, bare_map(RIGHT, tmp_path / "one.json"))
    assert lonely.code == 1
    assert "SM502" in lonely.out


def test_show_draws_the_map() -> None:
    ran = shardproof("show", MAPS / "dest-wraps-a-shard-row.json")
    assert ran.code == 0
    assert "rank 0 shard (3, 3)" in ran.out
    assert shardproof("show", CORPUS / "files/deepspeed/autotp", "--name", "nobody").code == 2


def test_explain_knows_codes_and_names() -> None:
    assert shardproof("explain", "SM201").out == shardproof("explain", "overlapping-write").out
    unknown = shardproof("explain", "SM999")
    assert unknown.code == 2
    assert "SM999" in unknown.err


@pytest.mark.parametrize("command", ["audit", "replay", "certify", "diff", "show", "explain", "render"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    ran = shardproof(command, "--help")
    assert ran.code == 0
    assert f"shardproof {command}" in ran.out or "shardproof audit" in ran.out
    assert shardproof(command).code == 2
    assert shardproof(command, "--no-such-option").code == 2


def test_a_cache_answers_only_for_the_engine_that_was_asked(tmp_path: Path) -> None:
    cache = ("--cache", tmp_path / "cache")
    assert "by cancel)" in shardproof("audit", RIGHT, *cache).out
    for asked in (("--engine", "smt"), ("--engine", "smt", "--cross-check")):
        assert "by smt)" in shardproof("audit", RIGHT, *asked, *cache).out


def test_budget_is_checked() -> None:
    assert shardproof("audit", RIGHT, "--budget", "x0").code == 2
    assert shardproof("audit", RIGHT, "--budget", "plenty").code == 2
    assert shardproof("audit", RIGHT, "--budget", "x10").code == 0


def test_strict_turns_warnings_into_refutations() -> None:
    warned = MAPS / "strides-interleave-without-overlap.json"
    assert shardproof("audit", warned).code == 0
    strict = shardproof("audit", warned, "--strict")
    assert strict.code == 1
    assert "SM701" in strict.out
    assert "7 obligations proved, 1 refuted, 0 undecided" in " ".join(strict.out.split())


def test_a_crash_is_code_70_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("verifier.cli.audit.audit_paths", broken)
    ran = shardproof("audit", RIGHT)
    assert ran.code == 70
    assert "TB103" in ran.err
    assert "please report" in ran.err


def test_color_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b[" not in shardproof("audit", WRONG).out
    assert "\x1b[" in shardproof("audit", WRONG, "--color", "always").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in shardproof("audit", WRONG).out
