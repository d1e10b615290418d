"""Broken rules of contracts as findings, and induced maps as subjects of a report."""

from __future__ import annotations

from dataclasses import replace

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject
from verifier.audit.entries import locate
from verifier.contracts.broken import Broken
from verifier.contracts.cases import Checked
from verifier.contracts.induced import Induced, Induction
from verifier.diagnostics.coded import coded
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.report import Obligations, Subject
from verifier.diagnostics.rule_codes import code_of_rule
from verifier.diagnostics.snippets import value_label
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin


def contract_subject(checked: Checked, origin: Origin) -> Subject:
    """A contract, or a cut, with the rules it breaks."""
    findings = tuple(broken_finding(found, checked.name, origin) for found in checked.broken)
    errors = [finding for finding in findings if finding.severity == "error"]
    return Subject(
        name=checked.name,
        kind={"cuts": "manifest", "bindings": "binding"}.get(checked.kind, checked.kind),
        verdict="refuted" if errors else "proved",
        place=Place(origin.file, origin.pointer),
        obligations=Obligations(proved=0 if errors else 1, refuted=len(errors)),
        contents=_contents(checked),
        findings=findings,
    )


def _contents(checked: Checked) -> dict[str, int]:
    if checked.contract is None:
        return {}
    return {"fields": len(checked.contract.fields), "variants": len(checked.contract.variants)}


def broken_finding(broken: Broken, about: str, origin: Origin) -> Finding:
    """A broken rule at its place in the document."""
    place = Origin(origin.file, origin.pointer + broken.pointer)
    key = broken.pointer.rpartition("/")[2] or "the document"
    label = value_label(place, locate, fallback=key, text=broken.message, primary=True)
    return replace(
        coded(code_of_rule(broken.rule, remark=broken.remark), broken.pointer, broken.message),
        concise=f"{broken.message} ({broken.rule})",
        claim="",
        place=label.place or Place(place.file, place.pointer),
        about=f"contract {about}, rule {broken.rule}",
        labels=(label,),
        witness={"rule": broken.rule, "pointer": broken.pointer},
    )


def induced_subjects(
    induction: Induction, about: str, origin: Origin, settings: Settings, answering: Answering
) -> list[Subject]:
    """Each field of an induction: its map proved, or the reason why there is none."""
    if not induction.fields:
        return [
            _without_map(about, about, Induced(kind="impossible", rule="M1", reason=induction.reason), origin)
        ]
    return [
        _field(name, found, about, origin, settings, answering) for name, found in induction.fields.items()
    ]


def _field(
    name: str, found: Induced, about: str, origin: Origin, settings: Settings, answering: Answering
) -> Subject:
    label = f"{about}: {name}"
    if found.kind == "unknown":
        return unknown_subject(label, found.reason, origin)
    if found.kind == "impossible" or found.shard_map is None:
        return _without_map(label, name, found, origin)
    subject = check_subject(found.shard_map, Expectation(), settings, answering)
    note = {
        "same": "cut like its parameter",
        "replicated": "equal on every member",
        "dropped": "cut like its parameter, without the reduced axis",
        "block_aligned": "every block is whole on one member",
        "owner": "whole with the owner",
        "needs_reduction": f"needs its declared reduction: {found.reason} (M2)",
    }[found.kind]
    return Subject(
        name=label,
        kind="induced field",
        verdict=subject.verdict,
        place=Place(origin.file, origin.pointer),
        obligations=subject.obligations,
        answered_by=subject.answered_by,
        contents=subject.contents,
        findings=tuple([finding for finding in subject.findings if finding.severity == "error"]),
        notes=(note,),
        outcome=subject.outcome,
    )


def _without_map(label: str, name: str, found: Induced, origin: Origin) -> Subject:
    if found.kind != "impossible":
        note = f"{found.kind}: whole with whoever holds the parameter; its shape is not known"
        return Subject(
            name=label, kind="induced field", verdict="proved", place=Place(origin.file), notes=(note,)
        )
    return impossible_subject(label, name, found.reason, found.rule, origin)


def impossible_subject(label: str, name: str, reason: str, rule: str, origin: Origin) -> Subject:
    """A field without a map, for the reason behind an M rule."""
    finding = replace(
        coded(code_of_rule(rule), label, reason),
        concise=f"{name}: {reason} ({rule})",
        place=Place(origin.file, origin.pointer),
        about=label,
        witness={"rule": rule, "field": name},
    )
    return Subject(
        name=label,
        kind="induced field",
        verdict="refuted",
        place=Place(origin.file, origin.pointer),
        obligations=Obligations(refuted=1),
        findings=(finding,),
    )


def unknown_subject(label: str, reason: str, origin: Origin) -> Subject:
    """State of which no rule says how it follows."""
    finding = replace(
        coded("SM901", label, reason, verdict="undecided"),
        headline="no rule says how state follows this map",
        concise=f"{label}: {reason}",
        place=Place(origin.file),
        about=label,
        helps=(),
    )
    return Subject(
        name=label,
        kind="induced field",
        verdict="undecided",
        place=Place(origin.file),
        obligations=Obligations(undecided=1),
        findings=(finding,),
    )
