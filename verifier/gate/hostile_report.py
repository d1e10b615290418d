"""What bad arguments do to a constructor, as a subject of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Obligations, Subject, SubjectVerdict
from verifier.diagnostics.wording import counted
from verifier.gate.attempts import Outcome, attempt_all
from verifier.gate.gating import GateError, running
from verifier.gate.hostile import BadCall, bad_calls, example
from verifier.gate.hostile_findings import silently_wrong, undecided_calls, unnamed
from verifier.gate.literals import call_text, shown
from verifier.gate.loading import Loaded, place_of
from verifier.gate.source_place import source_place
from verifier.symbolic.domain import DomainError, Sizes


@dataclass(frozen=True, slots=True)
class Tried:
    """One bad call, what it came to, and the map it made as the concrete prover sees it."""

    call: BadCall
    outcome: Outcome
    judged: Subject | None

    @property
    def word(self) -> str:
        """One of ``refused``, ``raised``, ``endless``, ``right``, ``wrong``, ``undecided``."""
        if self.outcome.kind == "too large":
            return "right"
        if self.outcome.kind == "no map":
            return "wrong"
        if self.judged is None:
            return self.outcome.kind
        if self.judged.verdict == "refuted":
            return "right" if _only_too_large(self.judged) else "wrong"
        return "right" if self.judged.verdict == "proved" else "undecided"

    @property
    def line(self) -> str:
        """``widths[0]=2.5 (float): refused: ValueError: ...``."""
        head = f"{self.call.argument}={shown(self.call.value)} ({self.call.kind}): {self.word}"
        return f"{head}: {self.outcome.words}" if self.outcome.words else head


def good_arguments(loaded: Loaded, over: Sizes, known: Mapping[str, object] | None) -> Mapping[str, object]:
    """Arguments of which the constructor makes a map: known ones, or some of its domain.

    Raises:
        GateError: none were found.
    """
    try:
        arguments = example(over) if known is None else known
    except DomainError as error:
        raise GateError(f"{loaded.where}: {error}; bad arguments start from good ones") from error
    with running(loaded):
        try:
            loaded.call(**deepcopy(dict(arguments)))
        except Exception as error:
            raise GateError(
                f"{loaded.where} raises {type(error).__name__} at {call_text(arguments)} of its domain; "
                f"bad arguments start from good ones"
            ) from error
    return arguments


def tried(loaded: Loaded, arguments: Mapping[str, object], settings: Settings) -> list[Tried]:
    """Every bad call that good arguments can be turned into, tried."""
    calls = list(bad_calls(arguments))
    answering = settings.answering()
    chosen = replace(settings, repair=False, oracle=None)
    name = place_of(loaded.where).name
    return [
        Tried(call, outcome, judged(name, outcome, chosen, answering))
        for call, outcome in zip(calls, attempt_all(loaded, calls), strict=True)
    ]


def hostile_subject(loaded: Loaded, runs: Sequence[Tried]) -> Subject:
    """The subject: a wrong map from bad arguments is an error (SM603), an unnamed exception a warning."""
    words = Counter(one.word for one in runs)
    findings: list[Finding] = [
        silently_wrong(loaded, one.call, one.outcome, one.judged) for one in runs if one.word == "wrong"
    ]
    by_argument: dict[str, list[Tried]] = {}
    for one in runs:
        if one.word in ("raised", "endless"):
            by_argument.setdefault(one.call.argument, []).append(one)
    for argument, group in by_argument.items():
        lines = [f"{shown(one.call.value)} ({one.call.kind}): {one.outcome.words}" for one in group]
        findings.append(unnamed(loaded, argument, lines))
    if words["undecided"]:
        findings.append(undecided_calls(loaded, [one.line for one in runs if one.word == "undecided"]))
    verdict: SubjectVerdict = "refuted" if words["wrong"] else "undecided" if words["undecided"] else "proved"
    return Subject(
        name=f"{loaded.where} with bad arguments",
        kind="bad-argument run",
        place=source_place(loaded),
        verdict=verdict,
        obligations=Obligations(
            proved=len(runs) - words["wrong"] - words["undecided"],
            refuted=words["wrong"],
            undecided=words["undecided"],
        ),
        contents={"bad calls": len(runs), "refusals": words["refused"]},
        findings=tuple(findings),
    )


def overview(loaded: Loaded, arguments: Mapping[str, object], runs: Sequence[Tried]) -> list[str]:
    """How bad calls ended, one line for each way, after the call that they are made from."""
    words = Counter(one.word for one in runs)
    meanings = {
        "refused": "refused by name",
        "raised": "raised something else",
        "endless": "did not come to an end",
        "right": "returned a right map",
        "wrong": "returned a wrong map silently",
        "undecided": "returned a map that was not decided",
    }
    lines = [f"{meaning}: {words[word]}" for word, meaning in meanings.items() if words[word]]
    start = f"{loaded.where}: {counted(len(runs), 'bad call')} made from "
    return [start + call_text(arguments), *[f"  {one}" for one in lines]]


def judged(name: str, outcome: Outcome, settings: Settings, answering: Answering) -> Subject | None:
    """The map of a bad call as the concrete prover sees it; None where there is none."""
    if outcome.returned is None:
        return None
    made = replace(outcome.returned.shard_map, name=name)
    return check_subject(made, outcome.returned.expectation, settings, answering)


def _only_too_large(judged: Subject) -> bool:
    """A right map whose addresses need more than 64 bits: no tensor has them, and nothing is mixed up."""
    codes = {
        code for one in judged.findings if one.severity == "error" for code in (one.code, *one.consequences)
    }
    return codes == {"SM109"} and judged.obligations.refuted == 1 and not judged.obligations.undecided
