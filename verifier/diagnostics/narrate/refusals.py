"""SM0xx and whatever else is wrong with a document before there is a map to talk about. Theory: T10."""

from __future__ import annotations

from verifier.diagnostics.codes import code_of
from verifier.diagnostics.finding import Finding, FindingVerdict, Label, Place
from verifier.diagnostics.fingerprint import refusal_fingerprint


def refusal_finding(
    code: str,
    message: str,
    help: str | None,  # noqa: A002 - the word people see
    place: Place,
    *,
    label: Label | None = None,
    verdict: FindingVerdict = "unreadable",
) -> Finding:
    """A document that was refused, or a file of a checkpoint set that is not as it should be.

    ``message`` says what was found and stands alone; ``help`` what would be accepted.

    Raises:
        UnknownCodeError: no such code.
    """
    entry = code_of(code)
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        verdict=verdict,
        headline=message,
        concise=message,
        place=place,
        labels=() if label is None else (label,),
        helps=() if not help else (help,),
        witness={"pointer": place.pointer} if place.pointer else {},
        fingerprint=refusal_fingerprint(entry.code, place.pointer, message.replace(place.file, "")),
    )
