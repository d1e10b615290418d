"""A fixed sample of the campaign against our own engines, and whether it notices an engine that lies."""

from dataclasses import replace

import pytest

from fuzz.cases import Selection, case_at
from fuzz.layouts import LAYOUTS
from fuzz.mutants import MUTANTS
from fuzz.outcomes import DISAGREEMENT, Tally
from fuzz.prover import ProverTarget
from tests.fuzz.liars import LIARS, Believer, Doubter, Misplacer, Silent
from verifier.engine import Engine

CASES = 2_016
SEED = 20
SAMPLE = ProverTarget(
    smt_every=24, oracle_every=8, tamper_every=2, drawing_every=24, selection=Selection(size=80)
)


def words_of(target: ProverTarget, cases: int = 150) -> list[str]:
    """What is said of the disagreements of the first cases of a seed."""
    total = Tally()
    for index in range(cases):
        total.merge(target.run(case_at(target.selection, 1, index)))
    return [found.words for found in total.findings(DISAGREEMENT)]


def unsampled(**changes: object) -> ProverTarget:
    """The target without z3, isl, torch and drawings."""
    plain = ProverTarget(smt_every=0, oracle_every=0, drawing_every=0, selection=Selection(size=60))
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def sample() -> Tally:
    total = Tally()
    for index in range(CASES):
        total.merge(SAMPLE.run(case_at(SAMPLE.selection, SEED, index)))
    return total


def test_nothing_disagrees(sample: Tally) -> None:
    found = sample.findings(DISAGREEMENT)
    assert [f"{one.case} {one.layout} {one.mutant}: {one.words}" for one in found] == []


def test_both_answers_have_their_share(sample: Tally) -> None:
    assert sum(sample.row("map").values()) == CASES
    assert min(sample.row("map").values()) >= 0.3 * CASES
    assert sample.row("verdict").get("undecided", 0) <= 0.01 * CASES


def test_the_walk_is_held_against_answers_certain_by_construction(sample: Tally) -> None:
    assert sample.row("by construction")["right"] == sample.row("mutant")["none"]
    assert sample.row("by construction")["wrong"] >= 100


def test_every_layout_and_every_mutant_occurs(sample: Tally) -> None:
    assert set(sample.row("layout")) == set(LAYOUTS)
    assert set(sample.row("mutant")) == {*MUTANTS, "none"}
    assert sample.row("mutant", "none") == {"right": sample.row("mutant")["none"]}


def test_every_layout_is_seen_right_and_wrong(sample: Tally) -> None:
    cells = [sample.row("layout", layout) for layout in LAYOUTS]
    assert all(min(row.get(word, 0) for word in ("right", "wrong")) >= 5 for row in cells)


def test_every_engine_gives_both_answers(sample: Tally) -> None:
    for engine in ("cancel", "boxes", "search", "enumerate", "smt"):
        assert min(sample.row("engine", engine).get(word, 0) for word in ("holds", "fails")) >= 20, engine
    assert sample.row("engine", "fingerprint").get("fails", 0) >= 20


def test_every_question_is_asked_with_both_answers(sample: Tally) -> None:
    for question in ("Tiling", "Packing", "SameAddresses", "SamePairs", "UnitBoundaries"):
        found = sample.row("question", question)
        assert min(found.get(word, 0) for word in ("holds", "fails")) >= 3, question


def test_certificates_of_every_engine_are_tampered_with(sample: Tally) -> None:
    for engine in ("auto", "cancel", "boxes", "search", "enumerate"):
        assert sample.row("certificate", engine).get("tampered", 0) >= 10, engine


def test_torch_sees_every_layout(sample: Tally) -> None:
    assert set(sample.row("oracle")) == set(LAYOUTS)


def test_reports_on_both_answers_are_drawn(sample: Tally) -> None:
    assert min(sample.row("drawing").get(word, 0) for word in ("proved", "refuted")) >= 20


@pytest.mark.parametrize("liar", LIARS, ids=lambda liar: liar.name)
def test_a_lying_engine_is_noticed_on_its_questions(liar: Engine) -> None:
    found = words_of(unsampled(engines=(liar,)))
    assert any(f": {liar.name}: " in words for words in found)


@pytest.mark.parametrize("liar", [Believer(), Doubter(), Misplacer()], ids=lambda liar: liar.name)
def test_a_judge_that_believes_a_lying_engine_is_noticed(liar: Engine) -> None:
    found = words_of(unsampled(engines=(), judging=liar))
    assert any(words.startswith("judge: ") for words in found)


def test_the_checker_refuses_what_a_lying_engine_proved() -> None:
    found = words_of(unsampled(engines=(), judging=Believer()))
    assert any(words.startswith("certificate with evidence of auto refused") for words in found)


def test_an_engine_that_answers_nothing_is_noticed() -> None:
    found = words_of(unsampled(engines=(Silent(),)), cases=21)
    assert any("enumerate: does not decide a Tiling" in words for words in found)


def test_a_judge_that_decides_nothing_is_noticed() -> None:
    found = words_of(unsampled(judging=Silent()), cases=21)
    assert any(words.startswith("judge: undecided, but every question has an answer") for words in found)


def test_two_faults_of_one_engine_are_two_findings() -> None:
    total = Tally()
    target = unsampled(engines=(Believer(),))
    for index in range(150):
        total.merge(target.run(case_at(target.selection, 1, index)))
    kinds = {key.partition(":")[0] for _, key in total.examples}
    assert {"Tiling", "SameAddresses", "SamePairs"} <= kinds
