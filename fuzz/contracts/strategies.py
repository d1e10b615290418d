"""Hypothesis strategies for contracts, cuts of parameters and geometries of state.

from hypothesis import given
from fuzz.contracts import strategies

@given(strategies.contracts())
def test_my_reader_takes_right_contracts(document):
    my_reader(document)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from fuzz.contracts.drawing import cut_document, draw_contract, draw_cut, draw_geometry
from fuzz.contracts.mutants import CONTRACT_MUTANTS, CUT_MUTANTS, ContractMutant
from verifier.contracts.geometry import Geometry
from verifier.contracts.shards import ParameterCut

__all__ = ["BrokenContract", "broken_contracts", "broken_cuts", "contracts", "cuts", "cuts_and_geometries"]


@dataclass(frozen=True, slots=True)
class BrokenContract:
    """A document with one defect: it breaks one of ``rules``."""

    document: dict[str, Any]
    mutant: str
    rules: frozenset[str]


def contracts() -> st.SearchStrategy[dict[str, Any]]:
    """Contracts that break no rule, as JSON values."""
    return st.randoms(use_true_random=False).map(draw_contract)


def cuts() -> st.SearchStrategy[ParameterCut]:
    """Cuts that break no rule."""
    return st.randoms(use_true_random=False).map(draw_cut)


@st.composite
def cuts_and_geometries(draw: st.DrawFn) -> tuple[ParameterCut, Geometry]:
    """A cut, and a geometry of state that its parameter can have."""
    rng = draw(st.randoms(use_true_random=False))
    cut = draw_cut(rng)
    return cut, draw_geometry(rng, len(cut.shape))


@st.composite
def broken_contracts(draw: st.DrawFn) -> BrokenContract:
    """Contracts with one defect."""
    rng = draw(st.randoms(use_true_random=False))
    return _broken(draw, CONTRACT_MUTANTS[draw(st.sampled_from([*CONTRACT_MUTANTS]))], draw_contract(rng))


@st.composite
def broken_cuts(draw: st.DrawFn) -> BrokenContract:
    """Cuts with one defect, as the ``map`` of a document."""
    rng = draw(st.randoms(use_true_random=False))
    found = _broken(draw, CUT_MUTANTS[draw(st.sampled_from([*CUT_MUTANTS]))], cut_document(draw_cut(rng)))
    return BrokenContract({"map": found.document}, found.mutant, found.rules)


def _broken(draw: st.DrawFn, mutant: ContractMutant, document: dict[str, Any]) -> BrokenContract:
    made = mutant(draw(st.randoms(use_true_random=False)), document)
    assume(made is not None)
    return BrokenContract(made or {}, mutant.name, mutant.rules)
