"""Cases in chunks, and the defects that chunks can have."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from fuzz.build import piece, shard_map
from fuzz.cases import Case, Selection, case_at
from fuzz.consumers.boxes import Box, Chunk, Misfilled, chunks_of, misfilled
from fuzz.consumers.chunked import DEFECTS, Chunked, Inexpressible, chunked, map_of
from fuzz.consumers.classes import Class
from fuzz.consumers.strict import Attempt
from fuzz.outcomes import REFUSED_RIGHT, SILENT, Tally
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap

SELECTION = Selection(size=60)
QUARTERS = tuple(Chunk(rank, Box((rank // 2 * 3, rank % 2 * 2), (3, 2))) for rank in range(4))
SHAPE = (6, 4)


def two_halves(*, second: int = 2) -> ShardMap:
    pieces = [piece([2], (start, [1]), (0, [1]), [rank]) for rank, start in enumerate((0, second))]
    return shard_map([4], {rank: ([2], [one]) for rank, one in enumerate(pieces)})


def case_of(clean: ShardMap, given: ShardMap, mutant: str | None = "shift-source") -> Case:
    return Case(1, 7, "row", mutant, clean, given, Expectation())


def test_a_map_of_chunks_has_these_chunks() -> None:
    assert chunks_of(map_of(SHAPE, QUARTERS, "w")) == QUARTERS


@pytest.mark.parametrize("name", sorted(DEFECTS))
def test_a_defect_changes_one_chunk_and_only_an_empty_chunk_is_none(name: str) -> None:
    for seed in range(40):
        chunks = DEFECTS[name](random.Random(seed), SHAPE, QUARTERS)
        assert chunks is not None
        assert sum((Counter(QUARTERS) - Counter(chunks)).values()) <= 1
        assert sum((Counter(chunks) - Counter(QUARTERS)).values()) <= 1
        assert chunks != QUARTERS
        wrong = misfilled([chunk.box for chunk in chunks], SHAPE)
        assert (wrong is None) == (name == "empty-chunk")


def test_a_case_without_a_defect_gets_one_in_a_chunk_that_can_be_made_again() -> None:
    seen: Counter[str] = Counter()
    unsaid = 0
    for index in range(400):
        case = case_at(SELECTION, 3, index)
        found = chunked(case)
        if isinstance(found, Inexpressible) or found[0].case.mutant is not None:
            continue
        itself, *corrupted = found
        assert itself.wrong is None
        for one in corrupted:
            assert one.case.mutant is not None
            seen[one.case.mutant] += 1
            assert one.clean == itself.chunks != one.chunks
            again = chunked(one.case)
            assert isinstance(again, tuple)
            assert again[-1] == one
            said = chunks_of(one.case.shard_map) == one.chunks
            assert len(again) == (1 if said else 2)
            unsaid += not said
    assert seen.keys() == DEFECTS.keys()
    assert unsaid > 5


def test_a_defect_where_chunks_do_not_look_is_none() -> None:
    clean = two_halves()
    moved = replace(clean.ranks[1], shard_shape=(9,))
    given = replace(clean, ranks={**clean.ranks, 1: moved})
    found = chunked(case_of(clean, given, "shard-size"))
    assert isinstance(found, tuple)
    itself, corrupted = found
    assert (itself.case.mutant, itself.wrong) == (None, None)
    assert corrupted.case.mutant in DEFECTS


def test_a_defect_of_the_map_is_walked() -> None:
    found = chunked(case_of(two_halves(), two_halves(second=1)))
    assert isinstance(found, tuple)
    (one,) = found
    assert isinstance(one, Chunked)
    assert (one.wrong, one.case.mutant) == (Misfilled((1,), 2), "shift-source")


@pytest.mark.parametrize(
    ("clean", "given", "reason"),
    [
        (two_halves(), shard_map([4], {0: ([4], [])}), "no chunk at all"),
        (two_halves(), two_halves(second=2**63), "past 64 bits"),
        (
            shard_map([4], {0: ([4], [piece([2, 2], (0, [1, 1]), (0, [2, 1]), [0])])}),
            two_halves(),
            "not row-major of the parameter",
        ),
    ],
)
def test_what_cannot_be_said_in_chunks(clean: ShardMap, given: ShardMap, reason: str) -> None:
    assert chunked(case_of(clean, given)) == Inexpressible(reason)


@pytest.mark.parametrize(
    "waiver", [Expectation(lookup=True), Expectation(cover=False), Expectation(gaps=(1,))]
)
def test_maps_that_need_not_fill_the_parameter_are_left_out(waiver: Expectation) -> None:
    case = replace(case_of(two_halves(), two_halves(), None), expectation=waiver)
    assert chunked(case) == Inexpressible("elements that nobody needs to hold")


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        (2, "right chunks"),
        (1, "an element in several chunks"),
        (0, "an element in several chunks"),
        (3, "an element in no chunk"),
        (-1, "an element outside"),
    ],
)
def test_findings_about_chunks_say_what_is_wrong_with_them(second: int, kind: str) -> None:
    found = chunked(case_of(two_halves(second=2), two_halves(second=second)))
    assert isinstance(found, tuple)
    right = found[0].wrong is None
    klass = Class.REFUSED_RIGHT if right else Class.SILENT
    tally = Tally()
    found[0].judge(tally, "check", Attempt(klass, uninitialised=False, words="words"))
    mutant = "" if right else " shift-source"
    assert [one.key for one in tally.findings(REFUSED_RIGHT, SILENT)] == [f"check{mutant}: {kind}"]
