"""Baselines, suppressions and ``--fail-on`` as people use them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.builders import columns, piece, shard_map
from tests.cli.command import shardproof
from verifier.certificates.encode import map_to_json
from verifier.model.shard_map import ShardMap

HOLE = shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])})
OTHER = shard_map((5,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])})
SLANTED = shard_map((2, 2), {0: ((2, 2), [piece((2, 2), (0, (1, 2)), (0, (1, 2)))])})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def write(**maps: ShardMap) -> None:
    params = {f"^{name}$": map_to_json(found) for name, found in maps.items()}
    Path("maps.json").write_text(json.dumps({"version": 1, "params": params}))


def test_from_a_baseline_to_none() -> None:
    write(w=HOLE, v=OTHER)
    assert shardproof("audit", "maps.json").code == 1
    ran = shardproof("baseline", "write", "maps.json")
    assert (ran.code, ran.out) == (0, "wrote 2 findings to shardproof-baseline.json\n")
    accepted = shardproof("audit", "maps.json", "--baseline", "shardproof-baseline.json")
    assert accepted.code == 0
    assert accepted.out.startswith("nothing new: 2 maps")
    assert "2 findings accepted" in " ".join(accepted.out.split())

    write(w=columns(2, 2, 2), v=OTHER, u=HOLE)
    ran = shardproof(
        "audit", "maps.json", "--baseline", "shardproof-baseline.json", "--no-shrink", "--format", "concise"
    )
    assert ran.code == 1
    assert ran.out.count("error[SM301]") == 1
    assert ran.out.count("warning[HK103]") == 1
    ran = shardproof("baseline", "prune", "maps.json")
    assert ran.out == "took 1 of 2 findings out of shardproof-baseline.json\n"

    write(w=columns(2, 2, 2), v=columns(1, 1, 1))
    ran = shardproof("audit", "maps.json", "--baseline", "shardproof-baseline.json")
    assert (ran.code, ran.err) == (0, "1 finding gone: taken out of shardproof-baseline.json\n")
    assert json.loads(Path("shardproof-baseline.json").read_text())["findings"] == []


def test_a_baseline_that_is_none_is_an_error() -> None:
    write(w=HOLE)
    Path("b.json").write_text("{}")
    ran = shardproof("audit", "maps.json", "--baseline", "b.json")
    assert (ran.code, ran.out) == (2, "")
    assert "b.json: this is no baseline; write one with: shardproof baseline write" in ran.err


def test_a_suppression_in_the_project_is_honoured_and_said(folder: Path) -> None:
    write(w=HOLE)
    (folder / "pyproject.toml").write_text(
        '[[tool.shardproof.suppress]]\ncode = "SM301"\nreason = "padded"\nuntil = 2999-01-01\n'
    )
    ran = shardproof("audit", "maps.json", "--sarif-output", "out.sarif")
    assert ran.code == 0
    assert "1 finding accepted" in " ".join(ran.out.split())
    (result,) = json.loads(Path("out.sarif").read_text())["runs"][0]["results"]
    assert result["suppressions"] == [
        {"kind": "external", "justification": "suppressed until 2999-01-01: padded"}
    ]


def test_a_suppression_without_a_reason_stops_the_run(folder: Path) -> None:
    write(w=HOLE)
    (folder / "pyproject.toml").write_text('[[tool.shardproof.suppress]]\ncode = "SM301"\n')
    ran = shardproof("audit", "maps.json")
    assert ran.code == 2
    assert "suppression 1 has no reason" in ran.err


@pytest.mark.parametrize(
    ("found", "fail_on", "code"),
    [
        (HOLE, "never", 0),
        (HOLE, "refuted", 1),
        (HOLE, "warning", 1),
        (SLANTED, "undecided", 0),
        (SLANTED, "warning", 1),
    ],
)
def test_fail_on(found: ShardMap, fail_on: str, code: int) -> None:
    write(w=found)
    assert shardproof("audit", "maps.json", "--fail-on", fail_on).code == code


def test_nothing_hides_what_cannot_be_read() -> None:
    Path("maps.json").write_text("{")
    assert shardproof("audit", "maps.json", "--fail-on", "never").code == 2


def test_quiet_prints_only_what_somebody_has_to_act_on() -> None:
    write(w=columns(2, 2, 2))
    assert shardproof("audit", "maps.json", "-q").out == ""
    write(w=HOLE)
    assert "SM301" in shardproof("audit", "maps.json", "--quiet").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(shell: str) -> None:
    ran = shardproof("completion", shell)
    assert ran.code == 0
    assert "_SHARDPROOF_COMPLETE" in ran.out


def test_bash_accepts_its_completion_script(tmp_path: Path) -> None:
    script = tmp_path / "completion.bash"
    script.write_text(shardproof("completion", "bash").out)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
