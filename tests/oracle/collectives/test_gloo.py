"""The same protocols on real process groups: gloo shows what the search finds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from fuzz.protocols.drawing import draw_protocol
from tests.cli.command import CORPUS, shardproof
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.decoding import decode_protocol
from verifier.contracts.protocols.language import Agree, Collective, Commit, Protocol
from verifier.oracle.collectives.judging import observe
from verifier.oracle.collectives.plans import Plan
from verifier.oracle.collectives.running import run

CASES = sorted((CORPUS / "contracts" / "protocols").glob("*.json"))
WAIT = 0.4


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_gloo_shows_what_the_search_finds(path: Path) -> None:
    protocol = decode_protocol(json.loads(path.read_text()))
    assert observe(protocol, wait_seconds=WAIT).rules == simulate(protocol).rules


def test_gloo_never_shows_more_on_drawn_protocols() -> None:
    shown = 0
    for seed in range(6):
        protocol = draw_protocol(random.Random(seed))
        seen = observe(protocol, 2, wait_seconds=0.2).rules
        assert set(seen) <= set(simulate(protocol, 2).rules), (seed, protocol)
        shown += bool(seen)
    assert shown


def test_an_agreement_that_fails_fails_for_all() -> None:
    protocol = Protocol(
        name="agree", steps=(Agree("world", "version"), Commit(), Collective("world", "all_reduce"))
    )
    ended = run(protocol, Plan(differs="version"), 3)
    assert [found.how for found in ended] == ["raised"] * 3
    assert not any(found.mutated for found in ended)
    assert simulate(protocol).rules == ()


def test_the_command_says_what_gloo_showed() -> None:
    ran = shardproof(
        "contract", "simulate", CORPUS / "contracts/protocols/early_return.json", "--gloo", "--wait", "0.3"
    )
    assert ran.code == 1
    assert "error[OC401] stranded-rank" in ran.out
    assert "2 runs on gloo show S1 (rank 0: no work holds)" in ran.out
