"""The target ``certificates``: an edited certificate is refused, or its map is right by a walk.

An edit of the evidence may be refused or not; the checker must never accept a wrong map unless it names what
it takes on trust, and must raise nothing but ``Rejected``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fuzz.certified import with_evidence
from fuzz.targets.bytes_random import SMALL, BytesRandom, case_from
from fuzz.targets.edits import edited, edited_bytes
from fuzz.targets.fault import Fault, demand
from fuzz.targets.map_documents import is_small
from fuzz.walk import walk
from verifier.answers import Holds
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.certificates.check import Rejected, check_text
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Form
from verifier.engines.registry import engine_named
from verifier.model.expectation import MOST_INDEX_BITS, Expectation
from verifier.model.numbers import NUMBER_LIMIT
from verifier.model.piece import SCALE_BITS
from verifier.obligations.catalogue import obligations
from verifier.obligations.obligation import Unposed
from verifier.oracle.documents import map_from_document
from verifier.verdicts import Proved

RIGHT = replace(SMALL, right=1.0)
BUDGET = Budget().scaled(1 / 50)
ENGINES = ("cancel", "boxes", "search", "enumerate")
FORMS: tuple[dict[str, object], ...] = (
    {"form": "cancellation"},
    {"form": "pairs", "work": 0},
    {"form": "pairs", "work": 10**6},
    {"form": "solver-claim", "solver": "z3", "version": "4"},
)


def one_input(data: bytes) -> None:
    """Check one certificate, by its first byte raw bytes or that of a right map with edits.

    Raises:
        Fault: a certificate that was not edited is refused, or one of a wrong map is accepted. Whatever else
            comes out of the checker is a fault, too.
    """
    rng = BytesRandom(data)
    if rng.getrandbits(3) == 7:
        _check(rng.rest().decode("utf-8", "surrogateescape"))
        return
    edits, on_evidence, on_text = rng.getrandbits(2), rng.getrandbits(2), rng.choice((0, 0, 0, 1))
    certificate = _certificate(rng)
    if certificate is None:
        return
    document = edited(rng, certificate.to_json(), edits)
    if on_evidence:
        names = [
            obligation.name for obligation in obligations(certificate.shard_map, certificate.expectation)
        ]
        _edit_evidence(rng, document, names, on_evidence)
    text = edited_bytes(rng, json.dumps(document).encode(), on_text).decode("utf-8", "surrogateescape")
    reason = _check(text)
    if not (edits or on_evidence or on_text):
        demand(reason is None, "a proof is refused, {}; {}", reason, text)


def _certificate(rng: BytesRandom) -> Certificate | None:
    """The certificate of a right map, with the evidence of any engine; None where a proof takes longer."""
    case = case_from(rng, RIGHT)
    verdict = judge(case.shard_map, case.expectation, Answering(engine_named("auto"), BUDGET)).verdict
    if not isinstance(verdict, Proved):
        return None
    engine = engine_named(rng.choice(ENGINES))
    forms: dict[str, Form] = {}
    for obligation in obligations(case.shard_map, case.expectation):
        if not isinstance(obligation.question, Unposed):
            answer = engine.decide(obligation.question, BUDGET)
            if isinstance(answer, Holds):
                forms[obligation.name] = answer.form
    return with_evidence(verdict.certificate, forms)


def _edit_evidence(rng: BytesRandom, document: Any, names: list[str], edits: int) -> None:
    match document:
        case {"evidence": dict(evidence)} if names:
            for _ in range(edits):
                evidence[rng.choice(names)] = rng.choice(FORMS)


def _check(text: str) -> str | None:
    """Why the checker refuses the text, None when it accepts. What it accepts must be right."""
    try:
        assumptions = check_text(text)
    except Rejected as rejected:
        return str(rejected)
    document = json.loads(text)
    if assumptions:
        claimed = [form for form in document["evidence"].values() if form["form"] == "solver-claim"]
        demand(claimed, "assumptions without a claim: {}", assumptions)
        return None
    if not _is_past_the_model(document):
        try:
            shard_map, expectation = map_from_document(document["map"]), _expectation(document["expectation"])
        except (TypeError, ValueError) as refused:
            raise Fault(f"accepted, but it holds no map: {refused}; {text}") from refused
        if is_small(shard_map, expectation):
            walked = walk(shard_map, expectation)
            demand(walked.ok, "accepted, but the walk finds {}; {}", walked.violations[:1], text)
    return None


def _is_past_the_model(value: Any) -> bool:
    """Whether a number is larger than any of a map: in a piece without elements the checker lets it stand."""
    match value:
        case dict() | list():
            return any(map(_is_past_the_model, value.values() if isinstance(value, dict) else value))
        case int():
            return abs(value) >= NUMBER_LIMIT
        case str() if "/" in value:
            return any(len(part) > SCALE_BITS * 0.3 for part in value.split("/"))
    return False


def _expectation(document: Mapping[str, Any]) -> Expectation:
    """What a certificate that was accepted states, its lists in order and its index width one that counts."""
    given = dict(document)
    if "reference" in given:
        given["reference"] = map_from_document(given["reference"])
    if "holes" in given:
        given["holes"] = {int(rank): tuple(sorted({*cells})) for rank, cells in given["holes"].items()}
    if "gaps" in given:
        given["gaps"] = tuple(sorted({*given["gaps"]}))
    if "scale" in given:
        given["scale"] = Fraction(given["scale"])
    given["index_bits"] = min(given.get("index_bits", MOST_INDEX_BITS), MOST_INDEX_BITS)
    return Expectation(**given)
