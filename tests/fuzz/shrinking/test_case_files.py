"""Case files: laid out as the corpus is, with the answer of the walk, each case once."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from fuzz.build import piece, shard_map
from fuzz.cases import Selection, case_at
from fuzz.shrinking.case_files import (
    CaseError,
    CaseFile,
    default_name,
    fingerprint,
    keep,
    right_answer,
    text_of,
)
from fuzz.walk import CODES, walk
from tests.cli.command import CORPUS
from tests.fuzz.liars import Believer
from verifier.audit.answering import Answering
from verifier.audit.check import Settings
from verifier.audit.corpus import replay_path
from verifier.formats import read
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap

READABLE = [path for path in sorted((CORPUS / "maps").glob("*.json")) if read(path).subjects]
SMALL = Selection(size=24)


def case(shard_map: ShardMap, expectation: Expectation | None = None, name: str = "a-case") -> CaseFile:
    expectation = expectation or Expectation()
    return CaseFile(
        name=name,
        what="What it is.",
        source="a test",
        shard_map=shard_map,
        expectation=expectation,
        expect=right_answer(shard_map, expectation),
    )


def overlap(second: int = 0) -> ShardMap:
    pieces = [piece([], (at, []), (cell, []), [0]) for at, cell in ((0, 0), (1, second))]
    return shard_map([2], {0: ([2], pieces)})


def test_the_layout_is_that_of_the_corpus() -> None:
    compared = 0
    for path in READABLE:
        text = path.read_text(encoding="utf-8")
        stated = json.loads(text)
        if "structural_verdict" in stated["expect"]:
            continue
        document = read(path)
        (subject,) = document.subjects
        assert document.expect is not None
        written = CaseFile(
            name=stated["name"],
            what=stated["what"],
            source=stated["source"],
            shard_map=subject.shard_map,
            expectation=subject.expectation,
            expect=document.expect,
        )
        assert text_of(written) == text, path.name
        compared += 1
    assert compared >= 20


def test_the_right_answer_is_the_one_that_the_corpus_states() -> None:
    compared = 0
    for path in READABLE:
        document = read(path)
        (subject,) = document.subjects
        assert document.expect is not None
        try:
            found = right_answer(subject.shard_map, subject.expectation)
        except ValueError:  # too large to be walked
            continue
        assert found.verdict == document.expect.verdict, path.name
        assert not document.expect.codes or set(found.codes) & set(document.expect.codes), path.name
        compared += 1
    assert compared >= 0.9 * len(READABLE)


def test_cases_of_a_campaign_replay_after_they_were_written(tmp_path: Path) -> None:
    written = 0
    for index in range(60):
        found = case_at(SMALL, 3, index)
        expect = right_answer(found.shard_map, found.expectation)
        name = default_name(found.shard_map, found.expectation, expect)
        try:
            kept = keep(case(found.shard_map, found.expectation, name), tmp_path)
        except CaseError:  # such as a third for a scale
            continue
        assert kept.new
        replayed = replay_path(kept.path, Settings(repair=False))
        assert replayed.agrees, f"{replayed.expected}, {replayed.got}"
        written += 1
    assert written == len(list(tmp_path.iterdir())) >= 30


def test_where_we_are_wrong_the_walk_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    lying = Answering(Believer(), Settings().budget)
    monkeypatch.setattr(Settings, "answering", lambda _: lying)
    expect = right_answer(overlap(), Expectation())
    families = walk(overlap(), Expectation()).families
    assert expect.verdict == "refuted"
    assert set(expect.codes) == {code for family in families for code in CODES[family]}


def test_a_case_is_written_once(tmp_path: Path) -> None:
    first = keep(case(overlap()), tmp_path)
    again = keep(case(overlap(), name="another-name"), tmp_path)
    assert first.new
    assert (again.path, again.new) == (first.path, False)
    assert [path.name for path in tmp_path.iterdir()] == ["a-case.json"]


def test_another_case_is_not_overwritten(tmp_path: Path) -> None:
    before = keep(case(overlap()), tmp_path).path.read_text()
    with pytest.raises(CaseError, match="another case"):
        keep(case(overlap(second=1)), tmp_path)
    assert (tmp_path / "a-case.json").read_text() == before


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "two words"])
def test_a_name_is_a_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(CaseError, match="is no name"):
        keep(case(overlap(), name=name), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("scale", "expectation"),
    [(Fraction(1, 3), Expectation()), (float("inf"), Expectation()), (1, Expectation(sum_ulps=0))],
)
def test_what_a_file_cannot_say_is_not_written(
    tmp_path: Path, scale: Fraction | float, expectation: Expectation
) -> None:
    whole = piece([2], (0, [1]), (0, [1]), [0], Fraction(1) if scale == 1 else scale)
    with pytest.raises(CaseError, match="cannot s"):
        keep(case(shard_map([2], {0: ([2], [whole])}), expectation), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_fingerprint_is_that_of_the_geometry() -> None:
    rng = random.Random(4)
    seen = set()
    for index in range(40):
        found = case_at(SMALL, 4, index)
        ranks = {
            rank: replace(shard, pieces=tuple(rng.sample(shard.pieces, len(shard.pieces))))
            for rank, shard in found.shard_map.ranks.items()
        }
        shuffled = replace(found.shard_map, name="other", ranks=ranks)
        identity = fingerprint(found.shard_map, found.expectation)
        assert fingerprint(shuffled, found.expectation) == identity
        seen.add(identity)
    assert len(seen) >= 39
    assert fingerprint(overlap(), Expectation()) != fingerprint(overlap(1), Expectation())
    assert fingerprint(overlap(), Expectation()) != fingerprint(overlap(), Expectation(cover=False))
