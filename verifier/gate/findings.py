"""What is said of constructors, as findings: the map at the smallest sizes is told of inside."""

from __future__ import annotations

from collections.abc import Mapping

from verifier.diagnostics.codes import code_of
from verifier.diagnostics.finding import Finding, FindingVerdict, Json, Label
from verifier.diagnostics.fingerprint import refusal_fingerprint
from verifier.diagnostics.report import Subject
from verifier.diagnostics.wording import counted
from verifier.gate.declared import Declaration
from verifier.gate.literals import as_json, call_text
from verifier.gate.loading import Loaded, place_of
from verifier.gate.refusals import refusal_line
from verifier.gate.source_place import source_label, source_place
from verifier.symbolic.paths import Refusal
from verifier.symbolic.results import ProvedOnPart, RefutedAt, Undecided

KEPT_BY_OPTION = "the test below shows it; --write-tests DIR keeps it"
"""Advice for the command line; a test run has other advice in its place."""


def refuted(
    loaded: Loaded,
    declaration: Declaration,
    result: RefutedAt,
    nested: Subject | None,
    test: str | None,
    *,
    repeats: bool,
) -> Finding:
    """SM601, with the first finding about the map inside; SM901 where the map is another one every time.

    ``nested`` is the map as the concrete prover sees it, None where there is no map.
    """
    if not repeats or (nested is not None and nested.verdict == "proved"):
        return constructor_finding(
            loaded,
            "SM901",
            "undecided",
            "makes another map of the same sizes when it runs again",
            f"at {call_text(result.sizes)}",
            notes=(f"what was seen first at {call_text(result.sizes)}: {result.complaint}",),
            helps=("a layout may depend on its arguments only: no clocks, random numbers or global state",),
        )
    sizes = call_text(result.sizes)
    smallest = "the smallest sizes at which it fails" if result.least else "where it fails"
    against = "" if declaration.reference is None else ", against its reference"
    return constructor_finding(
        loaded,
        "SM601",
        "refuted",
        f"{_failure(result)} at {sizes}",
        f"{smallest}{against}",
        complaint=result.complaint,
        nested=nested,
        notes=(_how_small(declaration, result),),
        helps=() if test is None else (KEPT_BY_OPTION,),
        witness={"sizes": as_json(dict(result.sizes)), "least": result.least, "test": test},
    )


def partly_proved(loaded: Loaded, result: ProvedOnPart) -> Finding:
    """SM602."""
    tried = f"{counted(result.judged, 'map')} proved"
    apart = "make an argument a choice: a list of the values that are used"
    help_text = f"write with + - * // % and comparisons what leaves this fragment, or {apart}"
    return constructor_finding(
        loaded,
        "SM602",
        "undecided",
        "is proved on part of its domain only (this is not a pass)",
        "the rest is open",
        notes=(
            f"proved: {result.part}",
            f"not on all of it: {result.reason}",
            *([f"small sizes, one by one: {tried}, none is wrong"] if result.judged else []),
        ),
        helps=(help_text if result.outside else f"narrow the domain by where, or {apart}",),
        witness={"part": result.part, "reason": result.reason, "judged": result.judged},
    )


def undecided(loaded: Loaded, result: Undecided) -> Finding:
    """SM901: neither proved nor refuted anywhere."""
    raised = [f"e.g. {one.error}" for one in result.refusals[:3]]
    return constructor_finding(
        loaded,
        "SM901",
        "undecided",
        "is neither proved nor refuted (this is not a pass)",
        "nothing is known of it",
        notes=(result.reason, *raised),
        helps=("declare a domain of sizes that it takes, or a smaller one",),
        witness={"reason": result.reason},
    )


def raises(loaded: Loaded, refusal: Refusal) -> Finding:
    """SM605: sizes of the domain on which the constructor comes to grief."""
    sizes = "" if refusal.sizes is None else f" at {call_text(refusal.sizes)}"
    return constructor_finding(
        loaded,
        "SM605",
        "refuted",
        f"raises {refusal.error}{sizes}, in its domain",
        "does not refuse these sizes by name",
        notes=(refusal_line(loaded, refusal),),
        helps=("take these sizes out of the domain by where, or refuse them by name with a ValueError",),
        witness={"error": refusal.error, "sizes": as_json(dict(refusal.sizes or {}))},
    )


def _failure(result: RefutedAt) -> str:
    if result.made is None:
        return "makes no map"
    return "has no reference" if result.verdict is None else "makes a wrong map"


def _how_small(declaration: Declaration, result: RefutedAt) -> str:
    if not result.least:
        return "these sizes were made small step by step; others that are smaller may fail as well"
    first = next(declaration.over.choices())
    chosen = call_text({one: result.sizes[one] for one in first if isinstance(result.sizes[one], int | str)})
    at = f" at {chosen}" if chosen else ""
    return f"no sizes with a smaller sum fail{at}, and of this sum these come first"


def constructor_finding(
    loaded: Loaded,
    code: str,
    verdict: FindingVerdict,
    says: str,
    remark: str,
    *,
    complaint: str = "",
    nested: Subject | None = None,
    notes: tuple[str, ...] = (),
    helps: tuple[str, ...] = (),
    witness: Mapping[str, Json] | None = None,
    identity: str = "",
) -> Finding:
    """A finding about a constructor; of the map inside it, the equations, the picture and the notes."""
    entry = code_of(code)
    name = place_of(loaded.where).name
    label: Label | None = source_label(loaded, remark)
    inner = nested.findings[0] if nested is not None and nested.findings else None
    others = nested.findings[1:] if nested is not None else ()
    more = [f"the map has another fault: {one.code} {one.name}: {one.headline}" for one in others]
    told = "" if inner is None else f"error[{inner.code}] {inner.name}: {inner.headline}"
    because = f": {complaint}" if complaint else ""
    geometry = inner.fingerprint if inner is not None else complaint or says
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        verdict=verdict,
        headline=f"{name} {says}",
        concise=f"{name} {says}{because if inner is None else f': {inner.code} {inner.concise}'}",
        place=source_place(loaded) if label is None else label.place,
        labels=() if label is None else (label,),
        about=because.removeprefix(": ") if inner is None else inner.about,
        claim=told if inner is None or not inner.claim else f"{told}; {inner.claim}",
        equations=() if inner is None else inner.equations,
        tally="" if inner is None else inner.tally,
        picture=None if inner is None else inner.picture,
        notes=(*notes, *more, *(() if inner is None else inner.notes)),
        helps=helps,
        consequences=() if inner is None else (inner.code, *inner.consequences),
        witness={**(witness or {}), **({} if inner is None else {"map": dict(inner.witness)})},
        fingerprint=refusal_fingerprint(code, f"{name} {identity}", geometry),
    )
