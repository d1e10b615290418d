"""The kill matrix: what every engine says of every mutant, and what a reader says of every broken document.

    python -m fuzz.kills --cases 200 --seed 1 --report reports/mutants.md

The reader of a mutated map demands the function of the map before its defect. A walk of every address says
which mutants are wrong. Exit status 0; 70 when a wrong map was proved or a right one refuted, or when one was
refuted, or a document refused, in another way than the label of its defect says.
"""

from __future__ import annotations

import argparse
import random
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fuzz.cases import Case, Selection, compose
from fuzz.documents.mutants import DOCUMENT_MUTANTS, DocumentMutant, document_text, forms_of
from fuzz.documents.reading import reading
from fuzz.kills.report import WITHOUT_REFERENCE, report
from fuzz.mutants import MUTANTS
from fuzz.outcomes import Tally
from fuzz.prover import BUDGET
from fuzz.walk import walk
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.diagnostics.report import EXIT_TOOL_BUG
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.verdicts import Proved, Refuted, Undecided, Verdict

ENGINES = ("auto", "cancel", "boxes", "search", "enumerate", "fingerprint", "smt")
SIZE = 48
ATTEMPTS = 30
"""How many maps of a layout are tried before a mutant is said not to fit it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is tried.

    Attributes:
        cases: maps and documents for each mutant, at most.
        smt_every: one of so many maps is also put to z3; 0 is never.
    """

    cases: int
    seed: int
    smt_every: int = 10
    selection: Selection = field(default_factory=lambda: Selection(size=SIZE, right=0.0))


@dataclass(slots=True)
class Kills:
    """What came of it.

    Attributes:
        tally: counts by ("engine", name, "wrong" | "same", mutant, word), ("code", mutant, code),
            ("map", mutant, "wrong" | "same"), ("document", mutant, outcome), ("refusal", mutant, code).
        surprises: in words, what must not be.
    """

    tally: Tally = field(default_factory=Tally)
    surprises: list[str] = field(default_factory=list)

    def try_map(self, case: Case, name: str, engines: Sequence[str]) -> None:
        """Judge one mutated map by each engine alone."""
        mutant = case.mutant or ""
        expected = replace(case.expectation, reference=case.clean)
        word = "same" if walk(case.shard_map, expected).ok else "wrong"
        self.tally.count("map", mutant, word)
        if word == "same" and MUTANTS[mutant].sure:
            self.surprises.append(f"{name}: right, though {mutant} is sure to be wrong")
        for engine in engines:
            verdict = self._judged(case, expected, engine, (word, mutant), right=word == "same", name=name)
            if isinstance(verdict, Refuted) and engine == "auto":
                self._count_code(mutant, verdict.witness.code, name)
        alone = replace(case.expectation, reference=None)
        sound = walk(case.shard_map, alone).ok
        self._judged(case, alone, WITHOUT_REFERENCE, (word, mutant), right=sound, name=name)

    def _judged(
        self,
        case: Case,
        expectation: Expectation,
        engine: str,
        label: tuple[str, str],
        *,
        right: bool,
        name: str,
    ) -> Verdict:
        answering = Answering(engine_named("auto" if engine == WITHOUT_REFERENCE else engine), BUDGET)
        verdict = judge(case.shard_map, expectation, answering).verdict
        self.tally.count("engine", engine, *label, type(verdict).__name__.lower())
        if not isinstance(verdict, Undecided) and isinstance(verdict, Proved) != right:
            said = "proved" if isinstance(verdict, Proved) else f"refuted for {verdict.witness.code}"
            self.surprises.append(
                f"{name}: {engine} {said}, but the walk says {'right' if right else 'wrong'}"
            )
        return verdict

    def _count_code(self, mutant: str, code: str, name: str) -> None:
        self.tally.count("code", mutant, code)
        if code not in MUTANTS[mutant].codes:
            self.surprises.append(f"{name}: {code} is no code of {mutant}")

    def try_document(self, mutant: DocumentMutant, original: bytes, data: bytes, name: str) -> None:
        """Read one broken document."""
        came = reading(data, original)
        self.tally.count("document", mutant.name, came.outcome)
        if mutant.sure and came.outcome != "refused":
            self.surprises.append(f"{name}: {came.outcome}, though {mutant.name} is sure to be refused")
        for code in {refused.code for refused in came.refused}:
            self.tally.count("refusal", mutant.name, code)
            if code not in mutant.codes:
                self.surprises.append(f"{name}: {code} is no code of {mutant.name}")


def mutated(plan: Plan, mutant: str) -> Iterator[tuple[str, int, Case]]:
    """Maps with that defect as (name, index, case), the layouts in turn, save those that cannot have it."""
    selection = replace(plan.selection, mutants=(mutant,))
    for index in range(plan.cases):
        name = f"{plan.seed}:{mutant}:{index}"
        rng = random.Random(name)
        layout = selection.layouts[index % len(selection.layouts)]
        for _ in range(ATTEMPTS):
            case = compose(rng, selection, layout)
            if case.mutant is not None:
                yield name, index, case
                break


def broken(plan: Plan, mutant: DocumentMutant) -> Iterator[tuple[str, bytes, bytes]]:
    """Documents with that defect as (name, document before it, document), all layouts and forms in turn."""
    selection = replace(plan.selection, right=1.0)
    for index in range(plan.cases):
        name = f"{plan.seed}:{mutant.name}:{index}"
        rng = random.Random(name)
        case = compose(rng, selection, selection.layouts[index % len(selection.layouts)])
        original = document_text(rng.choice(forms_of(case)))
        data = mutant(rng, original)
        if data is not None:
            yield name, original, data


def kills(plan: Plan) -> Kills:
    """Everything that is tried."""
    found = Kills()
    for mutant in plan.selection.mutants:
        for name, index, case in mutated(plan, mutant):
            with_smt = plan.smt_every > 0 and index % plan.smt_every == 0
            found.try_map(case, name, ENGINES if with_smt else ENGINES[:-1])
    for broken_by in DOCUMENT_MUTANTS.values():
        for name, original, data in broken(plan, broken_by):
            found.try_document(broken_by, original, data, name)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Try every mutant and write the report."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.kills", description=__doc__)
    parser.add_argument("--cases", type=int, default=200, help="maps and documents for each mutant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smt-every", type=int, default=10, help="z3 is asked about one map of so many")
    parser.add_argument("--report", type=Path, help="markdown")
    options = parser.parse_args(arguments)
    found = kills(Plan(options.cases, options.seed, options.smt_every))
    command = shlex.join(["python", "-m", "fuzz.kills", *(sys.argv[1:] if arguments is None else arguments)])
    text = report(found.tally, found.surprises, (*ENGINES, WITHOUT_REFERENCE), command)
    if options.report is not None:
        options.report.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    for words in found.surprises:
        print(words, file=sys.stderr)
    return EXIT_TOOL_BUG if found.surprises else 0
