"""Findings become least examples that the target still shows, each once."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.cases import Case, Selection, case_at
from fuzz.consumers.function import FunctionTarget
from fuzz.outcomes import DISAGREEMENT, SILENT, Finding, Tally, finding
from fuzz.prover import ProverTarget
from fuzz.shrinking.case_files import keep
from fuzz.shrinking.triage import case_file, example_of, least, triage
from fuzz.walk import walk
from tests.fuzz.liars import Believer, Doubter, Misplacer
from verifier.audit.check import Settings
from verifier.audit.corpus import replay_path
from verifier.certificates.encode import Certificate, map_to_json
from verifier.engine import Engine
from verifier.model.expectation import Expectation

SMALL = Selection(size=24)


def prover(judging: Engine) -> ProverTarget:
    return ProverTarget(smt_every=0, oracle_every=0, tamper_every=0, drawing_every=0, judging=judging)


@dataclass(frozen=True)
class Swallower:
    """Takes every sound map that is another function than its clean one."""

    name: str = "swallower"
    version: str = "swallower 1"
    selection: Selection = SMALL
    kinds: tuple[str, ...] = ("first", "second")

    def run(self, case: Case) -> Tally:
        found = Tally()
        sound = walk(case.shard_map, Expectation()).ok
        if sound and not walk(case.shard_map, Expectation(reference=case.clean)).ok:
            for key in self.kinds:
                found.note(finding(case, SILENT, key, f"took {len(case.shard_map.ranks)} ranks"))
        return found


def findings(target: ProverTarget | Swallower, selection: Selection, count: int) -> list[Finding]:
    tally = Tally()
    for index in range(count):
        tally.merge(target.run(case_at(selection, 6, index)))
    return list(tally.findings(DISAGREEMENT, SILENT))


def test_a_finding_has_its_maps() -> None:
    for index in range(60):
        case = case_at(SMALL, 8, index)
        example = example_of(finding(case, SILENT, "k", "w"))
        given = Certificate(case.shard_map, case.expectation).to_json()
        assert Certificate(example.shard_map, example.expectation).to_json() == given
        assert (example.clean is None) == (case.mutant is None)
        if example.clean is not None:
            assert map_to_json(example.clean) == map_to_json(case.clean)


@pytest.mark.parametrize("liar", [Believer(), Doubter(), Misplacer()])
def test_lies_of_an_engine_are_shown_by_a_handful_of_numbers(liar: Engine) -> None:
    target = prover(liar)
    found = findings(target, replace(SMALL, layouts=("row", "column", "replicated", "fused")), 40)
    assert found
    for one in found[:6]:
        triaged = least(one, target, tries=500)
        assert triaged.reproduced
        assert (triaged.finding.kind, triaged.finding.key) == (one.kind, one.key)
        pieces, ranks, *_ = triaged.finding.weight
        assert triaged.finding.weight <= one.weight
        assert pieces <= 3
        assert ranks <= 2


SWAPPING = replace(SMALL, layouts=("row", "block-gather", "fused"), mutants=("swap-sources",))


def test_equal_examples_are_one() -> None:
    target = Swallower()
    found = findings(target, SWAPPING, 90)
    assert [one.key for one in found] == ["first", "second"]
    (triaged,) = triage(found, target, tries=800)
    assert [one.key for one in triaged.others] == ["second"]
    assert triaged.example.clean is not None
    assert walk(triaged.example.clean, triaged.example.expectation).ok
    assert triaged.example.shard_map.numel == 2


def test_a_case_has_the_clean_map_as_its_reference(tmp_path: Path) -> None:
    target = Swallower(kinds=("only",))
    (triaged,) = triage(findings(target, SWAPPING, 90), target, tries=800)
    written = case_file(triaged, target)
    assert written.expectation.reference == triaged.example.clean
    assert written.expect.codes == ("SM501",)
    assert written.what == f"swallower, silently wrong: took {len(written.shard_map.ranks)} ranks"
    kept = keep(written, tmp_path)
    assert replay_path(kept.path, Settings(repair=False)).agrees


def test_what_does_not_happen_again_stays_as_it_was() -> None:
    case = case_at(SMALL, 6, 3)
    made_up = finding(case, SILENT, "nobody says this", "words")
    triaged = least(made_up, Swallower())
    assert not triaged.reproduced
    assert triaged.example == example_of(made_up)


def test_a_target_that_fails_on_a_smaller_map_shows_nothing_there() -> None:
    @dataclass(frozen=True)
    class Fragile(Swallower):
        def run(self, case: Case) -> Tally:
            if case.shard_map.numel < 4:
                raise RuntimeError("too small")
            return super().run(case)

    found = [one for one in findings(Swallower(), SWAPPING, 90) if example_of(one).shard_map.numel >= 4]
    assert found
    triaged = least(found[0], Fragile(), tries=300)
    assert triaged.reproduced
    assert triaged.example.shard_map.numel >= 4


def test_a_target_that_takes_long_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.shrinking.triage.SECONDS", -1.0)
    found = findings(Swallower(kinds=("only",)), SWAPPING, 90)[0]
    triaged = least(found, Swallower(kinds=("only",)))
    assert triaged.reproduced
    assert triaged.example == example_of(found)


def unaware_of_signs(entry: dict[str, Any]) -> None:
    """Walks a map, and knows neither of signs nor of scales nor of what is not held."""
    written: Counter[tuple[int, int]] = Counter()
    for rank, shard in entry["ranks"].items():
        for one in shard["pieces"]:
            for index in itertools.product(*map(range, one["shape"])):
                source, dest = (
                    offset + sum(i * s for i, s in zip(index, strides, strict=True))
                    for offset, strides in (one["source"], one["dest"])
                )
                if not 0 <= source < math.prod(entry["logical_shape"]):
                    raise ValueError("reads out of bounds")
                if not 0 <= dest < math.prod(shard["shard_shape"]):
                    raise ValueError("writes out of bounds")
                written[rank, dest] += 1
    if max(written.values(), default=1) > 1:
        raise ValueError("written twice")


def test_findings_of_one_mutant_stay_what_they_are(tmp_path: Path) -> None:
    target = FunctionTarget(
        f"{__name__}:unaware_of_signs",
        replace(SMALL, layouts=("row", "replicated"), mutants=("negative-junk", "drop-piece", "reflect")),
    )
    total = Tally()
    for index in range(120):
        total.merge(target.run(case_at(target.selection, 6, index)))
    triaged = triage(total.findings(SILENT), target, tries=400)
    codes = {one.finding.key: case_file(one, target).expect.codes for one in triaged}
    assert codes["validate negative-junk: not sound (sign)"] == ("SM105",)
    assert codes["validate drop-piece: not sound (hole, uncovered)"] == ("SM203",)
    assert all(one.reproduced for one in triaged)


def wrong_about_order(entry: dict[str, Any], shards: dict[int, Any]) -> Any:
    """Right, but where the pieces of some rank are not in the order of the parameter."""
    full = [math.nan] * math.prod(entry["logical_shape"])
    for rank, shard in entry["ranks"].items():
        held = shards[rank].reshape(-1).tolist()
        starts = [one["source"][0] for one in shard["pieces"] if 0 not in one["shape"]]
        for one in shard["pieces"]:
            for index in itertools.product(*map(range, one["shape"])):
                source, dest = (
                    offset + sum(i * s for i, s in zip(index, strides, strict=True))
                    for offset, strides in (one["source"], one["dest"])
                )
                full[source] = held[dest] / one.get("scale", 1.0) if starts == sorted(starts) else -1.0
    return np.array(full).reshape(entry["logical_shape"])


def test_what_a_defect_does_not_matter_for_is_found_of_the_map_alone() -> None:
    target = FunctionTarget(
        f"{__name__}:wrong_about_order",
        replace(SMALL, layouts=("block-gather", "junk-axes"), mutants=("any-number",)),
    )
    total = Tally()
    for index in range(60):
        total.merge(target.run(case_at(target.selection, 6, index)))
    right = [one for one in total.findings(SILENT) if one.key.endswith("a right map")]
    assert {one.mutant for one in right} == {None, "any-number"}
    for triaged in triage(right, target, tries=400):
        assert triaged.example.clean is None
        assert triaged.example.shard_map.numel == 2
        source = case_file(triaged, target).source
        assert source.endswith("mutant a right map") == (triaged.finding.mutant is None)
