"""The static rules of a contract: each a function from the contract to the places that break the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from verifier.contracts import scale
from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract
from verifier.contracts.rules import (
    capabilities,
    checkpoints,
    children,
    coverage,
    distributions,
    fields,
    geometries,
    moving,
    training,
    variants,
)

Rule = Callable[[Contract], Iterator[Broken]]

RULES: tuple[Rule, ...] = (
    *fields.RULES,
    *geometries.RULES,
    *distributions.RULES,
    *variants.RULES,
    *training.RULES,
    *coverage.RULES,
    *checkpoints.RULES,
    *moving.RULES,
    *capabilities.RULES,
    *children.RULES,
    *scale.RULES,
)


def broken_rules(contract: Contract, pointer: str = "") -> Iterator[Broken]:
    """Every broken rule of a contract and of the contracts of its children; ``pointer`` is its own place."""
    for rule in RULES:
        for found in rule(contract):
            yield replace(found, pointer=pointer + found.pointer)
    for position, child in enumerate(contract.children):
        if child.contract is not None:
            yield from broken_rules(child.contract, f"{pointer}/children/{position}/contract")
