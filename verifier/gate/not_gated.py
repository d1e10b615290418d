"""What could not be gated, as a subject of the report: it must not be missing from any of its formats."""

from __future__ import annotations

from verifier.diagnostics.codes import code_of
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.fingerprint import refusal_fingerprint
from verifier.diagnostics.report import Subject
from verifier.gate.loading import FunctionError, load, place_of
from verifier.gate.source_place import source_place


def not_gated(where: str, error: Exception, *, kind: str = "constructor") -> Subject:
    """A function that could not be gated (SM606); the text of the error says why and what to do."""
    entry = code_of("SM606")
    reason = " ".join(str(error).split())
    said = reason if where in reason else f"{where}: {reason}"
    place = _place(where, error)
    finding = Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        verdict="unreadable",
        headline=said,
        concise=said,
        place=place,
        fingerprint=refusal_fingerprint(entry.code, where, reason),
    )
    return Subject(name=where, kind=kind, verdict="unreadable", place=place, findings=(finding,))


def _place(where: str, error: Exception) -> Place | None:
    """Where the function is defined; its file alone where it was not loaded, None without a file."""
    try:
        if not isinstance(error, FunctionError):
            return source_place(load(where))
        place = place_of(where)
    except FunctionError:
        return None
    return None if place.file is None else Place(place.source)
