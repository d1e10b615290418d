"""SM3xx and SM4xx: elements without a holder, held twice, or held by other ranks than declared.

Theory: T3, T11, T16.
"""

from __future__ import annotations

from verifier.diagnostics.finding import Equation, Label
from verifier.diagnostics.holders import RANK, together
from verifier.diagnostics.narrate.case import Case, Draft
from verifier.diagnostics.sides import Sides, copies_first, parameter_first
from verifier.diagnostics.wording import joined, listing, number, plural, scale_text

REPLICAS_DRIFT = "a replica nobody knows of is neither compared nor updated, and drifts unseen"


def uncovered_element(case: Case) -> Draft:
    """SM301."""
    helps: tuple[str, ...] = ()
    if case.all_listed and case.holder == RANK:
        gaps = listing(case.fault.others)
        helps = (f'if nobody needs these elements, declare it: "gaps": [{gaps}]',)
    return Draft(
        headline=f"no {case.holder} holds some elements of the parameter",
        concise=f"no {case.holder} holds {_element(case)}",
        labels=case.parameter_label(f"nobody holds {_element(case)}"),
        claim=_claim(case),
        tally=case.tally("missing element"),
        sides=_sides(case),
        notes=("rebuilding the parameter leaves these elements uninitialised",),
        helps=helps,
    )


def repeated_element(case: Case) -> Draft:
    """SM302."""
    holder = case.integer("holder")
    rank = case.rank if holder is None else holder
    who = f"a {case.holder}" if rank is None else case.holders((rank,))
    return Draft(
        headline=f"{who} holds an element of the parameter twice",
        concise=f"{who} holds {_element(case)} twice",
        labels=_readers(case),
        claim=_claim(case),
        equations=case.equations("parameter"),
        tally=case.tally("repeated element"),
        sides=copies_first(case.shard_map, rank, case.fault.address),
        notes=(
            "the two copies are updated apart, and only one of them survives when the parameter is rebuilt",
        ),
    )


def conflicting_scale(case: Case) -> Draft:
    """SM303."""
    scales = case.scales("scales")
    return Draft(
        headline="holders of one element scale it differently",
        concise=f"holders of {_element(case)} scale it by {scales}",
        labels=_scales(case),
        claim=_claim(case),
        equations=_with_scales(case),
        tally=case.tally("element"),
        sides=_sides(case),
        notes=("locations promise equal data on every holder; under two scales no two copies are equal",),
    )


def undeclared_replica(case: Case) -> Draft:
    """SM401."""
    declared, holders = case.integers("declared"), case.integers("holders")
    extra = tuple([rank for rank in holders if rank not in declared])
    return Draft(
        headline=f"{_who(case, extra or holders, 'holds', 'hold')} elements without being listed as a holder",
        concise=f"{_element(case)} is held by {case.holders(holders)}, declared are {case.holders(declared)}",
        labels=_locations(case),
        claim=_claim(case),
        equations=case.equations("parameter"),
        tally=case.tally("element"),
        sides=_sides(case),
        notes=(REPLICAS_DRIFT,),
    )


def missing_replica(case: Case) -> Draft:
    """SM402."""
    declared, holders = case.integers("declared"), case.integers("holders")
    there = f"held by {case.holders(holders)}"
    absent = tuple([rank for rank in declared if rank not in holders]) or declared
    return Draft(
        headline=f"{_who(case, absent, 'is', 'are')} listed as holding elements that are not there",
        concise=f"{_element(case)} is declared on {case.holders(declared)}, {there}",
        labels=_locations(case),
        claim=_claim(case),
        equations=case.equations("parameter"),
        tally=case.tally("element"),
        sides=_sides(case),
        notes=(
            f"whoever reads the element from that {case.holder} gets memory that was never written with it",
        ),
    )


