"""Proofs for all sizes are put to the independent checker, and written for others to check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import shardproof
from tests.gate.command import gate as run_gate
from tests.gate.judged import only
from verifier import Sizes, size
from verifier.audit.check import Settings
from verifier.certificates.check_sizes import Rejected, TooLarge, check_text
from verifier.diagnostics.report import Report
from verifier.gate.declared import Declaration
from verifier.gate.gating import Gated, gate
from verifier.gate.loading import load

COLUMNS = ("--over", "rows=size, columns=size, ranks=1|2|3")


def gated(*, self_check: bool = True) -> Gated:
    over = Sizes(rows=size(), columns=size(), ranks=[2, 3])
    return gate(load("right.py:cut_columns"), Declaration(over), Settings(self_check=self_check))


def test_a_proof_has_one_certificate_for_each_choice(scratch: Path) -> None:
    found = gated()
    assert found.subject.verdict == "proved"
    assert [json.loads(text)["name"] for text in found.certificates] == [
        "right.py:cut_columns, ranks=2",
        "right.py:cut_columns, ranks=3",
    ]
    for text in found.certificates:
        assert check_text(text)[0] > 0


def test_what_is_no_proof_for_all_sizes_has_none(scratch: Path) -> None:
    over = Sizes(rows=size(), columns=size(), ranks=[3])
    assert not gate(load("plans.py:cut_columns"), Declaration(over), Settings()).certificates


@pytest.mark.parametrize(
    ("error", "code", "exit_code", "words"),
    [
        (Rejected("shard/0: 2 monomials do not cancel"), "TB102", 70, "rejects the certificate"),
        (TooLarge("too large to check"), "SM902", 3, "is not confirmed"),
    ],
)
def test_a_certificate_that_is_not_accepted_is_no_pass(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, error: Rejected, code: str, exit_code: int, words: str
) -> None:
    def refuse(_: str) -> object:
        raise error

    monkeypatch.setattr("verifier.gate.confirming.check_text", refuse)
    found = gated()
    finding = only(found)
    assert (finding.code, finding.verdict, found.subject.verdict) == (code, "undecided", "undecided")
    assert words in finding.headline
    assert str(error) in finding.notes[0]
    assert Report(tool={}, subjects=(found.subject,)).exit_code == exit_code
    assert gated(self_check=False).subject.verdict == "proved"


def test_a_sign_that_no_solver_confirms_is_no_pass(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "(declare-const u0 Int)\n(assert (>= u0 0))\n(check-sat)\n"
    monkeypatch.setattr("verifier.gate.confirming.check_text", lambda _: (1, {script: "map 1, rank 0"}, []))
    finding = only(gated())
    assert finding.code == "SM902"
    assert finding.notes == ("no solver confirms a sign that is needed for map 1, rank 0",)


def test_certificates_are_written_and_certified(scratch: Path) -> None:
    ran = run_gate("right.py:cut_columns", *COLUMNS, "--certificates", "certs")
    assert (ran.code, ran.err) == (0, "wrote 3 certificates to certs\n")
    files = sorted(Path("certs").iterdir())
    assert all(file.name.startswith("right.py_cut_columns-") for file in files)
    assert all(file.name.endswith(".cert.json") for file in files)
    certified = shardproof("certify", *files)
    assert certified.code == 0
    assert certified.out.count("(all sizes, ") == 3
    again = run_gate("right.py:cut_columns", *COLUMNS, "--certificates", "certs")
    assert again.code == 0
    assert sorted(Path("certs").iterdir()) == files


def test_a_folder_that_cannot_be_written_is_said(scratch: Path) -> None:
    Path("certs").write_text("a file")
    ran = run_gate("right.py:cut_columns", *COLUMNS, "--certificates", "certs/deeper")
    assert ran.code == 2
    assert "certs/deeper" in ran.err


def test_certificates_go_with_constructors_only(scratch: Path) -> None:
    ran = run_gate("--model", "pkg.models:build", "--certificates", "certs")
    assert ran.code == 2
    assert "--certificates" in ran.err
