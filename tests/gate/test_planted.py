"""Bugs planted in the source of the reference layouts are refuted, at the sizes a listing finds first."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from fuzz.walk import walk
from tests.gate.planted import HARMLESS, PLANTED, Planted
from verifier.audit.check import Settings
from verifier.gate.declared import Declaration
from verifier.gate.domain_text import domain_of_text
from verifier.gate.gating import Gated, gate
from verifier.gate.literals import call_text
from verifier.gate.loading import load
from verifier.gate.predicate import predicate
from verifier.gate.returned import returned_map
from verifier.symbolic.domain import Sizes


def by_name(planted: Planted) -> str:
    return planted.name


def domain(planted: Planted) -> Sizes:
    return domain_of_text(planted.over, None if planted.where is None else predicate(planted.where))


def gated(planted: Planted, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Gated, str]:
    """What the gate says of a copy beside the original, and where the copy is."""
    package = f"planted_{abs(hash(planted)):x}"
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    where = planted.build(folder, package)
    reference = load(f"verifier.layouts:{planted.constructor}")
    return gate(load(where), Declaration(domain(planted), reference), Settings()), where


def points(over: Sizes) -> Iterator[Mapping[str, object]]:
    """All small arguments: choices in order, then by the sum of the sizes, then by the sizes in order."""
    for choice in over.choices():
        atoms = over.atoms(choice)
        values = sorted(
            product(range(13), repeat=len(atoms)) if len(atoms) < 5 else small(len(atoms)), key=_key
        )
        for one in values:
            point = {atom.name: value for atom, value in zip(atoms, one, strict=True)}
            if all(point[atom.name] >= atom.least for atom in atoms):
                arguments = over.filled(choice, lambda name, _, point=point: point[name])
                if over.admits(arguments):
                    yield arguments


def small(count: int) -> Iterator[tuple[int, ...]]:
    yield from product(range(4), repeat=count)


def _key(values: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return sum(values), values


def wrong_at(
    made: Callable[..., object], right: Callable[..., object], arguments: Mapping[str, object]
) -> bool:
    """Whether the copy makes a wrong map, or another function than the original, by walking both."""
    reference = right(**arguments)
    try:
        returned = returned_map(made(**arguments), reference=reference)
    except ValueError:  # no map, where the original makes one
        return True
    return not walk(returned.shard_map, returned.expectation).ok


@pytest.mark.parametrize("planted", PLANTED, ids=by_name)
def test_a_planted_bug_is_refuted_at_the_smallest_sizes(
    planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, where = gated(planted, tmp_path, monkeypatch)
    assert found.subject.verdict == "refuted", found.subject
    (finding,) = found.subject.findings
    assert finding.code == "SM601"
    made, right = load(where).call, load(f"verifier.layouts:{planted.constructor}").call
    first = next(one for one in points(domain(planted)) if wrong_at(made, right, one))
    assert finding.headline.endswith(f" map at {call_text(first)}")
    assert finding.witness["least"] is True


@pytest.mark.parametrize("planted", HARMLESS, ids=by_name)
def test_an_edit_that_changes_nothing_is_proved(
    planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = gated(planted, tmp_path, monkeypatch)
    assert found.subject.verdict == "proved", found.subject


@pytest.mark.parametrize(
    "planted", {one.constructor + one.over: one for one in PLANTED}.values(), ids=by_name
)
def test_the_original_is_not_refused(
    planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = gated(replace(planted, new=planted.old), tmp_path, monkeypatch)
    assert found.subject.verdict == "proved", found.subject


def test_there_are_enough() -> None:
    assert len(PLANTED) >= 25
