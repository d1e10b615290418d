"""Every planted fault is found by its probe, and a right optimizer is accused of nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import shardproof
from tests.oracle.devices import DEVICES
from tests.oracle.probes.hidden import HIDDEN
from tests.oracle.probes.planted import PLANTED, Right
from verifier.contracts.decoding import decode_contract
from verifier.contracts.document import Contract
from verifier.contracts.known import known_document
from verifier.contracts.reading import Notes, Value
from verifier.contracts.rules import broken_rules
from verifier.oracle.probes.catalogue import PROBES
from verifier.oracle.probes.observed import Circumstances
from verifier.oracle.probes.probed import probed_of


def document() -> dict[str, Any]:
    """What the planted optimizers declare: SGD with momentum whose state is there from the beginning."""
    made = json.loads(json.dumps(known_document("torch.optim.SGD")))
    made["implementation"] = "tests.oracle.probes.planted.Right"
    made["hyperparameters"] = {"lr": {"scale_power": 2}, "momentum": {"scale_power": 0}}
    made["variants"] = [variant for variant in made["variants"] if variant["initialized"]]
    made["scale_equations"] = [e for e in made["scale_equations"] if "weight_decay" not in e["terms"]]
    made["precisions"] = ["float32", "float64", "bfloat16"]
    return made


def contract() -> Contract:
    notes = Notes()
    made = decode_contract(Value(document(), "", notes))
    assert not notes.broken
    assert not list(broken_rules(made))
    return made


@pytest.mark.parametrize("code", PLANTED)
def test_a_planted_fault_is_found_by_its_probe(code: str) -> None:
    cls, probe = PLANTED[code]
    found = PROBES[probe](probed_of(cls, cls.__name__), Circumstances(contract=contract()))
    assert code[:5] in {fault.code for fault in found.faults}


@pytest.mark.parametrize(("cls", "probe", "code", "said"), HIDDEN)
def test_a_fault_that_lies_deeper_is_found_too(cls: type, probe: str, code: str, said: str) -> None:
    found = PROBES[probe](probed_of(cls, cls.__name__), Circumstances(contract=contract()))
    claims = {
        fault.claim + "; ".join(map(str, fault.witness.get("corruptions", ())))
        for fault in found.faults
        if fault.code == code
    }
    assert any(said in claim for claim in claims), claims


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("probe", PROBES)
def test_a_right_optimizer_is_accused_of_nothing(probe: str, device: str) -> None:
    about = Circumstances(contract=contract(), device=device)
    found = PROBES[probe](probed_of(Right, "Right"), about)
    assert found.faults == ()
    assert found.open == ()
    assert found.held > 0


def test_every_probe_has_a_planted_fault() -> None:
    assert {probe for _, probe in PLANTED.values()} == set(PROBES)


def test_the_command_probes_what_a_user_wrote(tmp_path: Path) -> None:
    declared = tmp_path / "right.json"
    declared.write_text(json.dumps(document()))
    place = "tests.oracle.probes.planted:{}"
    only = ("--only", "declared", "--only", "views", "--contract", declared)
    right = shardproof("contract", "probe", place.format("Right"), *only)
    assert (right.code, right.err) == (0, "")
    wrong = shardproof("contract", "probe", place.format("Straying"), *only, "--format", "concise")
    assert wrong.code == 1
    assert "error[OC613] columns of a wider buffer, every other row: 6 of 12 foreign elements" in wrong.out
