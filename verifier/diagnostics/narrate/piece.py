"""SM1xx: what is wrong with one piece by itself. Theory: T1, T2, T11, T16."""

from __future__ import annotations

from verifier.diagnostics.finding import Label
from verifier.diagnostics.narrate.case import Case, Draft, addresses_phrase
from verifier.diagnostics.sides import NEITHER, read_past_edge, write_past_edge
from verifier.diagnostics.snippets import Member
from verifier.diagnostics.wording import number
from verifier.obligations.faults import Side

TORCH_REFUSES = (
    "the addresses may well be right, but torch.as_strided takes no negative stride: nothing can run this"
)


def write_out_of_bounds(case: Case) -> Draft:
    """SM101."""
    return _out_of_bounds(case, "shard", "writes", f"the shard of {case.rank_phrase}")


def read_out_of_bounds(case: Case) -> Draft:
    """SM102."""
    return _out_of_bounds(case, "parameter", "reads", "the parameter")


def _out_of_bounds(case: Case, side: Side, verb: str, space: str) -> Draft:
    fault = case.fault
    reached = case.integer("reached") if fault.address is None else fault.address
    size = case.integer("size") or 0
    where = "?" if reached is None else number(reached)
    place = fault.pieces[-1] if fault.pieces else None
    member: Member = "dest" if side == "shard" else "source"
    piece = None if place is None else case.piece(*place)
    equations = tuple(
        [
            equation
            for visit in fault.visits
            if (equation := case.equation(visit, side, so=f"is outside {space}")) is not None
        ]
    )
    sides = NEITHER
    if place is not None and piece is not None and reached is not None:
        past_edge = write_past_edge if side == "shard" else read_past_edge
        sides = past_edge(case.shard_map, place[0], piece, size, reached)
    lowest, highest = case.integer("lowest"), case.integer("highest")
    notes: tuple[str, ...] = ()
    if lowest is not None and highest is not None:
        notes = (f"the piece reaches from address {number(lowest)} to address {number(highest)}",)
    return Draft(
        headline=f"{case.culprit} {verb} outside {space}",
        concise=f"{case.culprit} {verb} {side} address {where}, {space} has {addresses_phrase(size)}",
        labels=() if place is None else case.label(place, member, f"reaches {side} address {where}"),
        claim=f"{space} has {addresses_phrase(size)}",
        equations=equations,
        sides=sides,
        notes=notes,
    )


def negative_stride(case: Case) -> Draft:
    """SM105."""
    axis, stride = case.text("axis"), case.text("stride")
    member: Member = "source" if case.fault.values.get("view") == "source" else "dest"
    side = "parameter" if member == "source" else "shard"
    return Draft(
        headline=f"{case.culprit} runs backwards through the {side}",
        concise=f"{case.culprit} has stride {stride} on axis {axis} of its {member}",
        labels=case.culprit_label(member, f"axis {axis} has stride {stride}"),
        notes=(TORCH_REFUSES,),
        helps=(f"write one piece for each index of axis {axis}: an axis of extent 1 needs no stride",),
    )


def non_invertible_scale(case: Case) -> Draft:
    """SM106."""
    scale = case.scales("scale")
    if scale == "0":
        effect = "every element it carries becomes 0, and no division brings them back"
    else:
        effect = f"no element can be recovered from a product with {scale}"
    return Draft(
        headline=f"{case.culprit} has a scale that cannot be undone",
        concise=f"{case.culprit} has scale {scale}, which has no inverse",
        labels=case.culprit_label("scale", f"scale {scale}"),
        notes=(f"a shard holds scale * parameter: {effect}",),
    )


def no_holder(case: Case) -> Draft:
    """SM107."""
    own = "" if case.rank is None else f", {case.holders((case.rank,))} included"
    return Draft(
        headline=f"{case.culprit} names no {case.holder} that holds it",
        concise=f"{case.culprit} has empty locations",
        labels=case.culprit_label("locations", f"no {case.holder} is listed"),
        helps=(f'"locations" lists every {case.holder} that holds exactly these elements{own}',),
    )


def unknown_rank(case: Case) -> Draft:
    """SM108."""
    unknown = case.holders(case.integers("unknown"))
    known = case.holders(tuple(case.shard_map.ranks))
    return Draft(
        headline=f"{case.culprit} lists a holder the map does not have",
        concise=f"{case.culprit} lists {unknown}, the map has {known}",
        labels=case.culprit_label("locations", f"the map has no {unknown}"),
        notes=(f"the map has {known}",),
    )


def index_overflow(case: Case) -> Draft:
    """SM109."""
    what, value = case.text("what"), case.text("value")
    bits = 32 if case.integer("bits") == 32 else 64  # there are no others
    where = "" if case.rank is None else f"{case.culprit}: "
    shown = f"{what}: {value}"
    return Draft(
        headline=f"{where}{what} past the range of a signed {bits}-bit index",
        concise=f"{where}{shown} is past the range of a signed {bits}-bit index",
        labels=case.culprit_label("dest", shown) or _shape_label(case, shown),
        notes=(
            f"the largest {bits}-bit index is {number(2 ** (bits - 1) - 1)}; "
            "address arithmetic that goes past it wraps around and touches other memory",
        ),
    )


def _shape_label(case: Case, text: str) -> tuple[Label, ...]:
    return case.parameter_label(text) if case.rank is None else case.shard_label(text)
