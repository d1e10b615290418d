"""SM2xx: addresses of a shard that are written twice or never. Theory: T3, T8, T15."""

from __future__ import annotations

from verifier.diagnostics.finding import Label
from verifier.diagnostics.narrate.case import Case, Draft
from verifier.diagnostics.sides import Sides, shard_first
from verifier.diagnostics.wording import counted, joined, listing, number


def overlapping_write(case: Case) -> Draft:
    """SM201."""
    fault = case.fault
    writers = joined([number(position) for _, position in fault.pieces]) or "?"
    return Draft(
        headline=f"{_how_many(case)} pieces of {case.rank_phrase} write the same shard address",
        concise=f"{case.rank_phrase}: pieces {writers} {_both(case)}write {_address(case)}",
        labels=_writers(case),
        claim=_claim(case),
        equations=case.equations("shard"),
        tally=case.tally("clash"),
        sides=_sides(case),
        notes=case.volume_note,
    )


def _how_many(case: Case) -> str:
    return "two" if len(case.fault.pieces) == 2 else "several"


def _both(case: Case) -> str:
    return "both " if len(case.fault.pieces) == 2 else "all "


def _writers(case: Case) -> tuple[Label, ...]:
    """The first writer in the background, the others as culprits."""
    labels: tuple[Label, ...] = ()
    for place in case.fault.pieces:
        first = place == case.fault.pieces[0]
        text = f"piece {place[1]} writes {'the address first' if first else 'it again'}"
        labels += case.label(place, "dest", text, primary=not first)
    return labels


def self_overlapping_write(case: Case) -> Draft:
    """SM202."""
    return Draft(
        headline=f"{case.culprit} writes the same shard address twice",
        concise=f"{case.culprit} writes {_address(case)} twice",
        labels=case.culprit_label("dest", "two indices of this block reach one address"),
        claim=_claim(case),
        equations=case.equations("shard"),
        tally=case.tally("clash"),
        sides=_sides(case),
        notes=case.volume_note,
    )


def unwritten_address(case: Case) -> Draft:
    """SM203."""
    volumes, shard = case.volume_note, case.shard
    notes = ("whatever the memory held before is loaded as part of the parameter", *volumes)
    if shard is not None and not volumes:
        carried = sum(piece.numel for piece in shard.pieces)
        notes += (f"the pieces carry {counted(carried, 'element')}, the shard has {number(shard.numel)}",)
    helps: tuple[str, ...] = ()
    if case.rank is not None and case.all_listed:
        cells = listing(case.fault.others)
        helps = (f'if these cells are padding, declare it: "holes": {{"{number(case.rank)}": [{cells}]}}',)
    return Draft(
        headline=f"no piece of {case.rank_phrase} writes some addresses of its shard",
        concise=f"{case.rank_phrase}: no piece writes {_address(case)}",
        labels=case.shard_label(f"nothing writes {_bare_address(case)}"),
        claim=_claim(case),
        tally=case.tally("unwritten address"),
        sides=_sides(case),
        notes=notes,
        helps=helps,
    )


def shard_size_mismatch(case: Case) -> Draft:
    """SM204."""
    descriptor, stated, found = case.text("descriptor"), case.listed("stated"), case.listed("found")
    return Draft(
        headline=f"the shard of {case.rank_phrase} is not as large as the map says",
        concise=f"{case.rank_phrase}: {descriptor} states {stated}, the map {found}",
        labels=case.shard_label(f"{descriptor}: {stated}"),
        notes=(
            "a buffer that is too short is read past its end; one of equal size and another shape is misread",
        ),
    )


def _address(case: Case) -> str:
    """``shard address 1 (element [0, 1])``."""
    address = case.fault.address
    if address is None:
        return "a shard address"
    element = case.shard_element(address)
    suffix = f" ({element.removeprefix('shard ')})" if element.startswith("shard element") else ""
    return f"shard address {number(address)}{suffix}"


def _bare_address(case: Case) -> str:
    return "an address" if case.fault.address is None else f"address {number(case.fault.address)}"


def _claim(case: Case) -> str:
    address = case.fault.address
    return "" if address is None else f"shard address {number(address)} is {case.shard_element(address)}"


def _sides(case: Case) -> Sides:
    return shard_first(
        case.shard_map,
        case.rank,
        case.fault.address,
        free=() if case.rank is None else case.expectation.holes.get(case.rank, ()),
        gaps=case.expectation.gaps,
    )
