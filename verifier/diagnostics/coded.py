"""Findings that say no more than their code and one line: the rest is filled in by ``replace``."""

from __future__ import annotations

from verifier.diagnostics.codes import code_of
from verifier.diagnostics.finding import Finding, FindingVerdict
from verifier.diagnostics.fingerprint import refusal_fingerprint
from verifier.diagnostics.pages import fix_of


def coded(code: str, about: str, told: str, *, verdict: FindingVerdict = "refuted") -> Finding:
    """What a code says of ``about``; what to do is what its page says.

    ``about`` and ``told``, the fault in one line, make up the fingerprint: they are free of file names.

    Raises:
        UnknownCodeError: there is no such code.
    """
    entry = code_of(code)
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        verdict=verdict,
        headline=entry.summary,
        concise=told,
        claim=told,
        helps=fix_of(entry),
        fingerprint=refusal_fingerprint(entry.code, about, told),
    )
