"""Triage: each finding of a campaign as the least example that still shows it, each example once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fuzz.build import piece, shard_map
from fuzz.cases import Case
from fuzz.consumers.classes import A_RIGHT_MAP
from fuzz.outcomes import DISAGREEMENT, Finding
from fuzz.shrinking.case_files import CaseFile, default_name, fingerprint, right_answer
from fuzz.shrinking.descent import shrink
from fuzz.shrinking.example import Example
from fuzz.target import Target
from fuzz.walk import walk
from verifier.model.expectation import Expectation
from verifier.model.piece import Scale
from verifier.model.shard_map import ShardMap

TRIES = 3_000
"""Most cases that a target is asked about for one finding."""
SECONDS = 900.0
"""After so long, a finding is left as small as it is by then: targets may take long to answer."""


@dataclass(frozen=True, slots=True)
class Triaged:
    """One example and what it shows.

    Attributes:
        finding: what the target says of the example; of several, the first.
        others: findings with other kinds or keys whose least example is the same one.
        reproduced: False where the target did not show the finding again: the example is as it was found.
    """

    finding: Finding
    example: Example
    reproduced: bool = True
    others: tuple[Finding, ...] = ()


def triage(findings: Iterable[Finding], target: Target, *, tries: int = TRIES) -> list[Triaged]:
    """The findings with least examples, equal examples once, in the order of the findings."""
    known: dict[str, Triaged] = {}
    for found in findings:
        triaged = least(found, target, tries=tries)
        identity = fingerprint(triaged.example.shard_map, _judged_under(triaged.example))
        if identity in known:
            first = known[identity]
            known[identity] = replace(first, others=(*first.others, found))
        else:
            known[identity] = triaged
    return list(known.values())


def least(found: Finding, target: Target, *, tries: int = TRIES) -> Triaged:
    """The least example on which the target gives a finding of the same kind and key.

    A map before the defect that was right stays right.
    """
    deadline = time.monotonic() + SECONDS
    for example in _starts(found):
        premise = _is_right(_clean(example), example)

        def still(smaller: Example, first: Example = example, premise: bool = premise) -> bool:
            if time.monotonic() > deadline and smaller is not first:
                return False
            right = not premise or _is_right(_clean(smaller), smaller)
            return right and _again(found, smaller, target) is not None

        if still(example):
            least_one = shrink(example, still, tries=tries)
            return Triaged(_again(found, least_one, target) or found, least_one)
    return Triaged(found, example_of(found), reproduced=False)


def _starts(found: Finding) -> Iterator[Example]:
    """What is tried: a disagreement, or what is found of a right map, may be about the map alone."""
    example = example_of(found)
    if example.clean is not None and (found.kind == DISAGREEMENT or _is_right(example.shard_map, example)):
        yield replace(example, clean=None)
    yield example


def _clean(example: Example) -> ShardMap:
    return example.shard_map if example.clean is None else example.clean


def _is_right(shard_map: ShardMap, example: Example) -> bool:
    return walk(shard_map, example.expectation).ok


def example_of(found: Finding) -> Example:
    """The maps of a finding, from its document."""
    document = found.document
    clean = _map_of(document["clean"], found.case) if "clean" in document else None
    expectation = _expectation_of(document["expectation"], found.case)
    return Example(_map_of(document["map"], found.case), expectation, clean)


def case_file(triaged: Triaged, target: Target, *, name: str | None = None) -> CaseFile:
    """The case for the corpus: where the map before the defect matters, it is the reference.

    Raises:
        ValueError: the map is too large to be walked.
    """
    found, example = triaged.finding, triaged.example
    expectation = _judged_under(example)
    mutant = found.mutant or A_RIGHT_MAP
    expect = right_answer(example.shard_map, expectation)
    return CaseFile(
        name=name or default_name(example.shard_map, expectation, expect),
        what=f"{target.name}, {found.kind}: {found.words}",
        source=f"shardproof fuzz, {target.version}, layout {found.layout}, mutant {mutant}",
        shard_map=example.shard_map,
        expectation=expectation,
        expect=expect,
    )


def _judged_under(example: Example) -> Expectation:
    if example.clean is None:
        return example.expectation
    return replace(example.expectation, reference=example.clean)


def _again(found: Finding, example: Example, target: Target) -> Finding | None:
    """The finding as the target gives it for an example, None if it does not."""
    case = Case(
        seed=found.seed,
        index=found.index,
        layout=found.layout,
        mutant=found.mutant,
        clean=_clean(example),
        shard_map=example.shard_map,
        expectation=example.expectation,
    )
    try:
        tally = target.run(case)
    except Exception:  # foreign code may fail on a map that no campaign has: that is not this finding
        return None
    return tally.examples.get((found.kind, found.key))


def _map_of(document: dict[str, Any], name: str) -> ShardMap:
    """A map from the form that certificates have."""
    shards = {
        int(rank): (
            shard["shard_shape"],
            [
                piece(p["shape"], p["source"], p["dest"], p["locations"], _scale_of(p.get("scale", "1/1")))
                for p in shard["pieces"]
            ],
        )
        for rank, shard in document["ranks"].items()
    }
    return shard_map(document["logical_shape"], shards, name)


def _expectation_of(document: dict[str, Any], name: str) -> Expectation:
    given = dict(document)
    if "reference" in given:
        given["reference"] = _map_of(given["reference"], name)
    if "scale" in given:
        given["scale"] = Fraction(given["scale"])
    if "gaps" in given:
        given["gaps"] = tuple(given["gaps"])
    if "holes" in given:
        given["holes"] = {int(rank): tuple(cells) for rank, cells in given["holes"].items()}
    return Expectation(**given)


def _scale_of(text: str) -> Scale:
    return Fraction(text) if "/" in text else float(text)
