"""Protocols simulated, cross-checked by z3, and run on real process groups: one report for all three."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verifier.audit.contracts import read_document
from verifier.audit.entries import refused
from verifier.audit.replayed import Replayed
from verifier.contracts.protocols.checker import Simulation, Violation, simulate
from verifier.contracts.protocols.code import TooLongError
from verifier.contracts.protocols.decoding import (
    ProtocolError,
    decode_protocol,
    expected_rules,
    is_protocol,
)
from verifier.contracts.protocols.language import Protocol
from verifier.contracts.protocols.worlds import in_words, left_open, validity
from verifier.diagnostics.coded import coded
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.report import Obligations, Subject, SubjectVerdict
from verifier.diagnostics.rule_codes import code_of_rule
from verifier.formats import FormatError, Refusal
from verifier.model.origin import Origin

RULES = ("S1", "S2", "S3", "S4")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """How a protocol is simulated.

    Attributes:
        ranks: size of the world; None for one that goes wrong if one of any size does.
        cross_check: also decide it by z3.
        gloo: also run it on gloo, with a fault at every local step.
        wait_seconds: how long a rank waits there before it counts as stranded.
    """

    ranks: int | None = None
    cross_check: bool = False
    gloo: bool = False
    wait_seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class Simulated:
    """A protocol as a subject of a report, and the numbers of ranks that were not searched, if any."""

    subject: Subject
    unchecked: str | None = None


def simulated(path: Path, settings: SimulationSettings) -> Simulated:
    """Search one protocol. What cannot be read is an unreadable subject."""
    try:
        protocol = _protocol(path)
        found = simulate(protocol, settings.ranks)
    except FormatError as error:
        return Simulated(refused(Refusal.of(path.name, error), line=error.line, column=error.column))
    except TooLongError as error:
        origin = Origin(str(path), "/program")
        refusal = Refusal(
            name=path.name, origin=origin, code="SM006", message=str(error), help="repeat less often"
        )
        return Simulated(refused(refusal))
    unchecked = left_open(protocol, found) if found.complete else None
    return Simulated(_subject(protocol, found, settings, path), unchecked)


def _subject(protocol: Protocol, found: Simulation, settings: SimulationSettings, path: Path) -> Subject:
    findings = [_finding(violation, protocol, path, found.ranks) for violation in found.violations]
    against, notes = _second_opinions(protocol, found, settings, path)
    findings += against
    verdict: SubjectVerdict = "refuted" if found.violations else "proved"
    if not found.violations and not found.complete:
        verdict = "undecided"
        findings.append(_over_budget(protocol, found, path))
    if verdict == "proved":
        notes.insert(0, validity(protocol, found.ranks))
    others = len(RULES) - len(found.violations)
    return Subject(
        name=protocol.name,
        kind="protocol",
        verdict=verdict,
        place=Place(str(path)),
        obligations=Obligations(
            proved=others if found.complete else 0,
            refuted=len(found.violations),
            undecided=0 if found.complete else others,
        ),
        contents={"ranks": found.ranks, "states": found.states},
        findings=tuple(findings),
        notes=tuple(notes),
    )


def _protocol(path: Path) -> Protocol:
    try:
        return decode_protocol(read_document(path))
    except ProtocolError as error:
        raise FormatError(
            "SM002", str(error), Origin(str(path)), help="see docs/contracts.md for the steps of a protocol"
        ) from None


def _finding(violation: Violation, protocol: Protocol, path: Path, ranks: int) -> Finding:
    trace = "; ".join(violation.trace) or "no fault at all"
    return replace(
        coded(code_of_rule(violation.rule), protocol.name, violation.message),
        concise=f"{violation.message} ({violation.rule})",
        place=Place(str(path)),
        about=f"protocol {protocol.name}, {in_words(protocol, ranks)}",
        notes=(f"this is how: {trace}",),
        witness={"rule": violation.rule, "trace": list(violation.trace)},
    )


def _second_opinions(
    protocol: Protocol, found: Simulation, settings: SimulationSettings, path: Path
) -> tuple[list[Finding], list[str]]:
    """What z3 and gloo say: notes where they agree, bugs of ours where they do not."""
    against: list[Finding] = []
    notes: list[str] = []
    if settings.cross_check and found.complete:
        from verifier.symbolic.protocols import check_formula  # imports z3

        answer = check_formula(protocol, found.ranks)
        if answer.safe is None:
            notes.append("z3 gave up on the formula")
        elif answer.safe == bool(found.violations):
            said = "safe" if answer.safe else "unsafe"
            against.append(_tool_bug(f"z3 calls {protocol.name} {said}, the search does not", path))
        else:
            notes.append("z3 agrees")
    if settings.gloo:
        from verifier.oracle.collectives.judging import observe  # imports torch

        seen = observe(protocol, found.ranks, wait_seconds=settings.wait_seconds)
        extra = set(seen.rules) - set(found.rules)
        if extra and found.complete:
            against.append(_tool_bug(f"gloo shows {', '.join(sorted(extra))}, the search does not", path))
        else:
            shown = ", ".join(f"{one.rule} ({one.told})" for one in seen.seen) or "nothing wrong"
            notes.append(f"{seen.runs} runs on gloo show {shown}")
    return against, notes


def _tool_bug(reason: str, path: Path) -> Finding:
    return replace(coded("TB101", "", reason), headline=reason, claim="", place=Place(str(path)))


def _over_budget(protocol: Protocol, found: Simulation, path: Path) -> Finding:
    reason = f"{protocol.name} has more than {found.states} states"
    return replace(coded("SM902", protocol.name, reason, verdict="undecided"), place=Place(str(path)))


def is_protocol_file(path: Path) -> bool:
    """Whether a file is a protocol; False where it cannot be read."""
    try:
        return is_protocol(read_document(path))
    except FormatError:
        return False


def replay_protocol(path: Path) -> Replayed:
    """A protocol compared with the rules that its file says are violated; z3 has to agree."""
    subject = simulated(path, SimulationSettings(cross_check=True)).subject
    got = sorted({str(f.witness.get("rule")) for f in subject.findings if f.code.startswith("OC4")})
    expected = expected_rules(read_document(path))
    if expected is None:
        return Replayed(str(path), False, "a protocol with the rules it violates", _words(got), (subject,))
    return Replayed(str(path), list(expected) == got, _words(expected), _words(got), (subject,))


def _words(rules: Sequence[str]) -> str:
    return f"violates {', '.join(rules)}" if rules else "safe"
