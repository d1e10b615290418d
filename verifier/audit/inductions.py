"""The state of an optimizer under the cuts of real maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from verifier.audit.check import Settings, tool_versions
from verifier.audit.contract_findings import induced_subjects, unknown_subject
from verifier.contracts.cutting import decode_cut
from verifier.contracts.document import Contract
from verifier.contracts.induced import Induction, OtherCut, induce_any, induce_other, readings
from verifier.contracts.reading import Notes, Value
from verifier.contracts.rules.cuts import broken_cut_rules
from verifier.contracts.shards import ParameterCut
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

Cut = tuple[ParameterCut, ...] | OtherCut
"""What a map may be read as; the readings hold the same."""
Cuts = Mapping[str, Cut]
"""By parameter."""


class BrokenCutError(Exception):
    """A cut breaks a rule; the text names it."""


def cuts_of_maps(maps: Sequence[ShardMap]) -> Cuts:
    """The cut that each map describes."""
    return {shard_map.name: readings(shard_map) for shard_map in maps}


def cuts_of_document(document: object) -> Cuts | None:
    """The cuts of a document in the form of the cases of contracts: one, alone or as ``map``, or ``cuts``.

    None where it is no such document.

    Raises:
        BrokenCutError: one breaks a rule.
    """
    match document:
        case {"layout": _}:
            found = [_decoded(document, "")]
        case {"map": {"layout": _} as inner}:
            found = [_decoded(inner, "/map")]
        case {"cuts": [*several]}:
            found = [_decoded(inner, f"/cuts/{position}") for position, inner in enumerate(several)]
        case _:
            return None
    return {cut.fqn: (cut,) for cut in found}


def _decoded(document: object, pointer: str) -> ParameterCut:
    notes = Notes()
    cut = decode_cut(Value(document, pointer, notes))
    broken = [*notes.broken, *[replace(one, pointer=pointer + one.pointer) for one in broken_cut_rules(cut)]]
    if broken:
        raise BrokenCutError(f"{broken[0].pointer or '/'}: {broken[0].message} ({broken[0].rule})")
    return cut


def shape_of(cut: Cut) -> tuple[int, ...]:
    """Of the parameter that is cut."""
    return cut.shape if isinstance(cut, OtherCut) else cut[0].shape


def induction_of(contract: Contract, cut: Cut) -> Induction:
    """The state of one parameter."""
    return induce_other(contract, cut) if isinstance(cut, OtherCut) else induce_any(contract, cut)


def induced_report(contract: Contract, cuts: Cuts, path: Path, settings: Settings) -> Report:
    """Each field of each parameter: its map proved, or the reason why it has none."""
    subjects: list[Subject] = []
    for name, cut in cuts.items():
        found = induction_of(contract, cut)
        subjects += induced_subjects(found, name, Origin(str(path)), settings, settings.answering())
    return Report(tool=tool_versions(), subjects=(*subjects, *common_subjects(contract, path)))


def common_subjects(contract: Contract, path: Path) -> Iterator[Subject]:
    """State of the whole optimizer, which belongs to no parameter and so is with everybody."""
    for field in contract.fields:
        if field.scope != "common" or not field.checkpointed:
            continue
        label = f"optimizer: {field.name}"
        if field.distribution == "replicate" or field.geometry.kind in ("scalar", "identity"):
            yield known_subject(label, "of the whole optimizer: equal everywhere", path)
        else:
            reason = "it belongs to no parameter, and nothing says who has it"
            yield unknown_subject(label, reason, Origin(str(path)))


def known_subject(name: str, note: str, path: Path) -> Subject:
    """A field about which nothing is left to prove."""
    return Subject(
        name=name,
        kind="induced field",
        verdict="proved",
        place=Place(str(path)),
        obligations=Obligations(proved=1),
        notes=(note,),
    )
