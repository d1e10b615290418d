"""The target ``prover``: our own engines, judge, checker, oracle and renderers, against a walk of the map.

The questions of the map go to the engines, the map to the judge, its certificate to the checker; on samples
z3, isl and torch are asked too, and the message is drawn in every format. What each says is held against a
walk of every address, which shares nothing with them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from fuzz.agreement import disagreements, flattened
from fuzz.asking import Asked, ask
from fuzz.cases import Case, Selection
from fuzz.certified import accepted_though_wrong, refusal, tampered, with_evidence
from fuzz.drawing import drawn_wrongly
from fuzz.mutants import MUTANTS
from fuzz.outcomes import DISAGREEMENT, Tally, finding
from fuzz.second_opinion import is_installed, isl_says
from fuzz.walk import Walk, walk
from verifier.answers import Holds
from verifier.audit.answering import Answering
from verifier.audit.judge import Judgement, judge
from verifier.budget import Budget
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Form
from verifier.engine import Engine
from verifier.engines.registry import engine_named
from verifier.obligations.catalogue import obligations
from verifier.obligations.obligation import Unposed
from verifier.obligations.questions import Question
from verifier.verdicts import Proved, Undecided
from verifier.version import VERSION

TORCH = find_spec("torch") is not None
"""Without it no map is run in it, and the report has no such table."""
ALWAYS = ("cancel", "boxes", "search", "enumerate", "fingerprint")
BUDGET = Budget(z3_rlimit=2_000_000)
EVERYTHING = Selection(size=48)
"""What is asked unless the user says otherwise: all layouts and mutants, on up to 48 elements."""


@dataclass(frozen=True, slots=True)
class ProverTarget:
    """Our own verifier. Samples are one round of all layouts of every so many; 0 is never."""

    smt_every: int = 18
    oracle_every: int = 18
    tamper_every: int = 4
    drawing_every: int = 60
    engines: tuple[Engine, ...] = field(default_factory=lambda: tuple(map(engine_named, ALWAYS)))
    judging: Engine = field(default_factory=lambda: engine_named("auto"))
    name: str = "prover"
    version: str = f"shardproof {VERSION}"
    selection: Selection = EVERYTHING

    def run(self, case: Case) -> Tally:
        """Everything asked of one case."""
        return _Trial(case, self, self.selection.round_of(case.index)).tally()


@dataclass(slots=True)
class _Trial:
    """One case on its way; ``round`` says which samples it is in."""

    case: Case
    target: ProverTarget
    round: int
    found: Tally = field(default_factory=Tally)
    all_posed: bool = True

    def due(self, every: int) -> bool:
        return every > 0 and self.round % every == 0

    def disagree(self, words: str) -> None:
        key = re.sub(r"(?<![A-Z\d])-?\d+", "#", words.partition(";")[0])
        self.found.note(finding(self.case, DISAGREEMENT, key, words))

    def tally(self) -> Tally:
        case = self.case
        walked = walk(case.shard_map, case.expectation)
        self.count_answer(walked)
        judgement = judge(case.shard_map, case.expectation, Answering(self.target.judging, BUDGET))
        self.found.count("verdict", type(judgement.verdict).__name__.lower())
        for words in disagreements(walked, judgement, case.shard_map, case.expectation):
            self.disagree(f"judge: {words}")
        asked = self.put_questions()
        if self.all_posed and _open_question(judgement):
            self.disagree("judge: undecided, but every question has an answer")
        if isinstance(judgement.verdict, Proved):
            self.check_certificates(judgement.verdict.certificate, asked)
        if self.due(self.target.oracle_every) and TORCH:
            self.ask_torch(walked, judgement)
        if self.due(self.target.drawing_every):
            self.found.count("drawing", type(judgement.verdict).__name__.lower())
            for words in drawn_wrongly(case.shard_map, case.expectation):
                self.disagree(f"drawing: {words}")
        return self.found

    def count_answer(self, walked: Walk) -> None:
        """The walk's answer, held against what is certain by construction (T18)."""
        case, word = self.case, "right" if walked.ok else "wrong"
        self.found.count("map", word)
        self.found.count("layout", case.layout, word)
        self.found.count("mutant", case.mutant or "none", word)
        if case.mutant is None:
            self.found.count("by construction", "right")
            if not walked.ok:
                self.disagree(f"layout {case.layout} is wrong: {walked.violations[0]}")
        elif case.expectation.reference is not None and MUTANTS[case.mutant].sure:
            self.found.count("by construction", "wrong")
            if walked.ok:
                self.disagree(f"mutant {case.mutant} changes the function, but the walk finds nothing")

    def put_questions(self) -> list[tuple[str, Asked]]:
        """Each obligation's question to the engines, equal questions once."""
        sampled = self.due(self.target.smt_every)
        smt = (engine_named("smt"),) if sampled else ()
        engines: Sequence[Engine] = (*self.target.engines, *smt)
        if sampled:
            self.found.count("sample", "z3")
        known: dict[Question, Asked] = {}
        answered: list[tuple[str, Asked]] = []
        for obligation in obligations(self.case.shard_map, self.case.expectation):
            question = obligation.question
            if isinstance(question, Unposed):
                self.found.count("question", "unposed", "")
                self.all_posed = False
                continue
            asked = known.get(question)
            if asked is None:
                asked = known[question] = ask(question, engines, BUDGET)
                self.count_question(question, asked)
                if sampled and is_installed():
                    self.ask_isl(question, asked)
            answered.append((obligation.name, asked))
        return answered

    def count_question(self, question: Question, asked: Asked) -> None:
        word = {None: "without meaning", True: "holds", False: "fails"}[asked.holds]
        self.found.count("question", type(question).__name__, word)
        for (engine, answer), count in asked.tally().items():
            self.found.count("engine", engine, answer, times=count)
        self.all_posed = self.all_posed and asked.holds is not None
        for words in asked.disagreements:
            self.disagree(f"{type(question).__name__}: {words}; {question}")

    def ask_isl(self, question: Question, asked: Asked) -> None:
        said = isl_says(question)
        if said is None:
            return
        self.found.count("engine", "islpy", "holds" if said else "fails")
        if said != asked.holds:
            self.disagree(f"islpy says {said}, the count {asked.holds}; {question}")

    def check_certificates(self, certificate: Certificate, asked: Sequence[tuple[str, Asked]]) -> None:
        """The certificate is accepted, with the evidence of another engine too; with a wrong number not."""
        rng = random.Random(f"{self.case.name}:certificates")
        versions = [("auto", certificate)]
        evidence: dict[str, dict[str, Form]] = {}
        for name, one in asked:
            for engine, answer in one.answers.items():
                if isinstance(answer, Holds):
                    evidence.setdefault(engine, {})[name] = answer.form
        if evidence:
            engine = rng.choice(sorted(evidence))
            versions.append((engine, with_evidence(certificate, evidence[engine])))
        for engine, version in versions:
            self.found.count("certificate", engine, "checked")
            reason = refusal(version)
            if reason is not None:
                self.disagree(f"certificate with evidence of {engine} refused: {reason}")
        if not self.due(self.target.tamper_every):
            return
        # What rests on the word of a solver is never accepted without it: nothing to see there.
        engine, version = rng.choice([one for one in versions if one[0] != "smt"])
        document = tampered(rng, version)
        if document is not None:
            self.found.count("certificate", engine, "tampered")
            if accepted_though_wrong(document):
                self.disagree(f"tampered certificate accepted ({engine}); {document['map']}")

    def ask_torch(self, walked: Walk, judgement: Judgement) -> None:
        """Replays of the map by torch, alone and against its reference."""
        from verifier.oracle.agreement import contradiction
        from verifier.oracle.replay import replay

        case = self.case
        codes = {f.code for f in flattened(judgement.faults) if not f.undecided and f.side != "map"}
        proved = isinstance(judgement.verdict, Proved)
        alone = replay(case.shard_map, expectation=case.expectation)
        self.found.count("oracle", case.layout, alone.outcome)
        words = contradiction(alone, proved=proved, codes=codes)
        if words is not None:
            self.disagree(f"torch: {words}")
        if not walked.ok or case.expectation.reference is None:
            return
        against = replay(case.shard_map, reference=case.expectation.reference, expectation=case.expectation)
        self.found.count("oracle", case.layout, f"{against.outcome} against the reference")
        words = contradiction(against, proved=proved)
        if words is not None:
            self.disagree(f"torch, against the reference: {words}")


def _open_question(judgement: Judgement) -> bool:
    """Whether a question was left open. A rule for single pieces has its own limits, such as scale sums."""
    verdict = judgement.verdict
    return isinstance(verdict, Undecided) and any(fault.side != "piece" for fault in verdict.faults)
