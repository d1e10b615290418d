"""What ``certify`` says of proofs that rest on a solver, and of rejections."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import shardproof
from verifier.certificates.check import Rejected


def resting(*assumptions: str):
    return lambda _: assumptions


def test_a_proof_that_rests_on_a_solver_is_no_pass_unless_it_is_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = tmp_path / "w.cert.json"
    certificate.write_text("{}")
    claims = ("shard/0 rests on 'z3' '4.13'", "parameter rests on 'z3' '4.13'")
    monkeypatch.setattr("verifier.cli.certify.check_text", resting(*claims))
    ran = shardproof("certify", certificate)
    assert ran.code == 3
    assert ran.out == f"accepted, resting on 'z3' '4.13' for shard/0, parameter: {certificate}\n"
    trusted = shardproof("certify", certificate, "--trust-solvers")
    assert (trusted.code, trusted.out) == (0, ran.out)
    assert shardproof("certify", certificate, tmp_path / "missing").code == 2
    monkeypatch.setattr("verifier.cli.certify.check_text", resting())
    assert shardproof("certify", certificate).code == 0


def test_a_rejection_is_short_and_printable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    certificate = tmp_path / "w.cert.json"
    certificate.write_text("{}")

    def reject(_: str) -> tuple[str, ...]:
        raise Rejected("\x1b[2J" + "9" * 5000)

    monkeypatch.setattr("verifier.cli.certify.check_text", reject)
    ran = shardproof("certify", certificate)
    assert ran.code == 1
    reason = ran.out.removeprefix(f"rejected    {certificate}: ").rstrip("\n")
    assert len(reason) == 300
    assert reason.startswith("\\x1b[2J999")
    assert reason.endswith("...")
