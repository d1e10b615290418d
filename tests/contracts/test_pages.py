"""The example on the explain page of every contract rule breaks that rule, and its base breaks none."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import shardproof
from verifier.contracts.cases import check_document
from verifier.diagnostics import contract_codes
from verifier.diagnostics.codes import code_of
from verifier.diagnostics.pages import example_in, page_of
from verifier.diagnostics.rule_codes import code_of_rule, rule_of_code

TABLES = (
    contract_codes.RULES,
    contract_codes.CLAIMS,
    contract_codes.REMARKS,
    contract_codes.INDUCED,
)
RULES = [rule for table in TABLES for rule, _, _ in table]
SHOWN = [rule for rule in RULES if rule != "M3"]


@pytest.mark.parametrize("rule", SHOWN)
def test_the_example_of_a_page_breaks_its_rule(rule: str) -> None:
    page = page_of(code_of(code_of_rule(rule)))
    assert page is not None
    example = example_in(page)
    assert example is not None
    assert rule in check_document(json.loads(example), "example").rules


@pytest.mark.parametrize("rule", [*RULES, "S1", "D9"])
def test_rules_and_codes_are_one_to_one(rule: str) -> None:
    assert rule_of_code(code_of_rule(rule)) == rule


@pytest.mark.parametrize("word", ["", "R", "R123", "X1", "r1"])
def test_what_is_no_rule_has_no_code(word: str) -> None:
    with pytest.raises(ValueError, match="is no rule"):
        code_of_rule(word)


def test_the_command_raises_the_code_of_a_page(tmp_path: object) -> None:
    page = page_of(code_of("OC306"))
    assert page is not None
    path = tmp_path / "case.json"  # type: ignore[operator]
    path.write_text(str(example_in(page)))
    ran = shardproof("contract", "check", path)
    assert ran.code == 1
    assert "error[OC306] split-block" in ran.out
    assert "the cut at 1 splits block 0 of 4: 1 = 1 mod 4" in ran.out
