"""The one way from a fault of a map to a finding."""

from __future__ import annotations

from collections.abc import Callable

from verifier.diagnostics.codes import Code, code_of
from verifier.diagnostics.finding import Finding, Json, Label, Place
from verifier.diagnostics.fingerprint import fault_fingerprint
from verifier.diagnostics.holders import shard_phrase
from verifier.diagnostics.narrate import expectations, general, parameter, piece, sets, shard
from verifier.diagnostics.narrate.case import Case, Draft
from verifier.diagnostics.snippets import Locate
from verifier.diagnostics.wording import counted, listing, number, shape_text, shown_name
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault, Value, Visit

_NARRATIONS: dict[str, Callable[[Case], Draft]] = {
    "SM101": piece.write_out_of_bounds,
    "SM102": piece.read_out_of_bounds,
    "SM105": piece.negative_stride,
    "SM106": piece.non_invertible_scale,
    "SM107": piece.no_holder,
    "SM108": piece.unknown_rank,
    "SM109": piece.index_overflow,
    "SM201": shard.overlapping_write,
    "SM202": shard.self_overlapping_write,
    "SM203": shard.unwritten_address,
    "SM204": shard.shard_size_mismatch,
    "SM301": parameter.uncovered_element,
    "SM302": parameter.repeated_element,
    "SM303": parameter.conflicting_scale,
    "SM401": parameter.undeclared_replica,
    "SM402": parameter.missing_replica,
    "SM403": parameter.mixed_holders,
    "SM404": parameter.replica_drift,
    "SM501": expectations.not_the_reference,
    "SM502": expectations.different_parameters,
    "SM505": expectations.scale_rule,
    "SM506": expectations.shared_storage_unit,
    "SM507": expectations.descriptor_disagrees,
    "SM701": general.not_row_major,
    "SM702": general.piece_not_a_box,
    "SM703": general.pieces_out_of_order,
    "SM704": general.scaled_piece,
    "CK101": sets.missing_file,
    "SM901": general.undecided,
    "SM902": general.undecided,
    "SM903": general.undecided,
    "TB101": general.two_ways_disagree,
    **{f"CK1{n:02d}": sets.file_set(f"CK1{n:02d}") for n in range(2, 19)},
    **{f"CK20{n}": sets.file_set(f"CK20{n}") for n in range(1, 7)},
}

_WITHOUT_DEMAND = ("tool bug", "undecided")
"""Families whose codes name an obligation and a reason, but do not say that it fails."""

_CONSEQUENCES = {
    "SM201": "the same cause makes {count} overlap: {others}",
    "SM203": "the same cause leaves {count} unwritten: {others}",
    "SM301": "the same cause leaves {count} of the parameter without a holder: {others}",
    "SM302": "the same cause makes a {holder} hold {count} of the parameter twice: {others}",
}


def narrate(
    shard_map: ShardMap,
    fault: Fault,
    *,
    locate: Locate | None = None,
    expectation: Expectation | None = None,
    notes: tuple[str, ...] = (),
    helps: tuple[str, ...] = (),
) -> Finding:
    """The finding of one fault.

    ``locate`` finds the lines of the document; without it pieces are shown in the affine form. ``notes`` and
    ``helps`` are appended: what the oracle saw, a repair that was verified again. Never fails on a fault that
    points nowhere; it then says less.

    Raises:
        UnknownCodeError: the fault has a code that is not in the table.
    """
    entry = code_of(fault.code)
    case = Case(shard_map=shard_map, fault=fault, locate=locate, expectation=expectation or Expectation())
    draft = _narration(entry, fault)(case)
    undecided = fault.undecided or entry.family == "undecided"
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        verdict="undecided" if undecided else "refuted",
        headline=draft.headline,
        concise=draft.concise,
        place=_place(case, draft.labels),
        about=_about(case),
        labels=draft.labels,
        claim=draft.claim,
        equations=draft.equations,
        tally=draft.tally,
        picture=draft.sides.shown,
        counterpart=draft.sides.beside,
        notes=(*_consequence_notes(case), *draft.notes, *_remarks(case), *notes),
        helps=(*draft.helps, *helps),
        consequences=tuple([consequence.code for consequence in fault.consequences]),
        witness=_witness(case),
        fingerprint=fault_fingerprint(shard_map, fault),
    )


def _narration(entry: Code, fault: Fault) -> Callable[[Case], Draft]:
    if entry.family not in _WITHOUT_DEMAND and general.is_unlocated(fault):
        return general.unlocated
    return _NARRATIONS.get(entry.code, general.by_summary)


