"""The words and pictures people see, character by character."""

import dataclasses

import pytest

from tests.conftest import Golden
from tests.render import examples
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.narrate import narrate, refusal_finding
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.render.concise import render_concise
from verifier.render.grid import picture_lines
from verifier.render.json_hub import render_json
from verifier.render.lines import paint
from verifier.render.show import render_map
from verifier.render.text import render_text

MAP = Origin("maps/qkv_tp2.json")
PICKLE = Origin("ckpt/mp_rank_00_model_states.pt", "/universal_checkpoint_info/affine_map/params/w")

CASES: dict[str, tuple[ShardMap, Fault]] = {
    "in-memory": (examples.qkv_map(), examples.QKV_FAULT),
    "in-a-pickle": (examples.qkv_map(PICKLE), examples.QKV_FAULT),
    "many-pieces": (examples.long_shard(), examples.LONG_FAULT),
    "hole-in-three-axes": (examples.experts(), examples.EXPERT_HOLE),
    "uncovered-in-three-axes": (examples.experts(), examples.EXPERT_GAP),
    "past-the-end": (examples.past_the_end(), examples.PAST_THE_END),
    "replicas": (examples.replicas(), examples.REPLICA_FAULT),
    "over-budget": (examples.qkv_map(MAP), examples.OVER_BUDGET),
    "warning": (examples.qkv_map(MAP), examples.LINT),
    "chunk-hole": (examples.chunks(), examples.CHUNK_HOLE),
    "chunk-overlap": (examples.chunks(), examples.CHUNK_OVERLAP),
    "chunk-outside": (examples.chunks(), examples.CHUNK_OUTSIDE),
    "file-set": (examples.file_set(), examples.STALE_INDEX),
}


@pytest.mark.parametrize("name", CASES)
def test_a_finding_in_full(name: str, golden: Golden) -> None:
    golden(f"{name}.txt", render_text(examples.report_of(narrate(*CASES[name]))))


def test_the_flagship_message(golden: Golden) -> None:
    finding = narrate(
        examples.qkv_map(MAP),
        examples.QKV_FAULT,
        locate=examples.locator(examples.QKV_TEXT),
        notes=("replayed in torch: extract, then rebuild, changes 4 of 32 elements",),
        helps=('piece 1 with "dest": [2, [4, 1]] fills the shard exactly once (re-verified)',),
    )
    golden("flagship.txt", render_text(examples.report_of(finding)))


@pytest.mark.parametrize("form", [examples.pretty, examples.minified], ids=["pretty", "minified"])
def test_a_document_without_one_piece_per_line(form, golden: Golden) -> None:
    shard_map = examples.qkv_map(MAP)
    finding = narrate(shard_map, examples.QKV_FAULT, locate=examples.locator(form(shard_map)))
    golden(f"{form.__name__}.txt", render_text(examples.report_of(finding)))


def test_declared_padding_is_not_a_hole(golden: Golden) -> None:
    padding = Expectation(holes={1: tuple(range(3955, 4000))})
    finding = narrate(examples.experts(), examples.EXPERT_HOLE, expectation=padding)
    golden("padding.txt", render_text(examples.report_of(finding)))


def _refused() -> Report:
    finding = refusal_finding(
        "SM005",
        "expected an integer, found 4.0",
        "write the exact integer, without quotes, point or exponent",
        Place("maps/w.json", "/ranks/0/pieces/0/source/0", 6, 34),
    )
    subject = Subject(name="w", kind="map", verdict="unreadable", place=finding.place, findings=(finding,))
    return Report(tool=examples.TOOL, subjects=(subject,), unchecked=("2 checkpoints without a map",))


def test_a_refused_document(golden: Golden) -> None:
    golden("refused.txt", render_text(_refused()))


def test_quiet_success_says_what_was_not_checked(golden: Golden) -> None:
    proved = examples.report_of()
    report = Report(tool=proved.tool, subjects=proved.subjects, unchecked=("2 checkpoints without a map",))
    golden("proved.txt", render_text(report))


def test_one_finding_may_stand_for_many_obligations() -> None:
    proved = examples.report_of(examples.qkv_finding())
    subject = dataclasses.replace(proved.subjects[0], obligations=Obligations(5, 3, 0))
    assert "5 obligations proved, 3 refuted (by 1 cause), 0" in render_concise(
        dataclasses.replace(proved, subjects=(subject,))
    )


def test_what_was_not_checked_is_named_beside_a_proof() -> None:
    empty = Subject(name="empty.json", kind="document", verdict="unchecked")
    proved = examples.report_of()
    report = Report(
        tool=proved.tool, subjects=(*proved.subjects, empty), unchecked=("empty.json (no map found)",)
    )
    assert report.exit_code == 4
    assert "not checked: empty.json (no map found)" in " ".join(render_text(report).split())


def test_nothing_checked(golden: Golden) -> None:
    golden("nothing.txt", render_text(Report(tool=examples.TOOL, subjects=())))


def test_concise(golden: Golden) -> None:
    findings: list[Finding] = [examples.qkv_finding(), *[narrate(*case) for case in CASES.values()]]
    golden("concise.txt", render_concise(examples.report_of(*findings)))


def test_json(golden: Golden) -> None:
    golden("flagship.json", render_json(examples.report_of(examples.qkv_finding())))


@pytest.mark.parametrize("name", ["qkv_map", "long_shard", "experts", "chunks"])
def test_the_picture_of_a_map(name: str, golden: Golden) -> None:
    golden(f"show-{name}.txt", render_map(getattr(examples, name)()))


@pytest.mark.parametrize(
    ("shard_map", "fault"),
    [(examples.qkv_map(), examples.QKV_FAULT), (examples.chunks(), examples.CHUNK_OVERLAP)],
    ids=["shard", "parameter"],
)
def test_show_draws_what_a_finding_draws(shard_map: ShardMap, fault: Fault) -> None:
    finding = narrate(shard_map, fault)
    shown = render_map(shard_map)
    for picture in (finding.picture, finding.counterpart):
        assert picture is not None
        if not any(picture.cut):
            assert paint(picture_lines(picture), color=False) in shown
