"""What a finding says follows from the map and the fault, and from nothing else."""

import dataclasses
import re

import pytest
from hypothesis import HealthCheck, given, settings

from tests.diagnostics.hostile import faults, shard_maps
from tests.render import examples
from verifier.diagnostics.codes import CODES, UnknownCodeError, find_code
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.narrate import narrate, refusal_finding
from verifier.model.origin import Origin
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Count, Fault

modest = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@modest
@given(shard_maps(), faults)
def test_headline_and_concise_stand_alone_on_one_line(shard_map: ShardMap, fault: Fault) -> None:
    finding = narrate(shard_map, fault)
    assert finding.headline.strip()
    assert finding.concise.strip()
    assert finding.code == fault.code
    assert finding.consequences == tuple(consequence.code for consequence in fault.consequences)
    assert finding.witness["address"] is None or fault.address is not None


@pytest.mark.parametrize("code", [code for code in CODES if code.family != "document"], ids=lambda c: c.code)
def test_every_code_has_words_for_a_fault_without_numbers(code) -> None:
    finding = narrate(examples.qkv_map(), Fault(code=code.code, side="map"))
    assert (finding.name, finding.severity) == (code.name, code.severity)
    assert (finding.verdict == "undecided") == (code.family == "undecided")


SAID_OF_PROGRAMS = ("CK101", "CK114", "SM603", "SM604", "SM605", "SM606")
"""Codes whose words are about the ranks of programs, whatever a map calls its holders."""


def words_of(finding: Finding) -> str:
    """Everything a finding says, but for what the document says."""
    pictures = [picture for picture in (finding.picture, finding.counterpart) if picture is not None]
    parts = [
        *(finding.headline, finding.concise, finding.about, finding.claim, finding.tally),
        *[f"{e.who} {e.sum} {e.so}" for e in finding.equations],
        *[label.text for label in finding.labels],
        *[text for picture in pictures for _, text in (("", picture.title), *picture.legend)],
        *finding.notes,
        *finding.helps,
    ]
    return "\n".join(parts)


@modest
@given(shard_maps(), faults)
def test_holders_are_called_what_their_map_calls_them(shard_map: ShardMap, fault: Fault) -> None:
    code = find_code(fault.code)
    assert code is not None
    said = words_of(narrate(dataclasses.replace(shard_map, name="w", holder="stage"), fault))
    said = said.replace("{rank} {0} %s", "")  # a value of the fault
    own = [find_code(found.code) for found in (fault, *fault.consequences)]
    for summary in [found.summary for found in own if found is not None]:
        said = said.replace(summary, "")
    if fault.code not in SAID_OF_PROGRAMS:
        assert re.search(r"\branks?\b", said) is None


def test_blocks_are_called_by_one_name() -> None:
    overlap = narrate(examples.chunks(), examples.CHUNK_OVERLAP)
    assert overlap.concise == "chunks 1 and 2 hold parameter element [3, 0]"
    assert [equation.so for equation in overlap.equations] == [
        "is element [1, 0] of chunk 1",
        "is element [0, 0] of chunk 2",
    ]
    assert (
        narrate(examples.chunks(), examples.CHUNK_HOLE).concise == "no chunk holds parameter element [5, 4]"
    )
    several = {**examples.CHUNK_OVERLAP.values, "holders": (1, 2, 3)}
    fault = dataclasses.replace(examples.CHUNK_OVERLAP, values=several)
    assert narrate(examples.chunks(), fault).concise == "chunks 1, 2 and 3 hold parameter element [3, 0]"


def test_a_fault_of_a_file_set_is_about_a_checkpoint() -> None:
    assert narrate(examples.file_set(), examples.STALE_INDEX).about == "checkpoint ckpt"
    parameter = dataclasses.replace(examples.file_set(), name="w")
    assert narrate(parameter, examples.STALE_INDEX).about == "parameter w ()"


def test_an_unknown_code_is_an_error_of_the_caller() -> None:
    with pytest.raises(UnknownCodeError):
        narrate(examples.qkv_map(), Fault(code="SM999", side="map"))


def test_equations_carry_the_elements_of_the_other_side() -> None:
    finding = narrate(examples.qkv_map(), examples.QKV_FAULT)
    assert [(e.who, e.sum, e.so) for e in finding.equations] == [
        ("piece 0 at index (0, 1)", "0 + 0*4 + 1*1 = 1", "carries parameter element [0, 1]"),
        ("piece 1 at index (0, 0)", "1 + 0*4 + 0*1 = 1", "carries parameter element [0, 4]"),
    ]
    assert finding.witness["visits"] == [
        {"rank": 0, "piece": 0, "index": [0, 1], "shard_address": 1, "parameter_address": 1},
        {"rank": 0, "piece": 1, "index": [0, 0], "shard_address": 1, "parameter_address": 4},
    ]


