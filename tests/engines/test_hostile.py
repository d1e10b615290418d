"""No engine is held up by the numbers of a question: the work is bounded before it is begun.

Each question is asked in this process under an alarm, so a hang is a failure and not a stuck run.
"""

from __future__ import annotations

import pytest

from tests.counting import no_hang
from tests.engines.conformance import NAMES, check_form, engine
from tests.engines.hostile import QUESTIONS, VIEWS
from verifier.answers import Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.obligations.questions import Packing, Tiling


@pytest.mark.parametrize("views", VIEWS)
@pytest.mark.parametrize("name", NAMES)
def test_every_engine_answers_hostile_questions(name: str, views: str) -> None:
    for question_name, question in QUESTIONS.items():
        if not question_name.endswith(f": {views}"):
            continue
        with no_hang():
            answer = engine(name).decide(question, Budget())
        check_form(name, answer)
        assert not isinstance(answer, Holds) or "unrelated" in views or "chain" in views, question_name


@pytest.mark.parametrize("name", ["auto", "boxes", "search", "isl"])
def test_axes_of_one_stride_are_refuted_at_once(name: str) -> None:
    """The repeated address is evident, wherever the least one may be."""
    for views in ("64 axes of stride 1", "32 axes of stride 1", "12 huge axes of one huge stride"):
        question = Packing(2**200, VIEWS[views])
        with no_hang():
            answer = engine(name).decide(question, Budget())
        assert isinstance(answer, Fails)
        assert answer.defect.place is not None


def test_what_boxes_cannot_list_it_still_refutes_without_the_least_place() -> None:
    answer = engine("boxes").decide(Tiling(100_000, VIEWS["32 axes of stride 1"]), Budget())
    assert isinstance(answer, Fails)
    assert not answer.defect.least


def test_listing_counts_the_axes_of_an_address() -> None:
    views = VIEWS["64 axes, most of extent 1"]
    answer = engine("enumerate").decide(Packing(100, views), Budget())
    assert isinstance(answer, Unknown)
    assert answer.code == "SM902"