def mixed_holders(case: Case) -> Draft:
    """SM403."""
    if case.of_blocks:
        return _overlapping_blocks(case)
    declared, holders = case.integers("declared"), case.integers("holders")
    said = f", declared are {case.holders(declared)}" if declared else ""
    return Draft(
        headline="the pieces that hold one element list different holders",
        concise=f"{_element(case)} is held by {case.holders(holders)}{said}",
        labels=_locations(case),
        claim=_claim(case),
        equations=case.equations("parameter"),
        tally=case.tally("element"),
        sides=_sides(case),
        notes=("at least one of the lists is wrong, so replicas are compared with the wrong partners",),
    )


def _overlapping_blocks(case: Case) -> Draft:
    """Blocks that overlap: nothing was declared, so there is nothing to compare with."""
    holders = case.integers("holders") or tuple([rank for rank, _ in case.fault.pieces])
    return Draft(
        headline=f"{'two' if len(holders) == 2 else 'several'} {plural(case.holder)} hold the same element",
        concise=f"{together(case.shard_map, holders)} hold {_element(case)}",
        labels=_readers(case),
        claim=_claim(case),
        equations=case.equations("parameter"),
        tally=case.tally("shared element"),
        sides=_sides(case),
        notes=("which of them is loaded depends on the program, and nothing says that they are equal",),
    )


def replica_drift(case: Case) -> Draft:
    """SM404."""
    held = case.integers("holders")
    who = case.texts("who") or tuple([case.holders((holder,)) for holder in held])
    says = [f"{pattern} on {name}" for pattern, name in zip(case.texts("patterns"), who, strict=False)]
    all_of_them = joined(who) if case.texts("who") else together(case.shard_map, held)
    return Draft(
        headline=f"{all_of_them} hold different bits",
        concise=f"{_element(case)} is {' and '.join(says)}",
        labels=_readers(case),
        claim=_claim(case),
        equations=case.equations("parameter"),
        tally=case.tally("element"),
        sides=_sides(case),
        notes=("the two should be copies; which of them is loaded depends on the program",),
    )


def _who(case: Case, ranks: tuple[int, ...], one: str, many: str) -> str:
    """The ranks as subject of a verb."""
    return f"{case.holders(ranks)} {many if len(ranks) > 1 else one}"


def _readers(case: Case) -> tuple[Label, ...]:
    """Every piece at fault, all but the last in the background."""
    labels: tuple[Label, ...] = ()
    for place in case.fault.pieces:
        text = f"{case.piece_phrase(place)} holds the element"
        labels += case.label(place, "source", text, primary=place == case.fault.pieces[-1])
    return labels


def _scales(case: Case) -> tuple[Label, ...]:
    labels: tuple[Label, ...] = ()
    for place in case.fault.pieces:
        piece = case.piece(*place)
        if piece is not None:
            text = f"{case.piece_phrase(place)} has scale {scale_text(piece.scale)}"
            labels += case.label(place, "scale", text, primary=place == case.fault.pieces[-1])
    return labels


def _locations(case: Case) -> tuple[Label, ...]:
    labels: tuple[Label, ...] = ()
    for place in case.fault.pieces:
        piece = case.piece(*place)
        if piece is not None:
            text = f"{case.piece_phrase(place)} declares {case.holders(piece.locations)}"
            labels += case.label(place, "locations", text, primary=place == case.fault.pieces[-1])
    return labels


def _element(case: Case) -> str:
    if case.fault.address is None:
        return "an element of the parameter"
    return case.parameter_element(case.fault.address)


def _claim(case: Case) -> str:
    address = case.fault.address
    return "" if address is None else f"parameter address {number(address)} is {_element(case)}"


def _sides(case: Case) -> Sides:
    return parameter_first(case.shard_map, case.fault.address, rank=case.rank, gaps=case.expectation.gaps)


def _with_scales(case: Case) -> tuple[Equation, ...]:
    equations: tuple[Equation, ...] = ()
    for visit in case.fault.visits:
        piece = case.piece(visit.rank, visit.piece)
        if piece is not None:
            found = case.equation(visit, "parameter", so=f"with scale {scale_text(piece.scale)}")
            equations += () if found is None else (found,)
    return equations
