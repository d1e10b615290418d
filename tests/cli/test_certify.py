"""What ``certify`` says of proofs that rest on a solver, and of rejections."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.certificates.sizes_samples import sample
from tests.cli.command import shardproof
from verifier.certificates import check_sizes
from verifier.certificates.check import Rejected

SCHEMA = '{"schema": "shardproof.certificate/1"}'


def resting(*assumptions: str):
    return lambda _: assumptions


def test_a_proof_that_rests_on_a_solver_is_no_pass_unless_it_is_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = tmp_path / "w.cert.json"
    certificate.write_text(SCHEMA)
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
    certificate.write_text(SCHEMA)

    def reject(_: str) -> tuple[str, ...]:
        raise Rejected("\x1b[2J" + "9" * 5000)

    monkeypatch.setattr("verifier.cli.certify.check_text", reject)
    ran = shardproof("certify", certificate)
    assert ran.code == 1
    reason = ran.out.removeprefix(f"rejected    {certificate}: ").rstrip("\n")
    assert len(reason) == 300
    assert reason.startswith("\\x1b[2J999")
    assert reason.endswith("...")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"schema": "shardproof.report/1"}', "# a page"])
def test_what_is_no_certificate_is_not_rejected_but_unreadable(tmp_path: Path, text: str) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text(text)
    ran = shardproof("certify", mine)
    assert (ran.code, ran.out.split()[0]) == (2, "unreadable")
    mine.write_text(SCHEMA)
    assert shardproof("certify", mine).code == 1


def sizes_certificate(tmp_path: Path, name: str) -> Path:
    certificate = tmp_path / "w.cert.json"
    certificate.write_text(json.dumps(sample(name)))
    return certificate


def test_proofs_for_all_sizes_go_to_their_own_checker(tmp_path: Path) -> None:
    certificate = sizes_certificate(tmp_path, "halves")
    ran = shardproof("certify", certificate)
    assert (ran.code, ran.out) == (0, f"accepted    {certificate} (all sizes, 1 map)\n")
    certificate.write_text(certificate.read_text().replace('"dest": [0,', '"dest": [1,', 1))
    ran = shardproof("certify", certificate)
    assert ran.code == 1
    assert ran.out.startswith(f"rejected    {certificate}: map 1: ")


def test_who_confirmed_open_signs_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    certificate = sizes_certificate(tmp_path, "halves")
    false = "(declare-const u0 Int)\n(assert (>= u0 0))\n(check-sat)\n"
    true = "(declare-const u0 Int)\n(assert (>= u0 0))\n(assert (>= (- 1) u0))\n(check-sat)\n"
    solver = {"z3 4.13": lambda text: text == true}
    monkeypatch.setattr("verifier.symbolic.discharge.installed_solvers", lambda: solver.items())
    monkeypatch.setattr(check_sizes, "check_text", lambda _: (3, {true: "map 1"}, []))
    ran = shardproof("certify", certificate)
    assert ran.code == 0
    assert ran.out.endswith(" (all sizes, 3 maps; 1 linear claim, confirmed 1 by z3 4.13)\n")
    monkeypatch.setattr(check_sizes, "check_text", lambda _: (3, {true: "map 1", false: "map 2"}, []))
    ran = shardproof("certify", certificate)
    assert ran.code == 3
    assert ran.out.startswith("accepted, resting on 1 unconfirmed linear claim, one for map 2: ")
    assert shardproof("certify", certificate, "--trust-solvers").code == 0
    solver.clear()
    ran = shardproof("certify", certificate)
    assert ran.code == 3
    assert "2 linear claims, confirmed by nobody" in ran.out


def test_what_a_certificate_leaves_unchecked_is_said(tmp_path: Path) -> None:
    certificate = sizes_certificate(tmp_path, "scaled")
    document = json.loads(certificate.read_text())
    document["tree"]["resting"] = {"shard/0": "digits (T22)"}
    certificate.write_text(json.dumps(document))
    ran = shardproof("certify", certificate)
    assert ran.code == 3
    assert ran.out.startswith("accepted, resting on map 1: shard/0 rests on 'digits (T22)': ")


def test_boxes_go_to_their_own_checker(tmp_path: Path) -> None:
    certificate = tmp_path / "w.cert.json"
    boxes = {
        "schema": "shardproof.boxes/1",
        "name": "w",
        "shape": [4],
        "count": 2,
        "offsets": [0, 2],
        "sizes": [2, 2],
    }
    certificate.write_text(json.dumps(boxes))
    assert shardproof("certify", certificate).out == f"accepted    {certificate}\n"
    certificate.write_text(json.dumps({**boxes, "sizes": [2, 1]}))
    assert shardproof("certify", certificate).code == 1
