"""Disciplined protocols do no wrong, and each change of one does the wrong it is labelled with."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings

from fuzz.protocols import strategies
from fuzz.protocols.drawing import draw_disciplined
from fuzz.protocols.encoding import protocol_document
from fuzz.protocols.mutants import PROTOCOL_MUTANTS, ProtocolMutant
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.decoding import decode_protocol
from verifier.contracts.protocols.language import Protocol
from verifier.oracle.collectives.judging import observe

SEEDS = 12


@given(strategies.disciplined())
@settings(max_examples=40, deadline=None)
def test_disciplined_protocols_violate_nothing(protocol: Protocol) -> None:
    assert simulate(protocol).rules == ()


@given(strategies.changed_protocols())
@settings(max_examples=60, deadline=None)
def test_a_change_violates_what_it_says(changed: strategies.ChangedProtocol) -> None:
    rules = simulate(changed.protocol).rules
    assert changed.mutant.explains(frozenset(rules)), (changed.mutant.name, rules)


@given(strategies.protocols())
@settings(max_examples=60, deadline=None)
def test_a_protocol_is_read_as_it_is_written(protocol: Protocol) -> None:
    assert decode_protocol(json.loads(json.dumps(protocol_document(protocol)))) == protocol


@pytest.mark.parametrize("mutant", PROTOCOL_MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_every_change_can_be_made_and_is_told(mutant: ProtocolMutant) -> None:
    made = 0
    for seed in range(SEEDS):
        rng = random.Random(f"{mutant.name} {seed}")
        protocol = draw_disciplined(rng)
        changed = mutant(rng, protocol)
        if changed is not None:
            made += 1
            assert changed.steps != protocol.steps
            assert mutant.explains(frozenset(simulate(changed).rules)), (mutant.name, changed)
    assert made >= SEEDS // 2


def test_some_changes_break_each_rule_and_some_none() -> None:
    assert {rule for mutant in PROTOCOL_MUTANTS.values() for rule in mutant.must} == {"S1", "S2", "S3", "S4"}
    assert sum(not mutant.must for mutant in PROTOCOL_MUTANTS.values()) >= 5


@pytest.mark.parametrize("name", ["no-preamble", "opposite-groups", "other-operation", "commit-in-try"])
def test_gloo_shows_it_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    rng = random.Random(3)
    changed = PROTOCOL_MUTANTS[name](rng, draw_disciplined(rng))
    assert changed is not None
    mutant = PROTOCOL_MUTANTS[name]
    waits = (0.3, 6, 60)  # a machine may be busy
    assert any(mutant.explains(frozenset(observe(changed, wait_seconds=wait).rules)) for wait in waits)
