"""T30: of which numbers of ranks a search speaks, and that it says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from fuzz.protocols import strategies
from fuzz.protocols.encoding import protocol_document
from tests.cli.command import CORPUS, shardproof
from verifier.audit import simulations
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.decoding import decode_protocol
from verifier.contracts.protocols.language import (
    Commit,
    IfLocal,
    Local,
    Protocol,
    RaiseIfAgreed,
    Try,
    Vote,
)
from verifier.contracts.protocols.worlds import in_words, left_open, validity
from verifier.symbolic.protocols import check_formula

PROTOCOLS = CORPUS / "contracts" / "protocols"
WRITER = decode_protocol(json.loads((PROTOCOLS / "writer_raises_for_all.json").read_text()))
VOTED = (Try((Local("check"),)), Vote("world"), RaiseIfAgreed())
MESH = Protocol(name="mesh", steps=(), groups={"rows": (0, 1), "columns": (0, 2)}, roles={3: "last"})
THREE = Protocol(
    name="three",
    steps=(
        IfLocal(
            "has work",
            VOTED[:2],
            (Vote("world"), IfLocal("is late", (Commit(),), (RaiseIfAgreed(),))),
        ),
    ),
)
"""One fails, one changes state, one raises."""


def test_one_reader_beside_the_writer_hides_what_two_show() -> None:
    assert simulate(WRITER, 2).rules == ()
    assert check_formula(WRITER, 2).safe
    for ranks in (None, 3, 4, 5):
        assert simulate(WRITER, ranks).rules == ("S1",)
        assert check_formula(WRITER, ranks).safe is False


def test_S4_may_take_three_where_S3_is_broken() -> None:
    assert [simulate(THREE, ranks).rules for ranks in (2, 3, 4)] == [("S3",), ("S3", "S4"), ("S3", "S4")]
    assert left_open(THREE, simulate(THREE)) == "S4 with more than 2 ranks (three)"
    assert left_open(THREE, simulate(THREE, 3)) is None


@given(strategies.reacting())
@settings(max_examples=40, deadline=None)
def test_T30_two_others_decide_for_every_number(protocol: Protocol) -> None:
    least = protocol.least_ranks
    found = [simulate(protocol, least + more, most_states=4000) for more in range(-1, 3)]
    one, two, three, four = (set(one.rules) for one in found)
    if all(one.complete for one in found):
        assert one <= two <= three == four
        assert three - two <= ({"S4"} if "S3" in two else set())


@pytest.mark.parametrize(
    ("groups", "roles", "ranks"),
    [
        ({"world": None}, {}, 2),
        ({"world": None}, {0: "writer"}, 3),
        ({"world": None}, {0: "writer", 1: "writer"}, 4),
        ({"world": None}, {5: "last"}, 6),  # five others are there already
        ({"world": None, "some": (0, 2)}, {0: "owner"}, 4),
        ({"low": (0, 1), "high": (2, 3)}, {}, 4),  # a rank in no group takes part in nothing
        ({"one": (0,)}, {}, 2),
    ],
)
def test_the_world_has_two_others_where_there_can_be_any(
    groups: dict[str, tuple[int, ...] | None], roles: dict[int, str], ranks: int
) -> None:
    assert Protocol(name="p", steps=(), groups=groups, roles=roles).least_ranks == ranks


def test_a_world_in_words() -> None:
    assert in_words(Protocol(name="p", steps=()), 1) == "1 rank"
    assert in_words(WRITER, 2) == "2 ranks: 0 writer; 1 other"
    words = "7 ranks: 0 in rows, columns; 1 in rows; 2 in columns; 3 last; 4-6 other"
    assert in_words(MESH, 7) == words
    assert (
        in_words(replace(MESH, groups={"rows": (1, 3)}, roles={}), 5)
        == "5 ranks: 0, 2, 4 other; 1, 3 in rows"
    )


def test_what_the_search_speaks_of() -> None:
    safe = replace(WRITER, steps=VOTED)
    assert (
        validity(safe, 3)
        == "safe with any number of ranks from 1 on; searched with 3 ranks: 0 writer; 1-2 other (T30)"
    )
    assert (
        validity(safe, 2) == "safe with 2 ranks: 0 writer; 1 other; not searched with other numbers of ranks"
    )
    assert left_open(safe, simulate(safe, 2)) == "other numbers of ranks than 2 (writer_raises_for_all)"
    assert left_open(safe, simulate(safe)) is None
    assert left_open(MESH, simulate(MESH)) == "other numbers of ranks than 4 (mesh)"


def test_the_command_finds_it_and_says_with_whom() -> None:
    ran = shardproof("contract", "simulate", PROTOCOLS / "writer_raises_for_all.json", "--cross-check")
    assert ran.code == 1
    assert "error[OC401] stranded-rank" in ran.out
    assert "protocol writer_raises_for_all, 3 ranks: 0 writer; 1-2 other" in ran.out
    assert "z3 agrees" in ran.out


def test_the_command_says_which_numbers_of_ranks_it_speaks_of(tmp_path: Path) -> None:
    path = PROTOCOLS / "writer_raises_for_all.json"
    ran = shardproof("contract", "simulate", path, "--ranks", "2", "--format", "json")
    report = json.loads(ran.out)
    assert ran.code == 0
    assert report["summary"]["unchecked"] == ["other numbers of ranks than 2 (writer_raises_for_all)"]
    words = "safe with 2 ranks: 0 writer; 1 other; not searched with other numbers of ranks"
    assert report["subjects"][0]["notes"] == [words]
    voted = tmp_path / "voted.json"
    voted.write_text(json.dumps(protocol_document(Protocol(name="voted", steps=VOTED))))
    report = json.loads(shardproof("contract", "simulate", voted, "--format", "json").out)
    assert report["summary"]["unchecked"] == []
    words = "safe with any number of ranks from 1 on; searched with 2 ranks (T30)"
    assert report["subjects"][0]["notes"] == [words]


def test_what_an_unfinished_search_has_not_found_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    path = PROTOCOLS / "writer_raises_for_all.json"
    right = simulations.simulate
    monkeypatch.setattr(simulations, "simulate", lambda *asked: replace(right(*asked), complete=False))
    found = simulations.simulated(path, simulations.SimulationSettings())
    assert (found.subject.obligations.proved, found.subject.obligations.refuted) == (0, 1)
    assert found.subject.obligations.undecided == 3
