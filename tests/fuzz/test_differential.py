"""A fixed sample of the differential campaign, and whether the campaign notices an engine that lies."""

from pathlib import Path

import pytest

from fuzz import differential
from fuzz.campaign import Campaign
from fuzz.cases import KINDS, case_at
from fuzz.mutants import MUTANTS
from fuzz.trial import Plan, run
from tests.fuzz.liars import LIARS, Believer, Doubter, Misplacer
from verifier.engine import Engine

MAPS = 2_016
SEED = 20
SIZE = 80


@pytest.fixture(scope="module")
def sample() -> Campaign:
    plan = Plan(smt_every=24, oracle_every=8, tamper_every=2)
    return differential.campaign(MAPS, seed=SEED, size=SIZE, plan=plan)


def test_nothing_disagrees(sample: Campaign) -> None:
    assert [f"{d.case} {d.kind} {d.mutant}: {d.words}" for d in sample.disagreements] == []


def test_both_answers_have_their_share(sample: Campaign) -> None:
    assert sum(sample.row("map").values()) == MAPS
    assert min(sample.row("map").values()) >= 0.3 * MAPS
    assert sample.row("verdict").get("undecided", 0) <= 0.01 * MAPS


def test_every_kind_and_every_mutant_occurs(sample: Campaign) -> None:
    assert set(sample.row("kind")) == set(KINDS)
    assert set(sample.row("mutant")) == {*MUTANTS, "none"}
    assert sample.row("mutant", "none") == {"right": sample.row("mutant")["none"]}


def test_every_kind_is_seen_right_and_wrong(sample: Campaign) -> None:
    assert all(min(sample.row("kind", kind).get(w, 0) for w in ("right", "wrong")) >= 5 for kind in KINDS)


def test_every_engine_gives_both_answers(sample: Campaign) -> None:
    for engine in ("cancel", "boxes", "search", "enumerate", "smt"):
        assert min(sample.row("engine", engine).get(word, 0) for word in ("holds", "fails")) >= 20, engine
    assert sample.row("engine", "fingerprint").get("fails", 0) >= 20


def test_every_question_is_asked_with_both_answers(sample: Campaign) -> None:
    for question in ("Tiling", "Packing", "SameAddresses", "SamePairs", "UnitBoundaries"):
        found = sample.row("question", question)
        assert min(found.get(word, 0) for word in ("holds", "fails")) >= 3, question


def test_certificates_of_every_engine_are_tampered_with(sample: Campaign) -> None:
    for engine in ("auto", "cancel", "boxes", "search", "enumerate"):
        assert sample.row("certificate", engine).get("tampered", 0) >= 10, engine


def test_torch_sees_every_kind(sample: Campaign) -> None:
    assert set(sample.row("oracle")) == set(KINDS)


def test_the_number_of_processes_changes_nothing() -> None:
    one, two = (
        differential.campaign(differential.CHUNK + 7, seed=3, size=40, plan=Plan(), jobs=jobs)
        for jobs in (1, 2)
    )
    assert one.counts == two.counts
    assert one.disagreements == two.disagreements


def test_a_case_is_made_again_by_its_name() -> None:
    assert case_at(5, 77) == case_at(5, 77)
    assert case_at(5, 77) != case_at(6, 77)


@pytest.mark.parametrize("liar", LIARS, ids=lambda liar: liar.name)
def test_a_lying_engine_is_noticed_on_its_questions(liar: Engine) -> None:
    found = [
        words
        for index in range(150)
        for words in run(case_at(1, index, 60), Plan(engines=(liar,))).disagreements
    ]
    assert any(words.startswith(f"{liar.name}: ") for words in found)


@pytest.mark.parametrize("liar", [Believer(), Doubter(), Misplacer()], ids=lambda liar: liar.name)
def test_a_judge_that_believes_a_lying_engine_is_noticed(liar: Engine) -> None:
    plan = Plan(engines=(), judging=liar)
    found = [words for index in range(150) for words in run(case_at(1, index, 60), plan).disagreements]
    assert any(words.startswith("judge: ") for words in found)


def test_the_checker_refuses_what_a_lying_engine_proved() -> None:
    plan = Plan(engines=(), judging=Believer())
    found = [words for index in range(150) for words in run(case_at(1, index, 60), plan).disagreements]
    assert any(words.startswith("certificate with evidence of auto refused") for words in found)


def test_the_command_writes_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--maps", "42", "--size", "30", "--smt-every", "0", "--oracle-every", "0"]
    status = differential.main([*arguments, "--report", "first.md"])
    differential.main([*arguments, "--report", "first2.md"])
    first, second = (Path(name).read_text("utf-8") for name in ("first.md", "first2.md"))
    assert status in (0, differential.DISAGREED)
    assert "--maps 42" in first
    assert first.splitlines()[4:-1] == second.splitlines()[4:-1]
    assert Path("first.json").read_bytes() == Path("first2.json").read_bytes()


def test_a_disagreement_ends_with_its_own_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(differential, "Plan", lambda *every: Plan(*every, engines=(Believer(),)))
    status = differential.main(["--maps", "42", "--size", "30", "--smt-every", "0", "--oracle-every", "0"])
    assert status == differential.DISAGREED
    assert "believer: holds, but the count at" in capsys.readouterr().out
