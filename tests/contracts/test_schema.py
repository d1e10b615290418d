"""The published schema is that of the reader, and both refuse the same values."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from tests.cli.command import CORPUS, ROOT
from tests.contracts.damaging import damaged
from verifier.contracts.decoding import decode_contract
from verifier.contracts.known import known_document, known_names
from verifier.contracts.reading import Notes, Value
from verifier.contracts.schema import contract_schema

PUBLISHED = ROOT / "docs" / "contract.schema.json"
CASES = sorted((CORPUS / "contracts" / "cases").glob("*.json"))


@cache
def validator() -> Draft202012Validator:
    schema = contract_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def contracts() -> list[object]:
    cases = [json.loads(path.read_text()) for path in CASES]
    return [
        case["contract"] for case in cases if "contract" in case and case["expect"]["verdict"] != "invalid"
    ]


def type_rules(document: object) -> list[str]:
    """What the reader says of single values; an unknown member is only a remark, but is not in the schema."""
    notes = Notes()
    decode_contract(Value(document, "", notes))
    return [found.rule for found in notes.broken]


def test_the_published_schema_is_current() -> None:
    assert json.loads(PUBLISHED.read_text()) == contract_schema()


@pytest.mark.parametrize("name", known_names())
def test_the_schema_accepts_the_known_contracts(name: str) -> None:
    validator().validate(known_document(name))


def members(schema: object) -> Iterator[tuple[str, object]]:
    """Every member of every object in a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield from schema["properties"].items()
        for inner in schema.values():
            yield from members(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from members(inner)


def test_every_member_is_described() -> None:
    found = [*members(contract_schema())]
    assert len(found) > 70
    for name, schema in found:
        assert isinstance(schema, dict)
        assert len(str(schema.get("description", "")).split()) > 1, name


def has_odd_number(document: object) -> bool:
    """What JSON Schema takes for an integer and the reader does not, or is too long for its messages."""
    match document:
        case float():
            return document.is_integer()
        case int():
            return abs(document) > 10**100
        case dict():
            return any(map(has_odd_number, document.values()))
        case list():
            return any(map(has_odd_number, document))
    return False


SETS = ("R50", "R53", "N2")
"""Rules of the reader that a schema of single values cannot state: no repetition, an update or children."""


def test_schema_and_reader_refuse_the_same_documents() -> None:
    rng = random.Random(11)
    documents = [*contracts(), *map(known_document, known_names())]
    agreed = 0
    for _ in range(1000):
        document = damaged(rng, rng.choice(documents))
        if has_odd_number(document):
            continue
        fits, rules = validator().is_valid(document), type_rules(document)
        if fits:
            assert set(rules) <= {*SETS}, (rules, document)
        else:
            assert rules, [error.message for error in validator().iter_errors(document)]
        agreed += not fits
    assert agreed > 500
