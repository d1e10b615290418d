"""The example on the explain page of every contract rule breaks that rule, and nothing is said of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof
from verifier.contracts.cases import check_document
from verifier.contracts.document import Contract, StateField
from verifier.contracts.shards import MemberShard, ParameterCut, Placement
from verifier.diagnostics import contract_codes
from verifier.diagnostics.codes import Code, code_of
from verifier.diagnostics.pages import example_in, page_of
from verifier.diagnostics.rule_codes import code_of_rule, rule_of_code

TABLES = (
    contract_codes.RULES,
    contract_codes.CLAIMS,
    contract_codes.INDUCED,
    contract_codes.DEVICES,
)
RULES = [rule for table in TABLES for rule, _, _ in table]
REMARKS = [rule for rule, _, _ in contract_codes.REMARKS]
NOT_SHOWN = {"R13", "R41", "R42", "R49", "R56", "R60", "M3", "D6"}
"""Rules that no document can break; their pages say why."""
WITH = {"R5": "R30", "R16": "R24", "R19": "R30"}
"""What the smallest example of a rule cannot help breaking as well."""


def page(code: Code) -> str:
    found = page_of(code)
    assert found is not None
    return found


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in NOT_SHOWN])
def test_the_example_of_a_page_breaks_its_rule(rule: str) -> None:
    example = example_in(page(code_of(code_of_rule(rule))))
    assert example is not None
    checked = check_document(json.loads(example), "example")
    assert set(checked.rules) == {rule, *WITH.get(rule, "").split()}


@pytest.mark.parametrize("rule", REMARKS)
def test_the_example_of_a_remark_is_remarked_upon(rule: str) -> None:
    example = example_in(page(code_of(code_of_rule(rule, remark=True))))
    assert example is not None
    checked = check_document(json.loads(example), "example")
    assert (checked.remarks, checked.verdict) == ((rule,), "valid")


@pytest.mark.parametrize("rule", sorted(NOT_SHOWN))
def test_a_rule_that_no_document_breaks_says_why(rule: str) -> None:
    text = page(code_of(code_of_rule(rule)))
    assert example_in(text) is None
    assert "This code cannot be shown by a document" in text


def test_R56_what_was_read_does_not_change_with_the_document() -> None:
    document = json.loads((CORPUS / "contracts/cases/06_shampoo_valid.json").read_text())["contract"]
    read = check_document(document, "x").contract
    again = check_document(json.loads(json.dumps(document)), "x").contract
    document["fields"].clear()
    document["fields"].append({})
    document["hyperparameters"] = {}
    assert read == again
    for record in (Contract, StateField, MemberShard, ParameterCut, Placement):
        assert vars(record)["__dataclass_params__"].frozen


@pytest.mark.parametrize("rule", [*RULES, "S1", "D9"])
def test_rules_and_codes_are_one_to_one(rule: str) -> None:
    assert rule_of_code(code_of_rule(rule)) == rule


@pytest.mark.parametrize("rule", REMARKS)
def test_a_remark_has_a_code_of_its_own(rule: str) -> None:
    code = code_of(code_of_rule(rule, remark=True))
    assert (rule_of_code(code.code), code.severity) == (rule, "warning")


@pytest.mark.parametrize("word", ["", "R", "R123", "X1", "r1"])
def test_what_is_no_rule_has_no_code(word: str) -> None:
    with pytest.raises(ValueError, match="is no rule"):
        code_of_rule(word)


def test_the_command_raises_the_codes_of_all_pages(tmp_path: Path) -> None:
    codes = [code_of(code_of_rule(rule)).code for rule in RULES if rule not in NOT_SHOWN]
    codes += [code_of_rule(rule, remark=True) for rule in REMARKS]
    for code in codes:
        (tmp_path / f"{code}.json").write_text(str(example_in(page(code_of(code)))))
    ran = shardproof("contract", "check", tmp_path)
    assert ran.code == 1
    for code in codes:
        assert f"[{code}] {code_of(code).name}" in ran.out


def test_the_command_names_the_block_that_is_split(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(str(example_in(page(code_of("OC306")))))
    ran = shardproof("contract", "check", path)
    assert ran.code == 1
    assert "error[OC306] split-block" in ran.out
    assert "the cut at 1 splits block 0 of 4: 1 = 1 mod 4" in ran.out
