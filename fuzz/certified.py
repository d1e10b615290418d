"""Certificates of proved maps: accepted as they are, refused once a number of the map is wrong."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fuzz.walk import walk
from verifier.certificates.check import Rejected, check
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Form
from verifier.model.expectation import Expectation
from verifier.oracle.documents import map_from_document

TRIES = 6
"""Numbers changed before a map is given up on: many changes of one number leave it right."""

Path = tuple[str | int, ...]


def refusal(certificate: Certificate) -> str | None:
    """Why the checker refuses a certificate, None when it accepts it."""
    try:
        check(certificate.to_json())
    except Rejected as fault:
        return str(fault)
    return None


def with_evidence(certificate: Certificate, forms: Mapping[str, Form]) -> Certificate:
    """The certificate with the evidence that another engine gave, where it gave any."""
    return replace(certificate, evidence={**certificate.evidence, **forms})


def tampered(rng: random.Random, certificate: Certificate) -> dict[str, Any] | None:
    """The certificate with one number of its map changed so that the map is wrong, None if none was found.

    That the map is wrong says the walk.
    """
    document = certificate.to_json()
    numbers = list(_numbers(document["map"]))
    for path in rng.sample(numbers, min(TRIES, len(numbers))):
        changed = copy.deepcopy(document)
        _change(rng, changed["map"], path)
        if is_wrong(changed["map"], certificate.expectation):
            return changed
    return None


def is_wrong(document: Mapping[str, Any], expectation: Expectation) -> bool:
    """Whether a map, as JSON, exists and violates the expectation."""
    try:
        shard_map = map_from_document(document)
    except ValueError:
        return False
    return not walk(shard_map, expectation).ok


def accepted_though_wrong(document: Mapping[str, Any]) -> bool:
    """Whether the checker accepts the document without naming an assumption, such as the word of a solver."""
    try:
        assumptions = check(document)
    except Rejected:
        return False
    return not assumptions


def _numbers(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where the integers of a JSON value are, scales as "p/q" among them."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _numbers(item, (*path, at))
    elif isinstance(value, int) or path[-1] == "scale":
        yield path


def _change(rng: random.Random, document: Any, path: Path) -> None:
    for key in path[:-1]:
        document = document[key]
    value = document[path[-1]]
    if isinstance(value, str):
        numerator, _, denominator = value.partition("/")
        document[path[-1]] = f"{int(numerator) + 1}/{denominator}"
    else:
        document[path[-1]] = value + rng.choice((-3, -2, -1, -1, 1, 1, 2, 3))
