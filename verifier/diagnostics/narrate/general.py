"""SM7xx, SM9xx, and every code without numbers of its own. Theory: T1, T6, T14."""

from __future__ import annotations

from verifier.diagnostics.codes import find_code
from verifier.diagnostics.narrate.case import Case, Draft
from verifier.diagnostics.snippets import Member
from verifier.obligations.faults import Fault

ORACLE = "torch oracle"
"""The obligation that a replay in torch answers."""

_UNDECIDED = {
    "SM901": "no engine that was asked can decide",
    "SM902": "the budget did not suffice to decide",
    "SM903": "the solver could not decide",
}
_DEMANDS = {
    "shard": "each shard address of {rank} is written exactly once",
    "holders": "the declared holders hold the same elements as {rank}",
    "parameter": "each element of the parameter is held as declared",
    "reference": "{rank} is cut like the reference",
    "unit": "{rank} writes whole storage units only",
    "storage units": "each storage unit is written by one {holder} only",
    "scale sum": "the scales of each element sum to 1 over its holders",
}
"""What an obligation demands, by the first word of its name."""


def undecided(case: Case) -> Draft:
    """SM901, SM902, SM903."""
    why = _UNDECIDED.get(case.fault.code, "it is not decided")
    reason = case.text("reason")
    demand = _demand(case)
    helps: tuple[str, ...] = ()
    if case.fault.code == "SM902":
        helps = (
            "raise the limits with --budget, or list every address of a small map with --engine enumerate",
        )
    return Draft(
        headline=f"{why} whether {demand} (this is not a pass)",
        concise=f"{why} whether {demand}: {reason}",
        labels=case.culprit_label(None, "this is where it stopped"),
        notes=(f"tried: {reason}",),
        helps=helps,
    )


def _demand(case: Case) -> str:
    """What the obligation of a fault demands, as a clause; its name where it has no words."""
    obligation = case.text("obligation")
    template = _DEMANDS.get(obligation.split("/")[0])
    return (
        f"{obligation} holds"
        if template is None
        else template.format(rank=case.rank_phrase, holder=case.holder)
    )


def is_unlocated(fault: Fault) -> bool:
    """Whether an engine refuted an obligation and knows of no place where it fails."""
    named = fault.values.keys() >= {"obligation", "reason"}
    return fault.side == "map" and fault.address is None and named and not fault.undecided


def unlocated(case: Case) -> Draft:
    """A refutation without a place: nothing is known of addresses, pieces or holders, so nothing is said."""
    demand, reason = _demand(case), case.text("reason")
    who, refutes, how = reason.partition(" refutes it ")
    said = f"{who} refutes that {demand}, {how}" if refutes else f"it is refuted that {demand}: {reason}"
    return Draft(
        headline=said,
        concise=f"{case.rank_phrase}: {said}",
        helps=("other engines look for the place: --engine cancel, or --engine enumerate for a small map",),
    )


def two_ways_disagree(case: Case) -> Draft:
    """TB101."""
    is_oracle = case.fault.values.get("obligation", ORACLE) == ORACLE
    what = "real execution contradicts the verdict" if is_oracle else "two engines disagree"
    reason = f": {case.text('reason')}" if "reason" in case.fault.values else ""
    return Draft(
        headline=what,
        concise=f"{case.rank_phrase}: {what}{reason}",
        helps=("this is a bug of shardproof: please report it together with the map",),
    )


def not_row_major(case: Case) -> Draft:
    """SM701."""
    return _uncanonical(
        case,
        headline="does not use the row-major strides of the declared shapes",
        label="other strides than those of the declared shape",
        note="a transposed shape has as many elements and tiles as well, so nothing else would notice",
    )


def piece_not_a_box(case: Case) -> Draft:
    """SM702."""
    return _uncanonical(
        case,
        headline="is not an axis-aligned box of the declared shapes",
        label="wraps around an axis or skips elements",
        note="planners that know only boxes refuse such a piece, or read it wrongly",
    )


def pieces_out_of_order(case: Case) -> Draft:
    """SM703."""
    return _uncanonical(
        case,
        headline="begins at a lower shard address than the piece listed before it",
        label="begins before the piece listed above it",
        note="constructors list pieces by rising shard address; another order often means exchanged offsets",
    )


def _uncanonical(case: Case, *, headline: str, label: str, note: str) -> Draft:
    """A warning about one piece; the side it is about is underlined where the fault names it."""
    view = case.fault.values.get("view")
    member: Member | None = "source" if view == "source" else "dest" if view == "dest" else None
    return Draft(
        headline=f"{case.culprit} {headline}",
        concise=f"{case.culprit} {headline}",
        labels=case.culprit_label(member, label),
        notes=(note, "this is a warning: it changes no verdict"),
    )


def scaled_piece(case: Case) -> Draft:
    """SM704."""
    scale = case.scales("scale")
    return Draft(
        headline=f"{case.culprit} is scaled",
        concise=f"{case.culprit} has scale {scale}",
        labels=case.culprit_label("scale", f"scale {scale}"),
        notes=("optimizer state does not scale like its parameter: a square needs the square of the scale",),
    )


def by_summary(case: Case) -> Draft:
    """Any other code: its summary, and whatever numbers the fault has."""
    code = find_code(case.fault.code)
    summary = case.fault.code if code is None else code.summary
    values = case.fault.values
    details = "; ".join(f"{key} {case.text(key)}" for key in sorted(values))
    # Beside an obligation the reason is a remark already.
    reasons = (case.text("reason"),) if "reason" in values and "obligation" not in values else ()
    return Draft(
        headline=summary,
        concise=f"{case.culprit}: {summary}" + (f" ({details})" if details else ""),
        labels=case.culprit_label("dest", summary),
        equations=case.equations("parameter" if case.fault.side == "parameter" else "shard"),
        tally=case.tally("place"),
        notes=reasons,
    )


def missing_file(case: Case) -> Draft:
    """CK101."""
    count = case.fault.count
    others = "" if count is None or count.number < 2 else f" ({count.number} are missing in all)"
    said = f"{case.text('file')} is missing: {case.text('descriptor')} is {case.text('stated')}{others}"
    return Draft(
        headline="a file of the checkpoint is not there",
        concise=said,
        claim=said,
        notes=("what that rank holds was not looked at; a converter fails here, or pairs ranks wrongly",),
        helps=("copy the missing file into the folder, or audit the folder it belongs to",),
    )
