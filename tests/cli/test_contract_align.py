"""``shardproof contract align``: proved, or refuted by numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import shardproof


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


def test_every_number_of_ranks_is_decided() -> None:
    code, out = align("--block", "2", "--rule", "even", "--world", "any", "--multiple", "1048576")
    assert code == 1
    assert "1048576 elements over 1048576 ranks: the cut at element 1 splits block 0" in out
    assert align("--block", "1", "--rule", "even", "--world", "any")[0] == 0


def test_many_numbers_of_ranks_are_named_by_the_first_and_the_last() -> None:
    code, out = align("--block", "1024", "--rule", "even", "--multiple", "65536", "--world", "2..64")
    assert code == 0
    assert "no size has a split block over 2 to 64 ranks" in out
    assert "over 3 ranks" in align("--block", "2", "--rule", "even", "--multiple", "6", "--world", "3")[1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--rule", "chunk"], "Missing option '--block'"),
        (["--block", "0", "--rule", "chunk"], "0 is not in the range"),
        (["--block", "4", "--rule", "chunk", "--columns", "3"], "--columns belongs to --rule rows"),
        (["--block", "4", "--rule", "chunk", "--world", "1"], "no number of ranks from 2 to 65536"),
        (["--block", "4", "--rule", "chunk", "--world", "8..2"], "no number of ranks from 2 to 65536"),
        (["--block", "4", "--rule", "chunk", "--world", "2..65537"], "no number of ranks from 2 to 65536"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[str], complaint: str) -> None:
    ran = shardproof("contract", "align", *arguments)
    assert ran.code == 2
    assert complaint in " ".join(ran.err.split())
