"""Case files of contracts: a contract, perhaps a cut, and the right answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from verifier.contracts.broken import Broken
from verifier.contracts.cutting import decode_cut
from verifier.contracts.decoding import decode_contract
from verifier.contracts.document import Contract
from verifier.contracts.induced import Induction, induce
from verifier.contracts.reading import Notes, Value
from verifier.contracts.rules import broken_rules
from verifier.contracts.rules.cuts import broken_cut_rules, broken_manifest_rules
from verifier.contracts.shards import ParameterCut

CaseVerdict = Literal["valid", "invalid", "impossible", "conditional"]
MEMBERS = frozenset({"id", "title", "why", "source", "contract", "map", "expect"})


class NotACaseError(Exception):
    """The document is no contract and no case; the text says what it lacks."""


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """The right answer: a verdict, the rules that fire, and the kind of each induced map where stated."""

    verdict: CaseVerdict
    rules: tuple[str, ...]
    induced: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found about a document.

    Attributes:
        name: its id, or what its contract is about.
        contract: the contract, None for a document with a cut only.
        cut: the cut of a parameter, None without one.
        broken: the rules it breaks, by place.
        induction: the induced maps; None without a contract or a cut, or where a rule is broken.
        answer: the right answer, None for a document that states none.
    """

    name: str
    contract: Contract | None
    cut: ParameterCut | None
    broken: tuple[Broken, ...]
    induction: Induction | None
    answer: CaseAnswer | None

    @property
    def verdict(self) -> CaseVerdict:
        """Invalid where a rule is broken, else what the induced maps come to."""
        if self.broken:
            return "invalid"
        return "valid" if self.induction is None else self.induction.verdict

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules behind the verdict, sorted."""
        if self.broken:
            return tuple(sorted({found.rule for found in self.broken}))
        return () if self.induction is None else self.induction.rules


def is_contract(document: object) -> bool:
    """Whether a JSON value is a contract, or a case about one."""
    if not isinstance(document, dict):
        return False
    if "contract" in document or {"implementation", "fields"} <= document.keys():
        return True
    if isinstance(document.get("cuts"), list):
        return True
    cut = document.get("map")
    return isinstance(cut, dict) and "layout" in cut


def check_document(document: object, name: str) -> Checked:
    """Everything that is wrong with a contract, or with the contract and the cut of a case.

    Raises:
        NotACaseError: it is neither, or what it expects is no answer.
    """
    if not isinstance(document, dict) or not is_contract(document):
        raise NotACaseError("a contract has an implementation and fields; a case has a contract or a map")
    notes = Notes()
    if "cuts" in document:
        return _check_cuts(document, name, notes)
    if "contract" not in document and "map" not in document:
        alone = decode_contract(Value(document, "", notes))
        _note(notes, broken_rules(alone))
        return Checked(_name(alone, name), alone, None, tuple(sorted(notes.broken)), None, None)
    unknown = sorted(document.keys() - MEMBERS)
    if unknown:
        notes.note("N3", f"/{unknown[0]}", f"{unknown[0]!r} is no member of a case")
    contract: Contract | None = None
    cut: ParameterCut | None = None
    if "contract" in document:
        contract = decode_contract(Value(document["contract"], "/contract", notes))
        _note(notes, broken_rules(contract, "/contract"))
    if document.get("map") is not None:
        cut = decode_cut(Value(document["map"], "/map", notes))
        _note(notes, [Broken("/map" + b.pointer, b.rule, b.message) for b in broken_cut_rules(cut)])
    induction = None
    if contract is not None and cut is not None and not notes.broken:
        induction = induce(contract, cut)
    answer = _answer(document["expect"]) if "expect" in document else None
    label = document.get("id")
    return Checked(
        label if isinstance(label, str) else _name(contract, name),
        contract,
        cut,
        tuple(sorted(notes.broken)),
        induction,
        answer,
    )


def _check_cuts(document: Mapping[str, object], name: str, notes: Notes) -> Checked:
    """The cuts of several parameters, each by itself and all together."""
    cuts: list[ParameterCut] = []
    for position, value in enumerate(Value(document["cuts"], "/cuts", notes).items("R27")):
        cuts.append(decode_cut(value))
        at = f"/cuts/{position}"
        _note(notes, [Broken(at + b.pointer, b.rule, b.message) for b in broken_cut_rules(cuts[-1])])
    _note(notes, [Broken("/cuts" + b.pointer, b.rule, b.message) for b in broken_manifest_rules(cuts)])
    for key in sorted(document.keys() - {"cuts", "id"}):
        notes.note("N3", f"/{key}", f"{key!r} is no member of a list of cuts")
    label = document.get("id")
    return Checked(
        label if isinstance(label, str) else name, None, None, tuple(sorted(notes.broken)), None, None
    )


def agrees(checked: Checked) -> bool:
    """Whether a case gets the answer it states: verdict, rules, and induced maps where they are stated."""
    answer = checked.answer
    if answer is None or checked.verdict != answer.verdict or set(checked.rules) != set(answer.rules):
        return False
    if answer.induced is None or checked.induction is None:
        return True
    return {name: found.kind for name, found in checked.induction.fields.items()} == dict(answer.induced)


def _note(notes: Notes, broken: Iterable[Broken]) -> None:
    for found in broken:
        notes.note(found.rule, found.pointer, found.message)


def _name(contract: Contract | None, name: str) -> str:
    return name if contract is None or contract.implementation == "?" else contract.implementation


def _answer(value: object) -> CaseAnswer:
    match value:
        case {"verdict": str(verdict), "rules": list(rules)} if verdict in get_args(CaseVerdict) and all(
            isinstance(rule, str) for rule in rules
        ):
            induced = value.get("induced") if isinstance(value, dict) else None
            stated = induced if isinstance(induced, dict) else None
            return CaseAnswer(cast(CaseVerdict, verdict), tuple(rules), stated)
    raise NotACaseError("expect has a verdict (valid, invalid, impossible, conditional) and a list of rules")
