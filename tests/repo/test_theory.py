"""docs/theory.md and the code agree: citations resolve, and statements are used where they say so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from verifier.diagnostics.codes import CODES

ROOT = Path(__file__).resolve().parents[2]
THEORY = ROOT / "docs" / "theory.md"

HEADING = re.compile(r"^## T(\d+) (\S.*)$", re.MULTILINE)
FIELDS = ("Hypothesis", "Statement", "Proof", "Used by")
PROOF_WORDS = 270
"""Half a printed page. A longer proof wants a lemma."""

CITATION = re.compile(r"Theory:((?:(?!\n\s*\n|\"\"\"|\.\s).)*)", re.DOTALL)
"""From the word to the end of the sentence, the paragraph or the docstring."""
NUMBERS = re.compile(r"\bT(\d+)(?:(?:-|\s+to\s+)T(\d+))?\b")
"""One statement, or a range: T3, T3-T5, T3 to T5."""
TEST_NAME = re.compile(r"\bdef test_\w*?T(\d+)(?!\d)")
MODULE = re.compile(r"`((?:verifier|fuzz|tests|corpora|docs|reports)(?:[/.][\w.-]+)*/?)`")


def statements() -> dict[int, str]:
    """Number to text of every statement, in the order of the document."""
    parts = HEADING.split(THEORY.read_text(encoding="utf-8"))
    return {int(number): body for number, body in zip(parts[1::3], parts[3::3], strict=True)}


def field(body: str, name: str) -> str:
    """The text after a bold field name, up to the next bold name at the start of a line."""
    found = re.search(rf"^\*\*{name}\b\.?\*\*(.*?)(?=^\*\*[A-Z]|\Z)", body, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else ""


def numbers_in(text: str) -> set[int]:
    """The statement numbers named in a text, ranges filled in."""
    return {number for low, high in NUMBERS.findall(text) for number in range(int(low), int(high or low) + 1)}


def citations(text: str) -> list[set[int]]:
    """The statement numbers of each citation in the text of a module."""
    return [numbers_in(found) for found in CITATION.findall(text)]


def sources(*folders: str) -> Iterator[Path]:
    """The Python files of the folders, save this one: the citations in it are examples."""
    for folder in folders:
        yield from sorted(path for path in (ROOT / folder).rglob("*.py") if path != Path(__file__).resolve())


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def cited_in(path: Path) -> set[int]:
    return set().union(*citations(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Theory: T4.", [{4}]),
        ("Theory: T1 (normal form), T12 (hull).\nT5 is not cited here", [{1, 12}]),
        ("Theory: T3 to T5 (least address),\n    T14. T6", [{3, 4, 5, 14}]),
        ("Theory: T3-T5, T8", [{3, 4, 5, 8}]),
        ("Theory: T10 conditions 3 to 5.\n\nTheory: T2", [{10}, {2}]),
        ("Theory: nothing", [set()]),
        ('"""Why. Theory: T9."""\nT7 = 1', [{9}]),
        ("no theory, T3", []),
    ],
)
def test_citations_are_read_as_written(text: str, expected: list[set[int]]) -> None:
    assert citations(text) == expected


def test_statements_are_numbered_from_1_without_a_gap() -> None:
    numbers = [int(number) for number, _ in HEADING.findall(THEORY.read_text(encoding="utf-8"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers, "no statement found"


def test_no_heading_escapes_the_numbering() -> None:
    headings = re.findall(r"^##? .*$", THEORY.read_text(encoding="utf-8"), re.MULTILINE)
    assert [h for h in headings if not HEADING.match(h)] == ["# Theory", "## Conventions"]


def test_every_statement_has_its_fields_in_order() -> None:
    for number, body in statements().items():
        assert all(field(body, name) for name in FIELDS), f"T{number} lacks a field"
        places = [body.index(f"**{name}") for name in FIELDS]
        assert all(a < b for a, b in pairwise(places)), f"T{number} has its fields out of order"


def test_every_proof_is_closed_and_at_most_half_a_page() -> None:
    for number, body in statements().items():
        proof = field(body, "Proof").split("[]")
        assert len(proof) == 2, f"the proof of T{number} does not end in one []"
        assert len(proof[0].split()) <= PROOF_WORDS, f"the proof of T{number} is too long"


def test_every_citation_resolves() -> None:
    known = set(statements())
    for path in sources("verifier", "fuzz", "tests"):
        for cited in citations(path.read_text(encoding="utf-8")):
            assert cited, f"{named(path)} has a citation without a number"
            assert cited <= known, f"{named(path)} cites unknown {sorted(cited - known)}"


def test_every_statement_named_in_a_document_exists() -> None:
    known = set(statements())
    for path in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("verifier/**/*.md"), ROOT / "README.md"]:
        if path.exists():
            unknown = numbers_in(path.read_text(encoding="utf-8")) - known
            assert not unknown, f"{named(path)} names unknown {sorted(unknown)}"


def test_every_code_rests_on_statements_that_exist() -> None:
    names = {f"T{number}" for number in statements()}
    for code in CODES:
        assert set(code.theory) <= names, code.code


def test_every_statement_is_cited() -> None:
    cited: set[int] = set()
    for path in sources("verifier", "fuzz", "tests"):
        cited |= cited_in(path)
    for path in sources("tests"):
        cited |= {int(number) for number in TEST_NAME.findall(path.read_text(encoding="utf-8"))}
    uncited = sorted(set(statements()) - cited)
    assert not uncited, f"no module or test cites {uncited}"


def test_every_statement_is_cited_where_it_says_it_is_used() -> None:
    for number, body in statements().items():
        users = MODULE.findall(field(body, "Used by"))
        assert users, f"T{number} names no module"
        for user in users:
            place = ROOT / user
            files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
            assert any(file.exists() and number in cited_in(file) for file in files), f"T{number} in {user}"


def test_documents_name_no_unknown_module() -> None:
    for path in sorted(ROOT.glob("docs/**/*.md")):
        for name in MODULE.findall(path.read_text(encoding="utf-8")):
            as_module = name if "/" in name else name.replace(".", "/")
            found = [ROOT / as_module, ROOT / f"{as_module}.py"]
            assert any(place.exists() for place in found), f"{named(path)} names {name}"
