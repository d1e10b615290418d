"""Findings become least examples that the target still shows, each once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fuzz.cases import Case, Selection, case_at
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