def _place(case: Case, labels: tuple[Label, ...]) -> Place | None:
    """The place of the culprit; that of the map where no line shows it."""
    for label in reversed(labels):
        if label.primary and label.place is not None:
            return label.place
    origin = case.shard_map.origin
    return None if origin is None else Place(origin.file, origin.pointer)


def _about(case: Case) -> str:
    shard_map = case.shard_map
    if _is_file_set(shard_map):
        return f"checkpoint {shown_name(shard_map.name)}"
    about = f"parameter {shown_name(shard_map.name)} {shape_text(shard_map.logical_shape)}"
    if case.shard is not None and case.rank is not None:
        about += f", {shard_phrase(shard_map, case.rank)} {shape_text(case.shard.shard_shape)}"
    return about


def _is_file_set(shard_map: ShardMap) -> bool:
    """Whether the map stands for a whole document: no parameter has the name of the file it is read from."""
    whole = shard_map.origin == Origin(shard_map.name)
    return whole and not shard_map.ranks and shard_map.logical_shape == ()


def _remarks(case: Case) -> tuple[str, ...]:
    """Remarks that any code may need: more pieces with the fault, a refutation without a place."""
    fault = case.fault
    remarks: tuple[str, ...] = ()
    if code_of(fault.code).family == "piece" and fault.count is not None and fault.count.number > 1:
        pieces = counted(fault.count.number, "piece")
        remarks += (f"{pieces} of {case.rank_phrase} have this fault, the first is shown",)
    said = fault.undecided or (general.is_unlocated(fault) and not fault.code.startswith("TB"))
    if "reason" in fault.values and "obligation" in fault.values and not said:
        remarks += (f"{case.text('obligation')}: {case.text('reason')}",)
    return remarks


def _consequence_notes(case: Case) -> tuple[str, ...]:
    own = case.fault.code
    notes = [_consequence_note(case, found) for found in case.fault.consequences if found.code != own]
    again = len(case.fault.consequences) - len(notes)
    if again:
        notes.append(f"the same cause breaks {counted(again, 'more demand')} ({own}, not reported again)")
    return tuple(notes)


def _consequence_note(case: Case, consequence: Fault) -> str:
    entry = code_of(consequence.code)
    tail = f"({entry.code}, not reported again)"
    where = ""
    if consequence.rank is not None and consequence.rank != case.rank:
        where = f" on {case.holders((consequence.rank,))}"
    template = _CONSEQUENCES.get(entry.code)
    addresses = consequence.others or (() if consequence.address is None else (consequence.address,))
    if template is None or not addresses:
        return f"from the same cause{where}: {entry.summary} {tail}"
    count = consequence.count
    total = len(addresses) if count is None else count.number
    least = "" if count is None or count.exact else "at least "
    noun = "element" if consequence.side == "parameter" else "address"
    shown = template.format(
        count=f"{least}{counted(total, noun)}", others=listing(addresses, total), holder=case.holder
    )
    return f"{shown}{where} {tail}"


def _witness(case: Case) -> dict[str, Json]:
    """The counterexample as JSON. Integers beyond 64 bits become text: few readers of JSON hold them."""
    fault = case.fault
    witness: dict[str, Json] = {
        "parameter": case.shard_map.name,
        "side": fault.side,
        "rank": _integer(case.rank),
        "pieces": [{"rank": _integer(rank), "piece": position} for rank, position in fault.pieces],
        "address": _integer(fault.address),
        "visits": [_visit(case, visit) for visit in fault.visits],
        "others": [_integer(address) for address in fault.others],
        "values": {key: _value(value) for key, value in sorted(fault.values.items())},
    }
    if fault.count is not None:
        witness["count"] = {"number": _integer(fault.count.number), "exact": fault.count.exact}
    return witness


def _visit(case: Case, visit: Visit) -> Json:
    document: dict[str, Json] = {
        "rank": _integer(visit.rank),
        "piece": visit.piece,
        "index": [_integer(i) for i in visit.index],
    }
    found = case.piece(visit.rank, visit.piece)
    if found is not None and len(found.shape) == len(visit.index):
        document["shard_address"] = _integer(found.dest.address(visit.index))
        document["parameter_address"] = _integer(found.source.address(visit.index))
    return document


def _value(value: Value) -> Json:
    match value:
        case int():
            return _integer(value)
        case tuple():
            return [_integer(item) if isinstance(item, int) else item for item in value]
        case _:
            return value


def _integer(value: int | None) -> Json:
    return value if value is None or -(2**63) <= value < 2**63 else number(value)
