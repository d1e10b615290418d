"""SM5xx: a map that is sound but not what its reader expects. Theory: T5, T9, T16."""

from __future__ import annotations

from dataclasses import replace

from verifier.diagnostics.holders import RANK
from verifier.diagnostics.narrate.case import Case, Draft
from verifier.diagnostics.pictures import pointed
from verifier.diagnostics.sides import NEITHER, Sides, parameter_first, shard_first
from verifier.diagnostics.wording import number, plural, shown_name
from verifier.model.shard_map import ShardMap


def not_the_reference(case: Case) -> Draft:
    """SM501."""
    here, there = case.scales("here"), case.scales("there")
    source, dest = case.integer("source"), case.integer("dest")
    inside, other = _sides(case)
    if source is None or dest is None:
        reference = case.expectation.reference
        here = _in_words(here, case.shard_map)
        there = _in_words(there, case.shard_map if reference is None else reference)
        return Draft(
            headline=f"{case.rank_phrase} has another frame than {other}",
            concise=f"{case.rank_phrase} has {here}, {other} has {there}",
            labels=case.shard_label(f"{other} has {there}")
            if case.rank is not None
            else case.parameter_label(f"{other} has {there}"),
            claim=f"{inside} {here}, in {other} {there}",
        )
    difference = f"{inside} {here}, in {other} {there}"
    place = f"shard address {number(dest)}"
    element = case.shard_element(dest)
    labels = case.culprit_label("source", difference)
    claims = (
        f"{place} is {element}" if element != place else "",
        "" if labels else difference,
    )
    return Draft(
        headline=f"{case.rank_phrase} is not cut like {other}",
        concise=f"{case.rank_phrase}, {place}: {difference}",
        labels=labels,
        claim=": ".join(filter(None, claims)),
        equations=case.equations("shard"),
        tally=case.tally("differing place"),
        sides=_pointed(shard_first(case.shard_map, case.rank, dest), f"{other} has another element here"),
        notes=(
            f"the least element that is placed differently is {case.parameter_element(source)}",
            "a map can be a perfect tiling and the wrong function: only a comparison shows it",
        ),
    )


def _pointed(sides: Sides, meaning: str) -> Sides:
    """The first picture with the differing cell marked; others than it may differ as well."""
    return replace(sides, shown=pointed(sides.shown, meaning))


def _sides(case: Case) -> tuple[str, str]:
    """What the map and the other one are called: here and the reference, unless the fault names them."""
    match case.texts("between"):
        case (here, there):
            return f"in {here}", there
        case _:
            return "here", "the reference"


def _in_words(frame: str, shard_map: ShardMap) -> str:
    """``ranks [0, 1]``; of stored blocks, which no document calls ranks, ``chunks [0, 1]``."""
    if shard_map.holder == RANK:
        return frame
    what, blank, rest = frame.partition(" ")
    words = {"ranks": plural(shard_map.holder), "logical_shape": "shape", "shard_shape": "shape"}
    return f"{words.get(what, what)}{blank}{rest}"


def different_parameters(case: Case) -> Draft:
    """SM502."""
    reason = case.text("reason")
    return Draft(
        headline=reason,
        concise=f"{shown_name(case.shard_map.name)}: {reason}",
    )


def scale_rule(case: Case) -> Draft:
    """SM505."""
    scale, expected = case.scales("scale"), case.scales("expected")
    return Draft(
        headline=f"the scale of {case.culprit} breaks the stated rule",
        concise=f"{case.culprit}: scale {scale}, expected {expected}",
        labels=case.culprit_label("scale", f"expected {expected}"),
        notes=(
            f"a sum over {plural(case.holder)} counts a value once for each {case.holder} "
            "unless the scales of its holders sum to 1",
        ),
    )


def shared_storage_unit(case: Case) -> Draft:
    """SM506."""
    unit, writers = case.integer("unit"), case.integers("writers")
    size = "a storage unit" if unit is None else f"a storage unit of {number(unit)} elements"
    who = case.holders(writers) if writers else f"two {plural(case.holder)}"
    at, claim, sides = "", "", NEITHER
    address = case.fault.address
    if address is not None:
        at = f" at {case.parameter_element(address)}"
        claim = f"parameter address {number(address)} is {case.parameter_element(address)}"
        if unit:
            low = address // unit * unit
            claim += f", in the unit of addresses {number(low)} to {number(low + unit - 1)}"
        sides = parameter_first(case.shard_map, address, rank=case.rank)
    return Draft(
        headline=f"{who} write into one storage unit",
        concise=f"{who} write into {size}{at}",
        labels=case.culprit_label("source", "begins or ends inside a unit, or has several writers"),
        claim=claim,
        equations=case.equations("parameter"),
        tally=case.tally("boundary"),
        sides=sides,
        notes=(
            f"a unit is written as a whole: the {case.holder} that comes last wipes out what the other wrote "
            "into it",
        ),
    )


def descriptor_disagrees(case: Case) -> Draft:
    """SM507."""
    descriptor, stated, found = case.text("descriptor"), case.listed("stated"), case.listed("found")
    at = "" if "pointer" not in case.fault.values else f" at {case.text('pointer')}"
    return Draft(
        headline="two descriptions of the same layout disagree",
        concise=f"{descriptor} states {stated}{at}, the map {found}",
        labels=case.culprit_label("source", f"elsewhere: {stated}")
        or case.parameter_label(f"{descriptor}: {stated}{at}; here: {found}"),
        notes=("whichever program trusts the wrong description loads the parameter without an error",),
    )