def test_the_remark_on_volumes_is_made_only_where_it_is_true() -> None:
    shard_map = examples.qkv_map()
    told = narrate(shard_map, examples.QKV_FAULT).notes
    assert any("8 + 8 = 16" in note for note in told)
    larger = dataclasses.replace(
        shard_map, ranks={**shard_map.ranks, 0: RankShard((4, 5), shard_map.ranks[0].pieces)}
    )
    assert not any("counts" in note for note in narrate(larger, examples.QKV_FAULT).notes)


@pytest.mark.parametrize(
    ("count", "others", "tally"),
    [
        (Count(4, exact=True), (1, 5, 9, 13), "smallest of 4 clashes: addresses 1, 5, 9, 13"),
        (Count(9, exact=True), (1, 5), "smallest of 9 clashes: addresses 1, 5, ..."),
        (Count(9, exact=False), (1, 5), "one of at least 9 clashes: addresses 1, 5, ..."),
        (Count(2, exact=False), (), "one of at least 2 clashes"),
        (Count(1, exact=True), (1,), ""),
        (None, (1,), ""),
    ],
)
def test_a_tally_never_claims_more_than_was_counted(count, others, tally) -> None:
    fault = dataclasses.replace(examples.QKV_FAULT, count=count, others=others)
    assert narrate(examples.qkv_map(), fault).tally == tally


def test_an_undecided_demand_is_not_called_refuted() -> None:
    fault = dataclasses.replace(examples.QKV_FAULT, undecided=True)
    assert narrate(examples.qkv_map(), fault).verdict == "undecided"


def test_notes_and_helps_of_the_caller_come_last() -> None:
    finding = narrate(examples.qkv_map(), examples.QKV_FAULT, notes=("seen",), helps=("repaired",))
    assert (finding.notes[-1], finding.helps[-1]) == ("seen", "repaired")


def test_a_refusal_speaks_for_itself() -> None:
    place = Place("a.json", "/ranks/0", 3, 7)
    finding = refusal_finding("SM005", "expected an integer, found 4.0", "write it exactly", place)
    assert (finding.verdict, finding.name, finding.place) == ("unreadable", "inexact-number", place)
    assert (finding.headline, finding.helps) == ("expected an integer, found 4.0", ("write it exactly",))


def test_a_fingerprint_tells_geometries_apart() -> None:
    shard_map, fault = examples.qkv_map(), examples.QKV_FAULT
    prints = {narrate(shard_map, fault).fingerprint}
    for other in (
        dataclasses.replace(shard_map, name="other"),
        dataclasses.replace(shard_map, logical_shape=(8, 4)),
        dataclasses.replace(
            shard_map, ranks={**shard_map.ranks, 0: RankShard((16,), shard_map.ranks[0].pieces)}
        ),
        examples.past_the_end(),
    ):
        prints.add(narrate(other, fault).fingerprint)
    for changed in ({"address": 5}, {"rank": 1}, {"code": "SM203"}, {"side": "parameter"}):
        prints.add(narrate(shard_map, dataclasses.replace(fault, **changed)).fingerprint)
    assert len(prints) == 9


def test_a_fingerprint_ignores_order_files_counts_and_words() -> None:
    shard_map, fault = examples.qkv_map(), examples.QKV_FAULT
    first = narrate(shard_map, fault).fingerprint
    assert narrate(dataclasses.replace(shard_map, origin=Origin("b", "/x")), fault).fingerprint == first
    assert narrate(shard_map, dataclasses.replace(fault, count=None, others=())).fingerprint == first
    padded = (shard_map.ranks[1].pieces[0], *shard_map.ranks[0].pieces)
    moved = dataclasses.replace(shard_map, ranks={**shard_map.ranks, 0: RankShard((4, 4), padded)})
    shifted = dataclasses.replace(
        fault,
        pieces=((0, 1), (0, 2)),
        visits=tuple(dataclasses.replace(visit, piece=visit.piece + 1) for visit in fault.visits),
    )
    assert narrate(moved, shifted).fingerprint == first


