"""The same protocols on real process groups: gloo shows what the search finds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
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
WAITS = (0.4, 6.0, 60.0)
"""Seconds until a rank counts as stranded; longer ones for a machine that is too busy to come in time."""
Rules = tuple[str, ...]


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")


def shown(protocol: Protocol, right: Callable[[Rules], bool], ranks: int | None = None) -> Rules:
    """The rules that gloo shows, with the first wait that shows the right ones, else with the longest."""
    for wait in WAITS:
        rules = observe(protocol, ranks, wait_seconds=wait).rules
        if right(rules):
            break
    return rules


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_gloo_shows_what_the_search_finds(path: Path) -> None:
    protocol = decode_protocol(json.loads(path.read_text()))
    found = simulate(protocol).rules
    assert shown(protocol, lambda rules: rules == found) == found


def test_gloo_never_shows_more_on_drawn_protocols() -> None:
    some = 0
    for seed in range(6):
        protocol = draw_protocol(random.Random(seed))
        found = {*simulate(protocol, 2).rules}
        seen = shown(protocol, found.issuperset, 2)
        assert found.issuperset(seen), (seed, protocol)
        some += bool(seen)
    assert some


def test_an_agreement_that_fails_fails_for_all() -> None:
    protocol = Protocol(
        name="agree", steps=(Agree("world", "version"), Commit(), Collective("world", "all_reduce"))
    )
    ended = run(protocol, Plan(differs="version"), 3, wait_seconds=WAITS[-1])
    assert [found.how for found in ended] == ["raised"] * 3
    assert not any(found.mutated for found in ended)
    assert simulate(protocol).rules == ()


def test_the_command_says_what_gloo_showed() -> None:
    path = CORPUS / "contracts/protocols/early_return.json"
    words = "2 runs on gloo show S1 (rank 0: no work holds)"
    for wait in WAITS:
        ran = shardproof("contract", "simulate", path, "--gloo", "--wait", str(wait))
        if words in ran.out:
            break
    assert ran.code == 1
    assert "error[OC401] stranded-rank" in ran.out
    assert words in ran.out
