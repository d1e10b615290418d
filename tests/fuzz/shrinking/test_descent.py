"""Shrunk examples still show what they showed, are least, and are small."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from fuzz.build import piece, shard_map
from fuzz.cases import Selection, case_at
from fuzz.shrinking.answer import answer_to, shrink_answered
from fuzz.shrinking.descent import REDUCTIONS, shrink, steps
from fuzz.shrinking.example import Example
from fuzz.walk import walk
from fuzz.weight import weight
from verifier.audit.check import Settings
from verifier.audit.judge import judge
from verifier.model.expectation import Expectation
from verifier.verdicts import Refuted

WRONG = Selection(right=0.0, size=48)
CASES = 80
SMALL = {"SM101", "SM201", "SM203", "SM301"}


def primary(example: Example) -> str | None:
    verdict = judge(example.shard_map, example.expectation, Settings().answering()).verdict
    return verdict.witness.code if isinstance(verdict, Refuted) else None


@cache
def shrunk() -> list[tuple[str, Example, Example]]:
    """(primary code, example, its least one) of a sample of wrong maps."""
    found = []
    for index in range(CASES):
        case = case_at(WRONG, 1, index)
        example = Example(case.shard_map, case.expectation)
        code = primary(example)
        if code is not None:
            found.append((code, example, shrink(example, lambda smaller, c=code: primary(smaller) == c)))
    return found


def test_the_code_stays_and_the_weight_does_not_grow() -> None:
    for code, before, after in shrunk():
        assert primary(after) == code
        heavy, light = (weight(e.shard_map, e.expectation) for e in (before, after))
        assert light <= heavy


def test_no_reduction_helps_any_more() -> None:
    for code, _, after in shrunk():
        assert [step for step in steps(after) if primary(step) == code] == []


def test_examples_are_small() -> None:
    pieces = [(code, sum(1 for _ in after.shard_map.pieces())) for code, _, after in shrunk()]
    assert {code for code, _ in pieces} >= SMALL
    assert Counter(count <= 2 for code, count in pieces if code in SMALL)[False] == 0
    assert Counter(count <= 2 for _, count in pieces)[True] >= 0.95 * len(pieces)


def test_ranks_are_numbered_from_zero() -> None:
    for _, _, after in shrunk():
        assert list(after.shard_map.ranks) == list(range(len(after.shard_map.ranks)))


def test_what_is_not_shown_cannot_be_kept() -> None:
    with pytest.raises(ValueError, match="does not show"):
        shrink(Example(shard_map([2], {}), Expectation()), lambda _: False)


@pytest.mark.parametrize("tries", [0, 1, 7])
def test_tries_are_bounded(tries: int) -> None:
    case = case_at(WRONG, 1, 0)
    asked: list[Example] = []

    def still(example: Example) -> bool:
        asked.append(example)
        return primary(example) is not None

    assert primary(shrink(Example(case.shard_map, case.expectation), still, tries=tries)) is not None
    # The first example, and once more where it is taken apart.
    assert len(asked) <= tries + 2


def columns(ranks: int, rows: int, columns: int) -> dict[int, tuple[list[int], list]]:
    """Column-wise cut, as many columns on each rank."""
    width = columns // ranks
    return {
        rank: (
            [rows, width],
            [piece([rows, width], (rank * width, [columns, 1]), (0, [width, 1]), [rank])],
        )
        for rank in range(ranks)
    }


@pytest.mark.parametrize(("rows", "width"), [(4, 8), (4096, 11008)])
def test_a_pair_keeps_its_clean_map_right_whatever_its_size(rows: int, width: int) -> None:
    """Shifting a source by one column: two ranks of one element each show it."""
    clean = shard_map([rows, width], columns(4, rows, width))
    (first,) = clean.ranks[1].pieces
    shifted = replace(first, source=replace(first.source, offset=first.source.offset + 1))
    wrong = replace(clean, ranks={**clean.ranks, 1: replace(clean.ranks[1], pieces=(shifted,))})

    def still(example: Example) -> bool:
        """The clean map is right on two ranks or more, and the other one reads elements past its own."""
        assert example.clean is not None
        sound = answer_to(Example(example.clean, Expectation())).verdict == "proved"
        holders = [rank for rank, shard in example.clean.ranks.items() if shard.pieces]
        return sound and len(holders) >= 2 and primary(replace(example, clean=None)) == "SM301"

    after = shrink(Example(wrong, Expectation(), clean), still)
    assert still(after)
    assert 0 < after.defect <= Example(wrong, Expectation(), clean).defect
    assert after.clean is not None
    assert after.clean.numel == 2
    assert list(after.clean.ranks) == [0, 1]
    assert walk(after.clean, Expectation()).ok


def test_a_wrong_order_is_shown_against_a_right_reference() -> None:
    """Rows of a rank stored in another order: two elements show it, and the reference stays right."""
    rows = {0: ([6, 4], [piece([6, 4], (0, [4, 1]), (0, [4, 1]), [0])])}
    halves = [piece([3, 4], (12, [4, 1]), (0, [4, 1]), [0]), piece([3, 4], (0, [4, 1]), (12, [4, 1]), [0])]
    swapped = shard_map([6, 4], {0: ([6, 4], halves)})
    after = shrink_answered(Example(swapped, Expectation(reference=shard_map([6, 4], rows))))
    assert answer_to(after).primary == "SM501"
    assert after.shard_map.numel == 2
    assert after.expectation.reference is not None
    assert walk(after.expectation.reference, Expectation()).ok


def test_numbers_that_hardly_fit_are_no_obstacle() -> None:
    """Products and sums of what a map may hold are more than it may hold."""
    big, most = 2**126, 2**126 - 1
    pieces = [
        piece([big, big, 2], (most, [most, 2, 1]), (0, [most, most, most]), [0]),
        piece([big, big, 2], (most + 1, [most, 2, 1]), (most, [most, most, most]), [0]),
        piece([big], (0, [1]), (0, [1]), [0]),
        piece([big], (big, [1]), (big, [1]), [0]),
        piece([4], (0, [most]), (0, [1]), [0]),
    ]
    for listed in (pieces, [pieces[-1]] * 9):
        given = shard_map([big, big], {0: ([big, big], listed)})
        example = Example(given, Expectation(), given)
        for reduction in REDUCTIONS:  # none of them raises
            assert all(isinstance(made, Example) for made in islice(reduction(example), 60))
        assert shrink(example, lambda smaller, only=example: smaller is only, tries=50) is example


def test_what_is_proved_is_not_shrunk() -> None:
    right = Example(shard_map([4, 8], columns(2, 4, 8)), Expectation())
    assert shrink_answered(right) is right
