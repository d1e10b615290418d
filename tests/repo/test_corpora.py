"""The corpus: every case can be read and states its answer; what campaigns found is as small as it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.shrinking.answer import answer_to
from fuzz.shrinking.descent import steps
from fuzz.shrinking.example import Example
from tests.cli.command import CORPUS
from verifier.audit.corpus import case_files
from verifier.diagnostics.codes import find_code
from verifier.formats import read

FOLDERS = ("maps", "found")
CASES = [path for folder in FOLDERS for path in case_files(CORPUS / folder)]
MOST_PIECES = 8
"""Of a case that a campaign found: one map, and its reference apart."""


def smaller_steps(path: Path) -> list[Example]:
    """What one reduction makes of a case with the same answer to it."""
    (subject,) = read(path).subjects
    example = Example(subject.shard_map, subject.expectation)
    answer = answer_to(example)
    return [step for step in steps(example) if answer_to(step) == answer]


def test_every_case_is_readable_and_states_its_answer() -> None:
    names = []
    for path in CASES:
        document = read(path)
        assert document.kind == "case", path
        assert document.expect is not None, path
        assert bool(document.expect.codes) == (document.expect.verdict != "proved"), path
        assert all(find_code(code) is not None for code in document.expect.codes), path
        assert len(document.subjects) + len(document.refusals) == 1, path
        names.append(path.stem)
    assert len(names) == len(set(names)) >= 150


@pytest.mark.parametrize("path", sorted((CORPUS / "found").glob("*.json")), ids=lambda path: path.stem)
def test_what_was_found_is_a_local_minimum(path: Path) -> None:
    assert smaller_steps(path) == []


@pytest.mark.parametrize("path", sorted((CORPUS / "found").glob("*/*.json")), ids=lambda path: path.stem)
def test_what_a_target_shows_is_small(path: Path) -> None:
    (subject,) = read(path).subjects
    assert sum(1 for _ in subject.shard_map.pieces()) <= MOST_PIECES


def test_a_case_that_could_be_smaller_is_noticed() -> None:
    assert smaller_steps(CORPUS / "maps" / "dest-collision-columns.json") != []


def test_every_folder_is_described() -> None:
    text = (CORPUS / "README.md").read_text(encoding="utf-8")
    folders = {path.name for path in CORPUS.iterdir() if path.is_dir()}
    assert {name for name in folders if f"`{name}/`" not in text} == set()
