"""``shardproof contract align``: proved, refuted by numbers, or open with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import shardproof
from verifier.symbolic import alignment


def align(*arguments: str) -> tuple[int, str]:
    ran = shardproof("contract", "align", *arguments)
    return ran.code, " ".join(ran.out.split())


def test_a_proof_says_what_was_shown() -> None:
    code, out = align("--block", "256", "--rule", "rows", "--columns", "512")
    assert code == 0
    assert "every cut is at a multiple of 512 elements, whole blocks of 256" in out
    code, out = align("--block", "256", "--rule", "even", "--multiple", "1024", "--world", "4")
    assert code == 0
    assert "n = 1024 k elements over 4 ranks in equal parts" in out


def test_a_refutation_gives_the_smallest_numbers(tmp_path: Path) -> None:
    stored = tmp_path / "report.json"
    code, out = align("--block", "256", "--rule", "rows", "--columns", "100", "--json-output", str(stored))
    assert code == 1
    assert "2 rows over 2 ranks: the cut at element 100 splits block 0: 100 = 100 mod 256" in out
    assert "no smaller parameter is wrong" in out
    (finding,) = json.loads(stored.read_text())["subjects"][0]["findings"]
    assert finding["code"] == "OC306"
    assert finding["witness"] == {"rule": "M6", "extent": 2, "world": 2, "cut": 100, "block": 0}
    assert align("--block", "7", "--rule", "rows")[1].count("2 rows of 1 column over 2 ranks") == 1


def test_what_is_open_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "_smallest", lambda *asked: None)
    code, out = align("--block", "4", "--rule", "chunk", "--world", "3")
    assert code not in (0, 1)
    assert "z3 gave up on 3 ranks" in out
    assert "SM903" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--rule", "chunk"], "Missing option '--block'"),
        (["--block", "0", "--rule", "chunk"], "0 is not in the range"),
        (["--block", "4", "--rule", "chunk", "--columns", "3"], "--columns belongs to --rule rows"),
        (["--block", "4", "--rule", "chunk", "--world", "1"], "no number of ranks from 2 to 64"),
        (["--block", "4", "--rule", "chunk", "--world", "8..2"], "no number of ranks from 2 to 64"),
        (["--block", "4", "--rule", "chunk", "--world", "2..65"], "no number of ranks from 2 to 64"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[str], complaint: str) -> None:
    ran = shardproof("contract", "align", *arguments)
    assert ran.code == 2
    assert complaint in " ".join(ran.err.split())
