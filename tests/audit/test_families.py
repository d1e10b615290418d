"""Obligations by family are the obligations of the verdict, whatever came out."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings

from tests.diagnostics.hostile import shard_maps
from tests.render import examples
from verifier import check_map
from verifier.audit.check import Settings, check_subject
from verifier.audit.proofs import Proofs
from verifier.diagnostics.report import Obligations, Subject
from verifier.model.expectation import Expectation
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Fault

modest = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def total(subject: Subject) -> Obligations:
    return sum(subject.families.values(), Obligations())


@modest
@given(shard_maps())
def test_families_add_up(shard_map: ShardMap) -> None:
    for expectation in (Expectation(), Expectation(write_unit=2), Expectation(reference=examples.qkv_map())):
        subject = check_map(shard_map, expectation=expectation).subjects[0]
        assert total(subject) == subject.obligations


def test_what_is_wrong_is_in_its_family() -> None:
    subject = check_map(examples.qkv_map()).subjects[0]
    assert {family: counts.refuted for family, counts in subject.families.items()} == {
        "piece": 0,
        "shard side": 1,
        "parameter side": 0,
    }


def test_what_the_reader_knows_counts_as_expected() -> None:
    settings = Settings()
    found = [Fault(code="SM507", side="map", values={"descriptor": "a", "stated": "b", "found": "c"})]
    sound = dataclasses.replace(examples.qkv_map(), ranks={1: RankShard((4, 8), ())})
    subject = check_subject(sound, Expectation(cover=False), settings, settings.answering(), found=found)
    assert subject.families["expectations"] == Obligations(0, 1, 0)
    assert total(subject) == subject.obligations


@pytest.mark.parametrize("number", [1, 2])
def test_a_proof_that_is_known_has_the_same_families(number: int) -> None:
    settings, stored = Settings(), Proofs(stored=lambda key: None)
    args = (examples.replicated(), Expectation(), settings, settings.answering())
    first = check_subject(*args, proofs=stored)
    assert first.verdict == "proved"
    again = stored if number == 1 else Proofs(stored=stored.fresh.get)
    assert check_subject(*args, proofs=again).families == first.families
    assert set(first.families) == {"piece", "shard side", "parameter side", "replicas"}
