"""Probes of real optimizers as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from verifier.diagnostics.codes import code_of
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.fingerprint import refusal_fingerprint
from verifier.diagnostics.report import Obligations, Subject

CODES: Mapping[str, str] = {
    "RD": "OC601",
    "CRASH": "OC602",
    "SX!": "OC603",
    "SA": "OC604",
    "SAN": "OC604",
}
"""The outcomes that are faults. What raises before anything is touched, or has no effect, is none."""


def loading_subject(name: str, outcomes: Mapping[str, str]) -> Subject:
    """What one optimizer does with corrupted state dicts: one finding for each kind of fault."""
    by_code: dict[str, list[str]] = {}
    for corruption, word in outcomes.items():
        if word in CODES:
            by_code.setdefault(CODES[word], []).append(corruption)
    counts = Counter(outcomes.values())
    tried = sum(counts.values()) - counts["."]
    wrong = sum(len(found) for found in by_code.values())
    return Subject(
        name=name,
        kind="optimizer",
        verdict="refuted" if by_code else "proved",
        obligations=Obligations(proved=tried - wrong, refuted=wrong),
        contents={"corruptions": tried},
        findings=tuple(_finding(code, name, found) for code, found in sorted(by_code.items())),
    )


def _finding(code: str, name: str, corruptions: list[str]) -> Finding:
    entry = code_of(code)
    shown = "; ".join(corruptions[:6]) + ("; ..." if len(corruptions) > 6 else "")
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        verdict="refuted",
        headline=entry.summary,
        concise=f"{name}: {shown}",
        about=f"optimizer {name}",
        claim=shown,
        tally=f"{len(corruptions)} corruptions",
        witness={"corruptions": list(corruptions)},
        fingerprint=refusal_fingerprint(entry.code, name, shown),
    )
