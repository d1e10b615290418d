"""Each target notices what it is for: a planted fault raises, whatever it is planted in."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.documents import forms
from fuzz.targets import (
    certificates,
    documents,
    geometry,
    map_documents,
    pickles,
    protocol_documents,
    watch,
)
from fuzz.targets.bytes_random import BytesRandom, case_from
from fuzz.targets.catalogue import NAMES, SEEDS, one_input_of
from fuzz.targets.fault import Fault
from fuzz.targets.pickle_streams import FEW, archive_of, checkpoint, written
from tests.fuzz.liars import Misplacer
from verifier.certificates.check import Rejected
from verifier.contracts.broken import Broken
from verifier.contracts.induced import Induced
from verifier.contracts.protocols.checker import Simulation
from verifier.contracts.protocols.decoding import decode_protocol
from verifier.contracts.protocols.language import Protocol
from verifier.formats import FormatError, Limits, read
from verifier.formats.pickles.machine import Machine
from verifier.formats.pickles.opcodes import OPERATIONS
from verifier.verdicts import Proved


def seeds(target: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((SEEDS / target).iterdir())]


def noticed(target: str) -> list[str]:
    """What the seeds of a target show."""
    one_input, found = one_input_of(target), []
    for data in seeds(target):
        try:
            one_input(data)
        except Fault as fault:
            found.append(str(fault))
    return found


@pytest.mark.parametrize("target", NAMES)
@given(data=st.binary(max_size=200))
@settings(max_examples=40, deadline=None)
def test_no_bytes_show_a_fault(target: str, data: bytes) -> None:
    one_input_of(target)(data)


def test_a_target_of_no_name() -> None:
    with pytest.raises(KeyError, match="there are map_documents"):
        one_input_of("x")


# map_documents


def test_a_believing_judge_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = map_documents.judge

    def believer(*asked: Any, **found: Any) -> Any:
        return replace(right(*asked, **found), verdict=Proved(None))  # type: ignore[arg-type]

    monkeypatch.setattr(map_documents, "judge", believer)
    assert any("two verdicts" in words for words in noticed("map_documents"))


def test_a_lying_engine_is_noticed_by_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.audit.check.engine_named", lambda name: Misplacer())
    assert any("the walk" in words for words in noticed("map_documents"))


def test_a_drawing_that_cannot_be_read_back_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_documents, "render_text", lambda report: str(id(report)))
    assert any("stored report" in words for words in noticed("map_documents"))


def test_a_reader_that_changes_a_map_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    written_as = forms.map_document

    def moved(shard_map: Any) -> dict[str, Any]:
        return {**written_as(shard_map), "logical_shape": [int(shard_map.origin is None)]}

    monkeypatch.setattr(map_documents, "map_document", moved)
    assert any("read otherwise" in words for words in noticed("map_documents"))


def test_a_document_is_a_case_until_it_is_edited() -> None:
    plain = documents.document_from(BytesRandom(bytes(40)))
    assert plain.case is not None
    assert json.loads(plain.data)["logical_shape"] == list(plain.case.shard_map.logical_shape)
    assert documents.document_from(BytesRandom(bytes([0, 0, 1]) + bytes(40))).case is None
    assert documents.document_from(BytesRandom(b"\x03[1]")).data == b"[1]"


# pickles


def import_afresh(name: str) -> None:
    """An import that other tests of the process have not done already."""
    sys.modules.pop(name, None)
    __import__(name)


@pytest.mark.parametrize(
    "act",
    [
        lambda: import_afresh("colorsys"),
        lambda: Path(os.devnull).read_bytes(),
        lambda: exec("1"),
        lambda: os.system("true"),
    ],
    ids=["import", "open", "exec", "system"],
)
def test_an_act_is_noticed(act: Any) -> None:
    with pytest.raises(Fault, match="while reading"), watch.nothing_done():
        act()


def test_only_one_file_may_be_opened(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).touch()
    with watch.nothing_done(tmp_path / "a"):
        (tmp_path / "a").read_bytes()
    with pytest.raises(Fault, match="open"), watch.nothing_done(tmp_path / "a"):
        (tmp_path / "b").read_bytes()
    subprocess.run(["true"], check=True)  # nobody watches now


def test_a_reader_that_runs_what_it_reads_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def eager(machine: Machine, module: str, name: str) -> None:
        machine.stack.append(getattr(__import__(f"{module}.nowhere"), name))

    monkeypatch.setattr(Machine, "refer", eager)
    assert any("while reading: import" in words for words in noticed("pickles"))


@pytest.mark.parametrize(
    ("opcode", "stream", "words"),
    [(b"K", b"K\x01.", "Python reads 1"), (b"N", b"N.", "a object was read")],
)
def test_another_value_is_noticed(
    monkeypatch: pytest.MonkeyPatch, opcode: bytes, stream: bytes, words: str
) -> None:
    def other(machine: Machine) -> None:
        machine.stack.append(machine.byte() + 1 if opcode == b"K" else object())

    monkeypatch.setitem(OPERATIONS, opcode[0], other)
    with pytest.raises(Fault, match=words):
        pickles.one_input(b"\x00\xff\x00\x00" + stream)


def test_an_undocumented_refusal_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(stream: bytes, grammar: object, origin: Any, limits: Limits) -> object:
        raise FormatError("SM002", "no", origin, help="none")

    monkeypatch.setattr(pickles, "read_pickle", refuse)
    assert all("refused with SM002" in words for words in noticed("pickles"))


@given(st.binary(min_size=200, max_size=400))
@settings(max_examples=60, deadline=None)
def test_a_checkpoint_that_is_not_edited_is_read(data: bytes) -> None:
    data = data[:1] + bytes(2) + data  # any layout, no mutant
    expected = case_from(BytesRandom(data), FEW).shard_map
    rng = BytesRandom(data)
    stream = b"\x80\x04" + b"".join(written(rng, checkpoint(rng))) + b"."
    storages = {str(rank): 4 * shard.numel for rank, shard in expected.ranks.items()}
    with map_documents.stored(archive_of(rng, stream, 0, storages), ".pt") as path:
        document = read(path, limits=pickles.LIMITS)
    assert document.refusals == ()
    assert [documents.map_document(subject.shard_map) for subject in document.subjects] == [
        documents.map_document(expected)
    ]


# geometry


def test_a_lying_engine_is_noticed_by_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geometry, "PROVER", replace(geometry.PROVER, engines=(Misplacer(),)))
    assert any("misplacer" in words and "logical_shape" in words for words in noticed("geometry"))


# certificates


def test_a_checker_that_accepts_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "check_text", lambda text: ())
    monkeypatch.setattr(certificates, "_is_past_the_model", lambda document: False)
    wrong = json.dumps({"map": {"logical_shape": [1], "ranks": {}}, "expectation": {}, "evidence": {}})
    with pytest.raises(Fault, match="accepted, but the walk finds"):
        certificates.one_input(b"\x07" + wrong.encode())


def test_a_checker_that_accepts_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> tuple[str, ...]:
        raise Rejected("no")

    monkeypatch.setattr(certificates, "check_text", refuse)
    with pytest.raises(Fault, match="a proof is refused, no"):
        certificates.one_input(bytes(60))


def test_another_exception_of_the_checker_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(text: str) -> tuple[str, ...]:
        raise ZeroDivisionError

    monkeypatch.setattr(certificates, "check_text", stumble)
    with pytest.raises(ZeroDivisionError):
        certificates.one_input(bytes(60))


def test_a_claim_without_a_solver_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "check_text", lambda text: ("trust me",))
    with pytest.raises(Fault, match="assumptions without a claim"):
        certificates.one_input(bytes(60))


def test_a_map_that_cannot_exist_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "check_text", lambda text: ())
    negative = json.dumps({"map": {"logical_shape": [-1], "ranks": {}}, "expectation": {}, "evidence": {}})
    with pytest.raises(Fault, match="accepted, but it holds no map"):
        certificates.one_input(b"\x07" + negative.encode())


# protocol_documents


def test_a_search_that_finds_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Simulation((), 1, True, 2)
    monkeypatch.setattr(protocol_documents, "simulate", lambda *asked, **more: nothing)
    monkeypatch.setattr("fuzz.protocols.differential.simulate", lambda *asked, **more: nothing)
    words = noticed("protocol_documents")
    assert any("violates ()" in found for found in words)
    assert any("the search finds nothing, runs S" in found for found in words)


def test_a_protocol_that_is_read_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def emptied(document: Any) -> Protocol:
        return replace(decode_protocol(document), name=str(id(document)))

    monkeypatch.setattr(protocol_documents, "decode_protocol", emptied)
    assert any(found.startswith("read again it is") for found in noticed("protocol_documents"))


def test_a_search_beyond_its_budget_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Simulation((), 10**6, True, 2)
    monkeypatch.setattr(protocol_documents, "simulate", lambda *asked, **more: endless)
    assert any("states are visited" in found for found in noticed("protocol_documents"))


# contract_documents


def test_a_rule_that_is_asleep_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.contracts.cases.broken_rules", lambda *asked: ())
    monkeypatch.setattr("verifier.contracts.cases.broken_cut_rules", lambda *asked: ())
    assert any("breaks set() only" in words for words in noticed("contract_documents"))


def test_a_rule_that_accuses_the_right_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    accused = (Broken("", "N5", "a twin"),)
    monkeypatch.setattr("verifier.contracts.cases.broken_rules", lambda *asked: accused)
    assert any(words.startswith("right, but") for words in noticed("contract_documents"))


def test_a_closed_form_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    never = Induced(kind="impossible", rule="M6")
    monkeypatch.setattr("fuzz.contracts.differential.by_closed_form", lambda *asked: never)
    assert any("the closed form says" in words for words in noticed("contract_documents"))
