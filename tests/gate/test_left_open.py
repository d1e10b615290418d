"""What a run leaves open is said: without a reference, and wherever something was not settled."""

from dataclasses import replace
from itertools import pairwise

import pytest

from verifier import Expectation, ShardMap, check_map
from verifier.audit.references import NO_REFERENCE
from verifier.diagnostics.report import Obligations, Report, Subject, SubjectVerdict
from verifier.gate.not_intended import without_reference
from verifier.layouts import contiguous
from verifier.render.lines import again_wrapped, wrapped
from verifier.render.summary import summary_text


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        (("proved",), True),
        (("proved", "refuted"), True),
        (("proved", "undecided"), False),
        (("refuted", "undecided"), False),
        (("refuted", "unreadable"), False),
        (("unreadable",), False),
        (("proved", "unchecked"), False),
        ((), False),
    ],
)
def test_nothing_is_left_unchecked_where_everything_was_settled_only(
    verdicts: tuple[SubjectVerdict, ...], whole: bool
) -> None:
    subjects = [
        Subject(name=one, kind="constructor", verdict=one, obligations=Obligations(proved=1))
        for one in verdicts
    ]
    text = summary_text(Report(tool={"name": "shardproof"}, subjects=tuple(subjects)))
    assert text.endswith("; nothing left unchecked") == whole


def test_constructors_without_a_reference_are_counted() -> None:
    assert without_reference(0, 3) == ()
    assert without_reference(1, 1) == (NO_REFERENCE,)
    assert "whether 1 of 2 constructors make" in without_reference(1, 2)[0]
    assert "whether all 2 constructors make" in without_reference(2, 2)[0]


def test_lines_that_get_less_room_do_not_end_in_the_middle() -> None:
    first, *rest = wrapped("a sentence " * 20, 30)
    lines = again_wrapped(rest, 26)
    assert len(first) <= 30
    assert all(len(f"{one} {two.split()[0]}") > 26 for one, two in pairwise(lines))


def test_the_picture_marks_the_cell_that_differs_from_the_reference() -> None:
    turned = check_map(
        contiguous((4,), [2, 2]), expectation=Expectation(reference=exchanged(contiguous((4,), [2, 2])))
    ).findings[0][1]
    assert turned.picture is not None
    marks = [mark for row in turned.picture.rows for mark in row.cells]
    assert marks.count("!") == 1
    assert turned.picture.legend[0] == ("!", "the reference has another element here")


def exchanged(shard_map: ShardMap) -> ShardMap:
    """The map with the shards of its two ranks exchanged."""
    first, second = shard_map.ranks.values()
    ranks = {
        rank: replace(shard, pieces=tuple(replace(piece, locations=(rank,)) for piece in shard.pieces))
        for rank, shard in ((0, second), (1, first))
    }
    return replace(shard_map, ranks=ranks)
