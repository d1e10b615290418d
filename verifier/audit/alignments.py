"""Claims about every size as subjects of a report: are blocks of optimizer state never split?"""

from __future__ import annotations

from dataclasses import replace

from verifier.audit.check import tool_versions
from verifier.diagnostics.coded import coded
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.diagnostics.rule_codes import code_of_rule
from verifier.symbolic.alignment import Aligned, AlignmentClaim, Split, counted, decide_alignment


def alignment_report(claim: AlignmentClaim) -> Report:
    """The claim proved, or refuted by the smallest parameter."""
    name = _words(claim)
    match decide_alignment(claim):
        case Aligned(reason):
            subject = Subject(
                name=name,
                kind="claim",
                verdict="proved",
                obligations=Obligations(proved=1),
                notes=(reason,),
            )
        case Split() as split:
            subject = Subject(
                name=name,
                kind="claim",
                verdict="refuted",
                obligations=Obligations(refuted=1),
                findings=(_split(name, claim, split),),
            )
    return Report(tool=tool_versions(), subjects=(subject,))


def _words(claim: AlignmentClaim) -> str:
    things = "elements" if claim.rule != "rows" else f"rows of {claim.columns or 'any number of'} columns"
    extent = f"n {things}" if claim.multiple == 1 else f"n = {claim.multiple} k {things}"
    worlds = "every number of" if claim.worlds is None else counted(claim.worlds)
    how = "equal parts" if claim.rule == "even" else "parts of ceil(n / ranks)"
    return f"blocks of {claim.block}, {extent} over {worlds} ranks in {how}"


def _split(name: str, claim: AlignmentClaim, split: Split) -> Finding:
    rows = "rows of 1 column" if claim.columns is None else "rows"
    what = rows if claim.rule == "rows" else "elements"
    reason = (
        f"{split.extent} {what} over {split.world} ranks: the cut at element {split.cut} splits block "
        f"{split.block}: {split.cut} = {split.cut % claim.block} mod {claim.block}"
    )
    return replace(
        coded(code_of_rule("M6"), name, reason),
        concise=f"{reason} (M6)",
        about=name,
        notes=("no smaller parameter is wrong",),
        witness={
            "rule": "M6",
            "extent": split.extent,
            "world": split.world,
            "cut": split.cut,
            "block": split.block,
        },
    )
