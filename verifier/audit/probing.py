"""Probes of real optimizers as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verifier.diagnostics.coded import coded
from verifier.diagnostics.finding import Finding, FindingVerdict, Json
from verifier.diagnostics.report import Obligations, Subject, SubjectVerdict

if TYPE_CHECKING:  # it imports torch
    from verifier.oracle.probes.observed import Probing

RULES: Mapping[str, str] = {
    "OC601": "R70",
    "OC602": "R70",
    "OC603": "R70",
    "OC604": "R70",
    "OC605": "R70",
    "OC606": "R57",
    "OC607": "R57",
    "OC608": "N35",
    "OC609": "N36",
    "OC610": "N37",
    "OC611": "P(f)",
    "OC612": "R72",
    "OC613": "N38",
    "OC614": "N41",
    "OC615": "N40",
    "OC616": "M11",
    "OC617": "N34",
    "OC618": "N42",
    "OC619": "N45",
}
"""The rule that a fault breaks."""

NOT_PROBED = "OC620"


def probed_subject(name: str, probings: Sequence[Probing]) -> Subject:
    """What the probes saw of one optimizer; where something could not be tried it is undecided."""
    faults = [
        _finding(fault.code, name, fault.claim, fault.witness, RULES[fault.code])
        for probing in probings
        for fault in probing.faults
    ]
    left = [
        _finding(NOT_PROBED, name, f"{probing.probe}, {reason}", {"probe": probing.probe})
        for probing in probings
        for reason in probing.open
    ]
    held = sum(probing.held for probing in probings)
    return Subject(
        name=name,
        kind="optimizer",
        verdict=_verdict(held, faults, left),
        obligations=Obligations(proved=held, refuted=len(faults), undecided=len(left)),
        contents={"probes": len(probings)},
        findings=tuple(faults + left),
        notes=tuple([f"{probing.probe}: {note}" for probing in probings for note in probing.notes]),
    )


def _verdict(held: int, faults: Sequence[Finding], left: Sequence[Finding]) -> SubjectVerdict:
    if faults:
        return "refuted"
    if left:
        return "undecided"
    return "proved" if held else "unchecked"


def _finding(code: str, name: str, claim: str, witness: Mapping[str, Json], rule: str = "") -> Finding:
    verdict: FindingVerdict = "refuted" if rule else "undecided"
    return replace(
        coded(code, name, claim, verdict=verdict),
        concise=f"{claim} ({rule})" if rule else claim,
        about=f"optimizer {name}" + (f", rule {rule}" if rule else ""),
        witness={"optimizer": name, **({"rule": rule} if rule else {}), **witness},
    )
