"""Drawn contracts and cuts are right, each defect breaks one of its rules, closed forms are definitions."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings

from fuzz.contracts import differential, strategies
from fuzz.contracts.drawing import cut_document, draw_contract, draw_cut
from fuzz.contracts.mutants import CONTRACT_MUTANTS, CUT_MUTANTS, ContractMutant
from verifier.contracts.cases import check_document
from verifier.contracts.geometry import Geometry
from verifier.contracts.induced.outcome import Induced
from verifier.contracts.shards import ParameterCut
from verifier.diagnostics.contract_codes import CLAIMS, REMARKS, RULES


@given(strategies.contracts())
@settings(max_examples=60, deadline=None)
def test_drawn_contracts_break_no_rule(document: dict[str, Any]) -> None:
    assert check_document(document, "x").broken == ()


@given(strategies.cuts())
@settings(max_examples=60, deadline=None)
def test_drawn_cuts_break_no_rule(cut: ParameterCut) -> None:
    assert check_document({"map": cut_document(cut)}, "x").broken == ()


@given(strategies.broken_contracts() | strategies.broken_cuts())
@settings(max_examples=150, deadline=None)
def test_a_defect_breaks_one_of_its_rules(broken: strategies.BrokenContract) -> None:
    found = {one.rule for one in check_document(broken.document, "x").broken}
    assert found & broken.rules, (broken.mutant, found)


@pytest.mark.parametrize("mutant", [*CONTRACT_MUTANTS.values(), *CUT_MUTANTS.values()], ids=lambda m: m.name)
def test_every_defect_can_be_made_and_is_found(mutant: ContractMutant) -> None:
    rng, made = random.Random(mutant.name), 0
    for _ in range(60):
        is_cut = mutant.name in CUT_MUTANTS
        right = cut_document(draw_cut(rng)) if is_cut else draw_contract(rng)
        broken = mutant(rng, right)
        if broken is not None:
            made += 1
            checked = check_document({"map": broken} if is_cut else broken, "x")
            assert mutant.rules & {one.rule for one in checked.broken}
    assert made > 20


def test_defects_name_rules_that_exist() -> None:
    known = {rule for rule, _, _ in (*RULES, *CLAIMS, *REMARKS)}
    for mutant in (*CONTRACT_MUTANTS.values(), *CUT_MUTANTS.values()):
        assert mutant.rules <= known


@given(strategies.cuts_and_geometries())
@settings(max_examples=150, deadline=None)
def test_T26_closed_forms_are_the_definition(drawn: tuple[ParameterCut, Geometry]) -> None:
    assert differential.disagreement(*drawn) is None


@pytest.mark.parametrize("found", [Induced(kind="impossible", rule="M6"), Induced(kind="same")])
def test_another_closed_form_is_noticed(monkeypatch: pytest.MonkeyPatch, found: Induced) -> None:
    monkeypatch.setattr(differential, "by_closed_form", lambda *asked: found)
    rng = random.Random(2)
    said = {differential.disagreement(draw_cut(rng), Geometry(kind="block", size=3)) for _ in range(60)}
    assert any(words is not None and words.startswith("the closed form says") for words in said)