def test_a_refusal_has_one_fingerprint_in_any_file() -> None:
    prints = {
        refusal_finding("SM001", f"{file}: no map", None, Place(file, "/a", line)).fingerprint
        for file, line in (("a.json", 1), ("b.json", 9))
    }
    assert len(prints) == 1


UNLOCATED = {"reason": "fingerprint refutes it without naming a place"}


@pytest.mark.parametrize(
    ("code", "obligation", "rank", "said"),
    [
        ("SM201", "shard/0", 0, "each shard address of rank 0 is written exactly once"),
        ("SM203", "shard/0", 0, "each shard address of rank 0 is written exactly once"),
        ("SM301", "parameter", None, "each element of the parameter is held as declared"),
        ("SM402", "holders/0,1/1/1", 1, "the declared holders hold the same elements as rank 1"),
        ("SM501", "reference/0", 0, "rank 0 is cut like the reference"),
        ("SM506", "unit/0", 0, "rank 0 writes whole storage units only"),
    ],
)
def test_a_refutation_without_a_place_claims_nothing_else(code, obligation, rank, said) -> None:
    fault = Fault(code=code, side="map", rank=rank, values={"obligation": obligation, **UNLOCATED})
    finding = narrate(examples.qkv_map(), fault)
    assert finding.headline == f"fingerprint refutes that {said}, without naming a place"
    assert finding.concise.endswith(finding.headline)
    assert (finding.notes, finding.labels, finding.equations, finding.picture) == ((), (), (), None)


@pytest.mark.parametrize(
    ("count", "others", "offered"),
    [
        (Count(2, exact=True), (3950, 3951), True),
        (Count(2, exact=False), (3950, 3951), False),
        (Count(7, exact=True), (3950, 3951, 3952, 3953, 3954, 3955), False),
        (None, (3950,), False),
    ],
)
@pytest.mark.parametrize("fault", [examples.EXPERT_HOLE, examples.EXPERT_GAP], ids=["holes", "gaps"])
def test_declaring_padding_needs_every_cell_listed(fault, count, others, offered) -> None:
    helps = narrate(examples.experts(), dataclasses.replace(fault, count=count, others=others)).helps
    assert any("declare it" in text and "3950, 3951]" in text for text in helps) == offered
    assert bool(helps) == offered


def test_the_text_says_what_both_sides_have_where_no_line_shows_it() -> None:
    values = {"here": "nothing", "there": "element [0, 1] times 1/4", "source": 1, "dest": 1}
    fault = Fault(code="SM501", side="shard", rank=0, address=1, values=values)
    finding = narrate(examples.qkv_map(), fault)
    assert finding.labels == ()
    assert finding.claim.endswith("here nothing, in the reference element [0, 1] times 0.25")
    frame = {"here": "ranks [0, 1]", "there": "ranks [0]"}
    claim = narrate(examples.qkv_map(), Fault(code="SM501", side="map", values=frame)).claim
    assert claim == "here ranks [0, 1], in the reference ranks [0]"


@pytest.mark.parametrize(
    ("code", "key"), [("SM704", "scale"), ("SM106", "scale"), ("SM505", "expected"), ("SM501", "here")]
)
def test_no_scale_is_printed_with_hundreds_of_digits(code: str, key: str) -> None:
    tiny = f"1/{3**500}"
    values = {"source": 0, "dest": 0, "there": "nothing", key: tiny}
    finding = narrate(examples.qkv_map(), Fault(code=code, side="piece", pieces=((0, 0),), values=values))
    assert "about " in finding.concise
    assert len(finding.concise) < 120


def test_tb101_says_who_disagrees() -> None:
    engines = {"obligation": "shard/0", "reason": "cancel: Holds, z3: Fails"}
    oracle = {"obligation": "torch oracle", "reason": "proved, but torch changes 4 elements"}
    found = [
        narrate(examples.qkv_map(), Fault(code="TB101", side="map", values=v)) for v in (engines, oracle)
    ]
    assert [f.headline for f in found] == ["two engines disagree", "real execution contradicts the verdict"]
    assert all(v["reason"] in f.concise for v, f in zip((engines, oracle), found, strict=True))


def test_every_undecided_demand_is_a_clause() -> None:
    for obligation, said in (
        ("storage units", "whether each storage unit is written by one rank only"),
        ("the certificate", "whether the certificate holds"),
    ):
        values = {"obligation": obligation, "reason": "why"}
        fault = Fault(code="SM901", side="map", values=values, undecided=True)
        assert f"{said} (this is not a pass)" in narrate(examples.qkv_map(), fault).headline
