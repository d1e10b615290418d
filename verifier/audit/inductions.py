"""The state of an optimizer under the cuts of real maps, and whether it can move from one to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from verifier.audit.check import Settings, tool_versions
from verifier.audit.contract_findings import impossible_subject, induced_subjects
from verifier.contracts.cutting import decode_cut
from verifier.contracts.document import Contract
from verifier.contracts.induced import Induced, Induction, induce
from verifier.contracts.induced.cut_of_map import NoCutError, cut_of_map
from verifier.contracts.reading import Notes, Value
from verifier.contracts.rules.cuts import broken_cut_rules
from verifier.contracts.shards import ParameterCut
from verifier.diagnostics.coded import coded
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

Cuts = Mapping[str, ParameterCut | NoCutError]
"""By parameter; an error where the map cuts it in a way that contracts do not know."""


class BrokenCutError(Exception):
    """A cut breaks a rule; the text names it."""


def cuts_of_maps(maps: Sequence[ShardMap]) -> Cuts:
    """The cut that each map describes."""
    cuts: dict[str, ParameterCut | NoCutError] = {}
    for shard_map in maps:
        try:
            cuts[shard_map.name] = cut_of_map(shard_map)
        except NoCutError as error:
            cuts[shard_map.name] = error
    return cuts


def cut_of_document(document: object) -> Cuts:
    """The cut of a document in the form of the cases of contracts.

    Raises:
        BrokenCutError: it breaks a rule.
    """
    notes = Notes()
    cut = decode_cut(Value(document, "", notes))
    broken = [*notes.broken, *broken_cut_rules(cut)]
    if broken:
        raise BrokenCutError(f"{broken[0].pointer or '/'}: {broken[0].message} ({broken[0].rule})")
    return {cut.fqn: cut}


def induced_report(contract: Contract, cuts: Cuts, path: Path, settings: Settings) -> Report:
    """Each field of each parameter: its map proved, or the reason why it has none."""
    subjects: list[Subject] = []
    for name, cut in cuts.items():
        if isinstance(cut, NoCutError):
            subjects.append(_undecided(name, str(cut), path))
        else:
            subjects += induced_subjects(
                induce(contract, cut), name, Origin(str(path)), settings, settings.answering()
            )
    return Report(tool=tool_versions(), subjects=tuple(subjects))


def moved_report(contract: Contract, here: Cuts, there: Cuts, path: Path) -> Report:
    """Each field of each parameter: can it move from one cut to the other without being computed anew?"""
    subjects: list[Subject] = []
    for name, cut in here.items():
        target = there.get(name) or (next(iter(there.values())) if len(here) == len(there) == 1 else None)
        if target is None:
            subjects.append(_undecided(name, "the target has no such parameter", path))
        elif isinstance(cut, NoCutError) or isinstance(target, NoCutError):
            subjects.append(_undecided(name, str(cut if isinstance(cut, NoCutError) else target), path))
        elif cut.shape != target.shape:
            subjects.append(_undecided(name, f"shapes {cut.shape} and {target.shape} differ", path))
        else:
            subjects += _moved(contract, name, induce(contract, cut), induce(contract, target), path)
    return Report(tool=tool_versions(), subjects=tuple(subjects))


def _moved(contract: Contract, name: str, here: Induction, there: Induction, path: Path) -> list[Subject]:
    if not here.fields or not there.fields:
        return [_stuck(name, "every field", here.reason or there.reason, "M1", path)]
    subjects: list[Subject] = []
    for field in contract.fields:
        if field.name not in here.fields or field.name not in there.fields:
            continue
        one, two = here.fields[field.name], there.fields[field.name]
        bad = next((found for found in (one, two) if found.kind == "impossible"), None)
        if bad is not None:
            side = "in the first cut" if bad is one else "in the target"
            subjects.append(_stuck(name, field.name, f"{side}, {bad.reason}", bad.rule, path))
        else:
            subjects.append(_free(name, field.name, one, two, path))
    return subjects


def _free(name: str, field: str, one: Induced, two: Induced, path: Path) -> Subject:
    note = f"moves as it is: {one.kind.replace('_', ' ')} here, {two.kind.replace('_', ' ')} there"
    return Subject(
        name=f"{name}: {field}",
        kind="induced field",
        verdict="proved",
        place=Place(str(path)),
        obligations=Obligations(proved=1),
        notes=(note,),
    )


def _stuck(name: str, field: str, reason: str, rule: str, path: Path) -> Subject:
    return impossible_subject(f"{name}: {field}", field, reason, rule, Origin(str(path)))


def _undecided(name: str, reason: str, path: Path) -> Subject:
    finding = replace(
        coded("SM901", name, reason, verdict="undecided"),
        headline="no rule says how state follows this map",
        concise=f"{name}: {reason}",
        place=Place(str(path)),
    )
    return Subject(
        name=name,
        kind="induced field",
        verdict="undecided",
        place=Place(str(path)),
        obligations=Obligations(undecided=1),
        findings=(finding,),
    )
