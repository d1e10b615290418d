"""Verdicts and faults of whole maps: what is primary, what is a consequence, what certificates carry."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.builders import columns, piece, replicated, shard_map
from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.audit import answering
from verifier.audit.answering import Answering
from verifier.audit.judge import Judgement, judge
from verifier.budget import Budget
from verifier.certificates.check import check_text
from verifier.certificates.forms import Cancellation
from verifier.engines.cancel import CancelEngine
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.piece_rules import RULES
from verifier.obligations.questions import Question
from verifier.verdicts import Proved, Refuted, Undecided


def judged(shard: ShardMap, expectation: Expectation | None = None) -> Judgement:
    return judge(shard, expectation or Expectation(), Answering(CancelEngine(), Budget()))


def codes(judgement: Judgement) -> list[str]:
    return [fault.code for fault in judgement.faults]


def test_a_right_map_is_proved_and_its_certificate_is_accepted() -> None:
    for right in (
        columns(10**9, 1, 8),
        replicated((3, 5), 4),
        shard_map((0, 4), {}),
        shard_map((), {0: ((), [piece((), (0, ()), (0, ()))])}),
    ):
        judgement = judged(right)
        assert isinstance(judgement.verdict, Proved)
        assert judgement.faults == ()
        assert judgement.refuted == judgement.undecided == 0
        assert check_text(judgement.verdict.certificate.to_text()) == ()


def with_dest(base: ShardMap, rank: int, offset: int) -> ShardMap:
    shard = base.ranks[rank]
    first = shard.pieces[0]
    moved = replace(first, dest=replace(first.dest, offset=offset))
    return replace(base, ranks={**base.ranks, rank: replace(shard, pieces=(moved, *shard.pieces[1:]))})


def test_what_follows_from_a_piece_that_leaves_its_shard_is_folded_into_it() -> None:
    judgement = judged(with_dest(columns(4, 2, 2), 1, 1))
    assert codes(judgement) == ["SM101"]
    assert [fault.code for fault in judgement.faults[0].consequences] == ["SM203"]


def test_two_causes_are_two_findings() -> None:
    twice = with_dest(with_dest(columns(4, 2, 2), 0, 1), 1, -1)
    assert codes(judged(twice)) == ["SM101", "SM101"]
    assert [fault.rank for fault in judged(twice).faults] == [0, 1]


def test_a_missing_piece_is_one_finding() -> None:
    base = columns(4, 2, 2)
    missing = replace(base, ranks={**base.ranks, 1: replace(base.ranks[1], pieces=())})
    judgement = judged(missing)
    assert codes(judgement) == ["SM203"]
    assert [fault.code for fault in judgement.faults[0].consequences] == ["SM301"]


def test_counts_are_exact_where_the_map_is_small_and_lower_bounds_where_it_is_not() -> None:
    for rows, exact in ((4, True), (10**9, False)):
        wrong = shard_map(
            (rows, 4),
            {
                0: (
                    (rows, 4),
                    [
                        piece((rows, 2), (0, (4, 1)), (0, (4, 1))),
                        piece((rows, 2), (2, (4, 1)), (1, (4, 1))),
                    ],
                )
            },
        )
        (fault,) = judged(wrong).faults
        assert (fault.code, fault.address) == ("SM201", 1)
        assert fault.count is not None
        assert fault.count.exact is exact
        assert fault.count.number == (rows if exact else 1)
        assert [visit.piece for visit in fault.visits] == [0, 1]


def test_T11_replicas_cut_at_other_boundaries_are_equal_and_a_drifting_scale_is_not() -> None:
    halves = [piece((2,), (0, (1,)), (0, (1,)), (0, 1)), piece((2,), (2, (1,)), (2, (1,)), (0, 1))]
    whole = [piece((4,), (0, (1,)), (0, (1,)), (0, 1))]
    assert isinstance(judged(shard_map((4,), {0: ((4,), whole), 1: ((4,), halves)})).verdict, Proved)
    halves[1] = replace(halves[1], scale=Fraction(1, 2))
    judgement = judged(shard_map((4,), {0: ((4,), whole), 1: ((4,), halves)}))
    assert codes(judgement) == ["SM303"]
    assert judgement.faults[0].address == 2


@pytest.mark.parametrize(
    ("scales", "verdict"),
    [
        ((Fraction(1, 2), Fraction(1, 2)), Proved),
        ((Fraction(1, 4), Fraction(3, 4)), Proved),
        ((Fraction(1), Fraction(1)), Refuted),
    ],
)
def test_T16_partial_sums(scales: tuple[Fraction, Fraction], verdict: type) -> None:
    maps = [replicated((2,), 2, scale).ranks[rank] for rank, scale in enumerate(scales)]
    partial = replace(replicated((2,), 2), ranks=dict(enumerate(maps)))
    judgement = judged(partial, Expectation(partial=True))
    assert isinstance(judgement.verdict, verdict)
    if isinstance(judgement.verdict, Proved):
        assert check_text(judgement.verdict.certificate.to_text()) == ()


def test_a_perfect_tiling_of_the_wrong_function_is_caught_by_its_reference() -> None:
    right = shard_map((4,), {r: ((2,), [piece((2,), (2 * r, (1,)), (0, (1,)), (r,))]) for r in range(2)})
    wrong = shard_map((4,), {r: ((2,), [piece((2,), (r, (2,)), (0, (1,)), (r,))]) for r in range(2)})
    assert isinstance(judged(wrong).verdict, Proved)
    judgement = judged(wrong, Expectation(reference=right))
    assert codes(judgement)[0] == "SM501"
    first = judgement.faults[0]
    assert (first.rank, first.values["source"], first.values["dest"]) == (0, 1, 1)


class Silent:
    """An engine that decides nothing."""

    name = "silent"

    def decide(self, question: Question, budget: Budget) -> Answer:
        return Unknown("SM902", "did not try", self.name)


def test_undecided_is_never_a_pass() -> None:
    judgement = judge(columns(2, 2, 2), Expectation(), Answering(Silent(), Budget()))
    assert isinstance(judgement.verdict, Undecided)
    assert {fault.code for fault in judgement.faults} == {"SM902"}
    assert judgement.proved < judgement.proved + judgement.undecided


class Contrary:
    """Proves what is false and refutes what is true."""

    name = "contrary"

    def decide(self, question: Question, budget: Budget) -> Answer:
        if isinstance(CancelEngine().decide(question, budget), Holds):
            return Fails(Defect(None, None, least=False), self.name)
        return Holds(Cancellation(), self.name)


@pytest.fixture
def contrary(monkeypatch: pytest.MonkeyPatch) -> Answering:
    """A cross-check by an engine that is wrong."""
    monkeypatch.setattr(answering, "ENGINES", {"contrary": None})
    monkeypatch.setattr(answering, "engine_named", lambda name: Contrary())
    return Answering(CancelEngine(), Budget(), cross_check=True)


def test_a_proof_that_another_engine_contradicts_leaves_the_map_undecided(contrary: Answering) -> None:
    judgement = judge(columns(2, 2, 2), Expectation(), contrary)
    assert isinstance(judgement.verdict, Undecided)
    assert set(codes(judgement)) == {"TB101"}
    assert (judgement.proved, judgement.refuted) == (len(RULES), 0)


def test_a_refutation_that_another_engine_contradicts_has_its_own_witness(contrary: Answering) -> None:
    judgement = judge(with_dest(columns(4, 2, 2), 1, 1), Expectation(), contrary)
    assert isinstance(judgement.verdict, Refuted)
    assert judgement.verdict.witness.code == "SM101"
    assert "TB101" in codes(judgement)


def test_lints_do_not_touch_the_verdict_and_are_silent_on_refuted_maps() -> None:
    scaled = replicated((2,), 2, Fraction(1, 2))
    judgement = judged(scaled)
    assert isinstance(judgement.verdict, Proved)
    assert {warning.code for warning in judgement.warnings} == {"SM704"}
    refuted = judged(with_dest(scaled, 0, 1))
    assert refuted.warnings == ()


def test_a_unit_with_one_writer_and_a_gap_is_undecided_not_refuted() -> None:
    half = shard_map((4,), {0: ((2,), [piece((2,), (0, (1,)), (0, (1,)))])})
    judgement = judged(half, Expectation(write_unit=4, gaps=(2, 3)))
    assert isinstance(judgement.verdict, Undecided)
    assert (judgement.refuted, judgement.undecided) == (0, 1)
    shared = shard_map((4,), {r: ((2,), [piece((2,), (2 * r, (1,)), (0, (1,)), (r,))]) for r in range(2)})
    judgement = judged(shared, Expectation(write_unit=4))
    assert codes(judgement) == ["SM506"]
    assert judgement.faults[0].values["writers"] == (0, 1)


def test_a_reference_that_cannot_be_run_proves_nothing() -> None:
    right = shard_map((2,), {0: ((2,), [piece((2,), (0, (1,)), (0, (1,)))])})
    backwards = shard_map((2,), {0: ((2,), [piece((2,), (1, (-1,)), (1, (-1,)))])})
    assert codes(judged(right, Expectation(reference=backwards))) == ["SM501"]


def test_every_fault_of_the_parameter_names_its_least_element_also_a_folded_one() -> None:
    """Element 0 has no holder, 1 has rank 0 twice; the holders of group (0, 1) differ first at 2."""
    pieces = [
        piece((1,), (1, (1,)), (0, (1,))),
        piece((2,), (1, (1,)), (0, (1,))),
        piece((2,), (2, (1,)), (0, (1,)), (0, 1)),
    ]
    judgement = judged(shard_map((6,), {0: ((3,), pieces), 1: ((3,), [])}))
    parameter = [
        f for fault in judgement.faults for f in (fault, *fault.consequences) if f.side == "parameter"
    ]
    assert {fault.code: fault.address for fault in parameter}["SM302"] == 1
    assert {fault.code: fault.address for fault in parameter}["SM301"] == 0
