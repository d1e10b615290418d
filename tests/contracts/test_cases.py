"""The cases of the corpus get their answers, and nothing in a document makes the reader crash."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import CORPUS, shardproof
from tests.contracts.damaging import damaged, places, value_at, with_value
from verifier.audit.contract_findings import contract_subject
from verifier.contracts.cases import NotACaseError, agrees, check_document
from verifier.model.origin import Origin

CASES = sorted((CORPUS / "contracts" / "cases").glob("*.json"))


def test_there_are_cases() -> None:
    assert len(CASES) >= 46


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_gets_its_answer(path: Path) -> None:
    checked = check_document(json.loads(path.read_text()), path.stem)
    assert agrees(checked), (checked.verdict, checked.rules, checked.broken)


def documents() -> list[Any]:
    """What the cases are about, without their answers."""
    cases = [json.loads(path.read_text()) for path in CASES]
    return [{key: case[key] for key in ("contract", "map", "bindings") if key in case} for case in cases]


def test_an_odd_value_anywhere_crashes_nothing() -> None:
    rng, pool = random.Random(5), documents()
    named = 0
    for _ in range(1000):
        document = rng.choice(pool)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            document = damaged(rng, document)
            if not isinstance(document, dict) or not document:
                break
        with contextlib.suppress(NotACaseError):
            checked = check_document(document, "damaged")
            named += bool(checked.broken)
            assert all(found.message.isprintable() for found in checked.broken)
            contract_subject(checked, Origin("damaged.json"))
    assert named > 600


OF_TYPE: dict[type, tuple[object, ...]] = {
    bool: (0, 1, "true", "false", [], {}, 1.0, [True]),
    int: (True, 1.5, 1.0, "1", [], {}, [1]),
    str: (1, True, 1.5, [], {}, ["x"]),
    list: ({}, "x", 1, True, {"0": 1}),
    dict: ([], "x", 1, True, [{}]),
}
"""By the type of a value, values of every other type."""


def test_a_value_of_another_type_is_never_accepted() -> None:
    rng = random.Random(7)
    spots = [
        (document, at)
        for document in documents()
        if not check_document(document, "x").errors
        for at in places(document)
        if len(at) > 1 and value_at(document, at) is not None
        if not (at[-1] == "size" and isinstance(value_at(document, at), dict))  # it may be a number as well
    ]
    for document, at in rng.sample(spots, 1200):
        wrong = rng.choice(OF_TYPE[type(value_at(document, at))])
        with contextlib.suppress(NotACaseError):
            assert check_document(with_value(document, at, wrong), "x").errors, (at, wrong)


def test_what_is_large_takes_no_time() -> None:
    members = [f"rank:{k}" for k in range(20_000)]
    shards = [{"member": member, "offset": k, "length": 1} for k, member in enumerate(members)]
    group = {"name": "dp", "members": members}
    cut = {
        "parameter": {"fqn": "w", "shape": [20_000]},
        "layout": "flat_shard",
        "group": group,
        "shards": shards,
    }
    assert check_document({"map": cut}, "x").verdict == "valid"
    assert check_document({"map": cut | {"shards": shards[:-1]}}, "x").rules == ("R30", "R32")
    contract = documents()[0]["contract"]
    many = [contract["fields"][0] | {"name": f"f{k}", "key_match": "prefix"} for k in range(900)]
    assert "N4" in check_document(contract | {"fields": many}, "x").rules
    names = [f"f{k}" for k in range(300)]
    rows = {"geometry": {"kind": "factor", "axis": 10**12}, "reduction": {"axes": [10**9, -1], "op": "sum"}}
    wide = [contract["fields"][0] | {"name": name, "distribution": "follow", **rows} for name in names]
    variants = [contract["variants"][0] | {"name": name, "fields": names} for name in names]
    changing = {"changing": ["dim_shard"], "changes": ["placement_reshard"]}
    claims = [contract["checkpoints"][0] | changing for _ in names]
    large = contract | {"fields": wide, "variants": variants, "checkpoints": claims, "ranks": [10**12 + 1, 2]}
    assert {"N12", "N24"} <= {*check_document(large, "x").rules}


def test_what_is_deep_is_no_case() -> None:
    deep: Any = None
    for _ in range(10_000):
        deep = {"contract": deep}
    with pytest.raises(NotACaseError, match="nested deeper than 100 levels"):
        check_document(deep, "x")


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "a contract has an implementation and fields"),
        ({}, "a contract has an implementation and fields"),
        ({"layout": "replicated", "shards": []}, "a cut by itself: a case has it under map"),
        ({"logical_shape": [2], "ranks": {}}, "a shard map; a case has a contract"),
        ({"contract": {}, "expect": {"verdict": "fine", "rules": []}}, "expect has a verdict"),
        ({"contract": {}, "expect": {"verdict": "valid", "rules": "R1"}}, "expect has a verdict"),
    ],
)
def test_what_is_no_case_is_named(document: object, complaint: str) -> None:
    with pytest.raises(NotACaseError, match=complaint):
        check_document(document, "x")


UNSEEN = [
    "\u200b",
    "\u200d",
    "\u202e",
    "\ufeff",
    "\u00ad",
    "\u00a0",
    "\u3000",
    "\x07",
    "\x7f",
    "\n",
    "\ud800",
]


@pytest.mark.parametrize("character", [*UNSEEN, "\U000e0041"])
def test_R1_what_nobody_sees_is_in_no_name(character: str) -> None:
    cut = {"parameter": {"fqn": f"la{character}yer", "shape": [2]}, "layout": "replicated"}
    cut["shards"] = [{"offset": 0, "length": 2}]
    checked = check_document({"map": cut}, "x")
    assert checked.rules == ("R1",)
    assert f"U+{ord(character):04X}" in checked.errors[0].message
    assert checked.errors[0].message.isascii()


@pytest.mark.parametrize("name", ["schicht.gewicht_ä", "層.重み", "слой.w", "layer-0/w:1"])
def test_R1_names_are_of_any_language(name: str) -> None:
    cut = {"parameter": {"fqn": name, "shape": [2]}, "layout": "replicated"}
    assert check_document({"map": cut | {"shards": [{"offset": 0, "length": 2}]}}, "x").broken == ()


def test_R27_a_list_of_cuts_is_not_empty() -> None:
    checked = check_document({"cuts": []}, "x")
    assert [(broken.rule, broken.pointer) for broken in checked.errors] == [("R27", "/cuts")]


def test_a_folder_without_contracts_says_so(tmp_path: Path) -> None:
    ran = shardproof("contract", "check", tmp_path)
    assert ran.code == 2
    assert "no file in this folder is called *.json" in " ".join(ran.out.split())


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
    assert "absmax: the cuts are the same: it stays where it is" in moved.out


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
