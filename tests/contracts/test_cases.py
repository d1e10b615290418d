"""The cases of the corpus get their answers, and nothing in a document makes the reader crash."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof
from verifier.contracts.cases import NotACaseError, agrees, check_document

CASES = sorted((CORPUS / "contracts" / "cases").glob("*.json"))
ODD = (None, True, False, 0, -1, 1.5, 10**30, "", " x", "a\0b", [], {}, [[]], {"x": 1}, "replicated")


def test_there_are_cases() -> None:
    assert len(CASES) >= 46


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_gets_its_answer(path: Path) -> None:
    checked = check_document(json.loads(path.read_text()), path.stem)
    assert agrees(checked), (checked.verdict, checked.rules, checked.broken)


def places(value: object, at: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [at] if at else []
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*at, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            found += places(item, (*at, position))
    return found


def test_an_odd_value_anywhere_is_named_and_crashes_nothing() -> None:
    rng = random.Random(5)
    named = 0
    for path in CASES:
        document = json.loads(path.read_text())
        spots = places({key: document[key] for key in ("contract", "map") if key in document})
        for at in rng.sample(spots, min(60, len(spots))):
            damaged = copy.deepcopy(document)
            holder: object = damaged
            for key in at[:-1]:
                holder = holder[key]  # type: ignore[index]
            holder[at[-1]] = rng.choice(ODD)  # type: ignore[index]
            with contextlib.suppress(NotACaseError):
                named += bool(check_document(damaged, "damaged").broken)
    assert named > 1000


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "a contract has an implementation and fields"),
        ({}, "a contract has an implementation and fields"),
        ({"contract": {}, "expect": {"verdict": "fine", "rules": []}}, "expect has a verdict"),
        ({"contract": {}, "expect": {"verdict": "valid", "rules": "R1"}}, "expect has a verdict"),
    ],
)
def test_what_is_no_case_is_named(document: object, complaint: str) -> None:
    with pytest.raises(NotACaseError, match=complaint):
        check_document(document, "x")


def test_the_commands_on_an_eight_bit_adam(tmp_path: Path) -> None:
    contract = CORPUS / "contracts/cases/05_adam8bit_valid.json"
    split = CORPUS / "contracts/cases/14_adam8bit_flat_misaligned.json"
    whole = CORPUS / "contracts/cases/16_adam8bit_last_block_short.json"
    assert shardproof("contract", "check", contract).code == 0
    induced = shardproof("contract", "induce", contract, "--map", split)
    assert induced.code == 1
    assert "the cut at 10 splits block 2 of 4" in induced.out
    assert shardproof("contract", "induce", contract, "--map", whole).code == 0
    moved = shardproof("contract", "induce", contract, "--map", whole, "--target", whole)
    assert moved.code == 0
    assert "absmax: moves as it is: block aligned here, block aligned there" in moved.out


def test_what_cannot_be_induced_is_said(tmp_path: Path) -> None:
    broken = CORPUS / "contracts/cases/27_flag_string.json"
    ran = shardproof(
        "contract", "induce", broken, "--map", CORPUS / "contracts/cases/14_adam8bit_flat_misaligned.json"
    )
    assert ran.code == 2
    assert "breaks a rule, at /contract/fields/1/checkpointed" in " ".join(ran.err.split())
    text = tmp_path / "x.json"
    text.write_text("{")
    assert shardproof("contract", "check", text).code == 2
    assert shardproof("contract", "check", tmp_path / "absent.json").code == 2
