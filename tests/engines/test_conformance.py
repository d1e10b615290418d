"""Every engine against the rules of ``conformance``, and the random questions against their own promises."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings

from tests.engines.conformance import (
    CLAIMS,
    KNOWN,
    NAMES,
    REFERENCE,
    STARVED,
    Known,
    check,
    check_form,
    engine,
)
from tests.engines.questions import GENERATORS, questions
from verifier.answers import Answer, Defect, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.certificates.forms import Cancellation
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import Question, SameAddresses, SamePairs, Tiling

SAMPLE = 80
"""Random questions of one type that shares are measured on."""


def sample(kind: str, count: int = SAMPLE) -> list[Question]:
    rng = random.Random(f"conformance {kind}")
    return [GENERATORS[kind](rng) for _ in range(count)]


def test_every_engine_makes_a_claim() -> None:
    assert set(CLAIMS) == set(NAMES)
    assert all(engine(name).name == name for name in NAMES)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
@pytest.mark.parametrize("name", NAMES)
def test_known_answers(name: str, known: Known) -> None:
    answer = engine(name).decide(known.question, Budget())
    check_form(name, answer)
    match answer:
        case Holds():
            assert known.defect is None
        case Fails(defect):
            assert known.defect is not None
            if defect.least:
                assert defect.place == known.defect.place
                assert defect.excess in (None, known.defect.excess)
        case Unknown(_, reason):
            assert name not in known.decided_by, reason
    if name in known.decided_by and known.defect is not None:
        assert isinstance(answer, Fails)
        assert answer.defect == known.defect


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_known_answers_are_those_of_the_reference(known: Known) -> None:
    answer = REFERENCE.decide(known.question, Budget())
    assert isinstance(answer, Unknown) == ("enumerate" not in known.decided_by)
    if isinstance(answer, Unknown):
        assert answer.code == "SM902"


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(question=questions())
def test_no_answer_contradicts_the_reference(name: str, question: Question) -> None:
    check(engine(name), question)


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("name", NAMES)
def test_claims(name: str, kind: str) -> None:
    answers = [check(engine(name), question) for question in sample(kind)]
    claim = CLAIMS[name].get(kind)
    decided = [answer for answer in answers if not isinstance(answer, Unknown)]
    if claim is None:
        assert not decided, f"{name} decides {kind} but does not claim to"
        return
    refuted = [answer for answer in decided if isinstance(answer, Fails)]
    assert 100 * len(decided) >= claim.decided * len(answers)
    assert refuted
    assert 100 * sum(answer.defect.least for answer in refuted) >= claim.least * len(refuted)
    assert name == "fingerprint" or len(refuted) < len(decided), "nothing was proved"


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("name", NAMES)
def test_a_starved_engine_is_undecided_not_wrong(name: str, kind: str) -> None:
    for question in sample(kind, 40):
        check(engine(name), question, STARVED)


@pytest.mark.parametrize("name", NAMES)
def test_answers_do_not_depend_on_what_was_asked_before(name: str) -> None:
    questions = [question for kind in GENERATORS for question in sample(kind, 8)]
    first = [check(engine(name), question) for question in questions]
    again = [check(engine(name), question) for question in reversed(questions)]
    assert again == first[::-1]


@pytest.mark.parametrize("kind", GENERATORS)
def test_random_questions_have_both_answers(kind: str) -> None:
    truths = Counter(type(REFERENCE.decide(question, Budget())) for question in sample(kind, 400))
    assert truths.keys() == {Holds, Fails}
    assert min(truths.values()) >= 0.25 * 400


def features(question: Question) -> set[str]:
    """What about the views of a question has tripped engines of this kind before."""
    found: set[str] = set()
    for view in views_of(question):
        strides = [abs(s) for n, s in zip(view.shape, view.strides, strict=True) if n > 1]
        found.update(
            name
            for name, present in (
                ("empty", view.is_empty),
                ("extent 1", 1 in view.shape),
                ("no axes", not view.shape),
                ("five axes", len(view.shape) == 5),
                ("negative stride", any(s < 0 for s in view.strides)),
                ("stride 0", 0 in strides),
                ("chain", len(strides) > 1 and is_chain(strides)),
                ("no chain", not is_chain(strides)),
                ("interleaved", is_interleaved(view)),
            )
            if present
        )
    return found


def is_chain(strides: Iterable[int]) -> bool:
    """Each stride divides the next larger one."""
    ordered = sorted(s for s in strides if s)
    return all(high % low == 0 for low, high in itertools.pairwise(ordered))


def is_interleaved(view: StridedView) -> bool:
    """Some axis steps by less than the axes below it reach, as where a block runs over the end of a row."""
    reach = 0
    for stride, extent in sorted((abs(s), n) for n, s in zip(view.shape, view.strides, strict=True) if n > 1):
        if stride and reach >= stride:
            return True
        reach += stride * (extent - 1)
    return False


def views_of(question: Question) -> tuple[StridedView, ...]:
    match question:
        case SamePairs(left_pairs, right_pairs):
            return tuple(view for pair in left_pairs + right_pairs for view in (pair.source, pair.dest))
        case SameAddresses(left, right):
            return left + right
        case _:
            return question.views


@pytest.mark.parametrize("kind", GENERATORS)
def test_random_questions_have_every_feature(kind: str) -> None:
    seen = Counter(feature for question in sample(kind, 400) for feature in features(question))
    expected = {
        "empty",
        "extent 1",
        "no axes",
        "five axes",
        "negative stride",
        "stride 0",
        "chain",
        "no chain",
        "interleaved",
    }
    if kind == "unit-boundaries":
        expected.discard("stride 0")  # its views are a set
    assert {feature for feature in expected if seen[feature] < 4} == set()


def test_true_tilings_come_in_many_pieces() -> None:
    tilings = [question for question in sample("tiling", 400) if isinstance(question, Tiling)]
    true = [q for q in tilings if isinstance(REFERENCE.decide(q, Budget()), Holds)]
    assert sum(len(q.views) >= 4 for q in true) >= 0.3 * len(true)


@dataclass(frozen=True, slots=True)
class Fixed:
    """An engine that says the same of every question."""

    answer: Answer
    name: str = "fixed"

    def decide(self, question: Question, budget: Budget) -> Answer:
        return self.answer


HOLE_AT_2 = Tiling(4, (StridedView(0, (2,), (1,)), StridedView(0, (0,), (1,))))
WHOLE = Tiling(4, (StridedView(0, (4,), (1,)),))


@pytest.mark.parametrize(
    ("question", "answer", "complaint"),
    [
        (HOLE_AT_2, Holds(Cancellation(), "fixed"), "proved what is false"),
        (WHOLE, Fails(Defect(None, None, least=False), "fixed"), "refuted what is true"),
        (HOLE_AT_2, Fails(Defect((1,), -1, least=False), "fixed"), "not defective"),
        (HOLE_AT_2, Fails(Defect((2,), -2, least=False), "fixed"), "the excess there is -1"),
        (HOLE_AT_2, Fails(Defect((3,), -1, least=True), "fixed"), "not the least"),
        (HOLE_AT_2, Fails(Defect(None, None, least=True), "fixed"), "no place the least"),
        (HOLE_AT_2, Fails(Defect((2,), -1, least=True), "other"), "signs as other"),
        (HOLE_AT_2, Unknown("SM203", "no idea", "fixed"), "code SM203"),
        (HOLE_AT_2, Unknown("SM901", " ", "fixed"), "without a reason"),
    ],
)
def test_the_rules_catch_a_liar(question: Question, answer: Answer, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check(Fixed(answer), question)
