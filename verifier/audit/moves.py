"""Whether the state of an optimizer can move from one cut of its parameters to another as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from verifier.audit.check import check_map, tool_versions
from verifier.audit.contract_findings import impossible_subject, unknown_subject
from verifier.audit.inductions import Cut, Cuts, common_subjects, induction_of, known_subject, shape_of
from verifier.contracts.document import Contract
from verifier.contracts.induced import Induced, Induction, OtherCut
from verifier.diagnostics.report import Report, Subject
from verifier.diagnostics.wording import shape_text
from verifier.model.origin import Origin


def moved_report(contract: Contract, here: Cuts, there: Cuts, path: Path) -> Report:
    """Each field of each parameter of either side; a single parameter on both sides may have two names."""
    if len(here) == len(there) == 1:
        there = dict.fromkeys(here, next(iter(there.values())))
    subjects: list[Subject] = []
    for name in dict.fromkeys([*here, *there]):
        subjects += _of_parameter(contract, name, here.get(name), there.get(name), path)
    return Report(tool=tool_versions(), subjects=(*subjects, *common_subjects(contract, path)))


def _of_parameter(
    contract: Contract, name: str, here: Cut | None, there: Cut | None, path: Path
) -> Iterator[Subject]:
    reason = _not_comparable(here, there)
    if here is None or there is None or reason:
        yield unknown_subject(name, reason, Origin(str(path)))
        return
    one, two = induction_of(contract, here), induction_of(contract, there)
    if not one.fields or not two.fields:
        yield _stuck(name, "every field", one.reason or two.reason, "M1", path)
    elif here == there:
        for field in one.fields:
            yield known_subject(f"{name}: {field}", "the cuts are the same: it stays where it is", path)
    else:
        yield from _moved(contract, name, one, two, path)


def _not_comparable(here: Cut | None, there: Cut | None) -> str:
    """Why nothing can be said of a parameter, empty where something can."""
    if here is None or there is None:
        return f"the {'target' if there is None else 'first cut'} has no such parameter"
    if shape_of(here) != shape_of(there):
        return f"its shape is {shape_text(shape_of(here))} here and {shape_text(shape_of(there))} there"
    for word, cut in (("first map", here), ("target", there)):
        if isinstance(cut, OtherCut) and check_map(cut.shard_map).subjects[0].verdict != "proved":
            return f"the {word} is not proved; audit it first"
    return ""


def _moved(contract: Contract, name: str, here: Induction, there: Induction, path: Path) -> Iterator[Subject]:
    for field in contract.fields:
        one, two = here.fields.get(field.name), there.fields.get(field.name)
        if one is not None and two is not None:
            yield _field_moved(name, field.name, one, two, path)
        elif (one is not None or two is not None) and field.checkpointed:
            without = "the target has no place for it" if two is None else "the first cut has none of it"
            yield _stuck(name, field.name, f"{without}: no variant for that cut has the field", "M1", path)


def _field_moved(name: str, field: str, one: Induced, two: Induced, path: Path) -> Subject:
    for found, side in ((one, "in the first cut"), (two, "in the target")):
        if found.kind == "impossible":
            return _stuck(name, field, f"{side}, {found.reason}", found.rule, path)
        if found.kind == "unknown":
            return unknown_subject(f"{name}: {field}", f"{side}, {found.reason}", Origin(str(path)))
    how = f"{one.kind.replace('_', ' ')} here, {two.kind.replace('_', ' ')} there"
    return known_subject(f"{name}: {field}", f"moves as it is: {how}", path)


def _stuck(name: str, field: str, reason: str, rule: str, path: Path) -> Subject:
    return impossible_subject(f"{name}: {field}", field, reason, rule, Origin(str(path)))
