"""Case files of contracts: a contract, perhaps a cut, and the right answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from verifier.contracts.bindings import broken_binding_rules, decode_bindings
from verifier.contracts.broken import Broken
from verifier.contracts.cutting import decode_cut
from verifier.contracts.decoding import decode_contract
from verifier.contracts.document import Contract
from verifier.contracts.induced import Induction, induce
from verifier.contracts.portable import FORMAT, decode_portable
from verifier.contracts.reading import MOST_MEMBERS, UNREAD, Notes, Value, shown
from verifier.contracts.rules import broken_rules
from verifier.contracts.rules.cuts import broken_cut_rules
from verifier.contracts.rules.manifests import broken_manifest_rules
from verifier.contracts.shards import ParameterCut

CaseVerdict = Literal["valid", "invalid", "impossible", "conditional"]
Kind = Literal["case", "contract", "cut", "cuts", "bindings", "portable state"]
ABOUT = frozenset({"id", "title", "why", "source", "expect"})
"""What any document beside a contract may say of itself."""
MEMBERS = ABOUT | {"contract", "map"}
MOST_LEVELS = 100
"""Of lists and objects inside each other."""
HARMLESS = ("N3", "R2", "R4")
"""Rules whose violation leaves the numbers of a cut as they are stated."""


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
        kind: what it is; a case is about a contract, or about a cut.
        contract: the contract, None for a document with a cut only.
        cut: the cut of a parameter, None without one.
        broken: the rules it breaks, by place.
        induction: the induced maps; None without a contract or a cut, or where a rule is broken.
        answer: the right answer, None for a document that states none.
    """

    name: str
    kind: Kind
    contract: Contract | None
    cut: ParameterCut | None
    broken: tuple[Broken, ...]
    induction: Induction | None
    answer: CaseAnswer | None

    @property
    def errors(self) -> tuple[Broken, ...]:
        """What is broken in earnest."""
        return tuple([found for found in self.broken if found.is_error])

    @property
    def remarks(self) -> tuple[str, ...]:
        """The rules that are only remarked upon, sorted."""
        return tuple(sorted({found.rule for found in self.broken if not found.is_error}))

    @property
    def verdict(self) -> CaseVerdict:
        """Invalid where a rule is broken in earnest, else what the induced maps come to."""
        if self.errors:
            return "invalid"
        return "valid" if self.induction is None else self.induction.verdict

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules behind the verdict, sorted."""
        if self.errors:
            return tuple(sorted({found.rule for found in self.errors}))
        return () if self.induction is None else self.induction.rules


def is_contract(document: object) -> bool:
    """Whether a JSON value is a contract, a case about one, or one of the documents beside it."""
    return isinstance(document, dict) and _kind_of(document) is not None


def _kind_of(document: Mapping[object, object]) -> Kind | None:
    """What a document is, by the members that only such a document has."""
    cut, keys = document.get("map"), document.keys()
    if "contract" in keys or (isinstance(cut, dict) and "layout" in cut):
        return "case"
    if {"implementation", "fields"} <= keys:
        return "contract"
    if isinstance(document.get("cuts"), list):
        return "cuts"
    if isinstance(document.get("bindings"), dict):
        return "bindings"
    return "portable state" if document.get("format") == FORMAT else None


def check_document(document: object, name: str) -> Checked:
    """Everything that is wrong with a contract, with the contract and the cut of a case, or beside them.

    Raises:
        NotACaseError: it is neither, it is nested too deep, or what it expects is no answer.
    """
    kind = _kind_of(document) if isinstance(document, dict) else None
    if kind is None or not isinstance(document, dict):
        raise NotACaseError(_what_it_lacks(document))
    if _is_deep(document):
        raise NotACaseError(f"it is nested deeper than {MOST_LEVELS} levels")
    notes = Notes()
    if kind == "case":
        return _check_case(document, name, notes)
    whole, contract = Value(document, "", notes), None
    match kind:
        case "contract":
            contract = decode_contract(whole)
            _note_rules(notes, broken_rules(contract))
            name = _name(contract, name)
        case "cuts":
            name = _check_cuts(document, name, notes)
        case "bindings":
            _only(document, ABOUT | {"bindings"}, notes)
            bindings = decode_bindings(whole.child("bindings", document["bindings"]))
            if not _errors(notes):
                _note(notes, broken_binding_rules(bindings), "/bindings")
            name = _label(document, name)
        case "portable state":
            decode_portable(whole)
    return Checked(
        name=name,
        kind=kind,
        contract=contract,
        cut=None,
        broken=tuple(sorted(notes.broken)),
        induction=None,
        answer=_answer(document["expect"]) if "expect" in document else None,
    )


def _what_it_lacks(document: object) -> str:
    """Why a document is none that is checked here."""
    if isinstance(document, dict) and {"layout", "shards"} <= document.keys():
        return 'it is a cut by itself: a case has it under map, {"map": ...}; induce takes it as it is'
    if isinstance(document, dict) and {"logical_shape", "params"} & document.keys():
        return "it is a shard map; a case has a contract, or the cut of a parameter by members under map"
    return "a contract has an implementation and fields; a case has a contract or a map"


def _check_case(document: Mapping[str, object], name: str, notes: Notes) -> Checked:
    """A contract, a cut, or both; with both the induced maps, where neither breaks a rule."""
    _only(document, MEMBERS, notes)
    contract: Contract | None = None
    cut: ParameterCut | None = None
    if "contract" in document:
        contract = decode_contract(Value(document["contract"], "/contract", notes))
        _note_rules(notes, broken_rules(contract, "/contract"))
    if document.get("map") is not None:
        cut = _check_cut(document["map"], "/map", notes)
    induction = None
    if contract is not None and cut is not None and not _errors(notes):
        induction = induce(contract, cut)
    answer = _answer(document["expect"]) if "expect" in document else None
    return Checked(
        name=_label(document, _name(contract, name)),
        kind="contract" if contract is not None else "cut",
        contract=contract,
        cut=cut,
        broken=tuple(sorted(notes.broken)),
        induction=induction,
        answer=answer,
    )


def _check_cuts(document: Mapping[str, object], name: str, notes: Notes) -> str:
    """The cuts of several parameters, each by itself and all together."""
    values = Value(document["cuts"], "/cuts", notes).items("R27", MOST_MEMBERS)
    cuts = [_check_cut(value.raw, value.pointer, notes) for value in values]
    _note(notes, broken_manifest_rules(cuts), "/cuts")
    _only(document, ABOUT | {"cuts"}, notes)
    return _label(document, name)


def _check_cut(raw: object, pointer: str, notes: Notes) -> ParameterCut:
    """A cut; what its numbers break is asked only where they could be read."""
    own = Notes()
    cut = decode_cut(Value(raw, pointer, own))
    if all(found.rule in HARMLESS for found in own.broken):
        _note(own, broken_cut_rules(cut), pointer)
    _note(notes, own.broken)
    return cut


def _only(document: Mapping[str, object], members: Set[str], notes: Notes) -> None:
    for key in sorted(map(str, document.keys() - members)):
        unknown = Value(document, "", notes).child(key, None)
        unknown.broken("N3", f"{shown(key)} is no member of such a document")


def _label(document: Mapping[str, object], name: str) -> str:
    label = document.get("id")
    return label if isinstance(label, str) and label else name


def _is_deep(document: object) -> bool:
    level: list[object] = [document]
    for _ in range(MOST_LEVELS):
        inside: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inside += value.values()
            elif isinstance(value, list):
                inside += value
        level = inside
    return bool(level)


def agrees(checked: Checked) -> bool:
    """Whether a case gets the answer it states: verdict, rules, and induced maps where they are stated."""
    answer = checked.answer
    if answer is None or checked.verdict != answer.verdict or set(checked.rules) != set(answer.rules):
        return False
    if answer.induced is None or checked.induction is None:
        return True
    return {name: found.kind for name, found in checked.induction.fields.items()} == dict(answer.induced)


def _note_rules(notes: Notes, broken: Iterable[Broken]) -> None:
    """Broken rules of a contract, but for those of values that could not be read: each has one mistake."""
    _note(notes, [found for found in broken if found.pointer not in notes.unread])


def _note(notes: Notes, broken: Iterable[Broken], pointer: str = "") -> None:
    """Notes what rules found, below a place of the document."""
    for found in broken:
        notes.add(replace(found, pointer=pointer + found.pointer))


def _errors(notes: Notes) -> bool:
    return any(found.is_error for found in notes.broken)


def _name(contract: Contract | None, name: str) -> str:
    return name if contract is None or contract.implementation == UNREAD else contract.implementation


def _answer(value: object) -> CaseAnswer:
    match value:
        case {"verdict": str(verdict), "rules": list(rules)} if verdict in get_args(CaseVerdict) and all(
            isinstance(rule, str) for rule in rules
        ):
            induced = value.get("induced") if isinstance(value, dict) else None
            stated = induced if isinstance(induced, dict) else None
            return CaseAnswer(cast(CaseVerdict, verdict), tuple(rules), stated)
    raise NotACaseError("expect has a verdict (valid, invalid, impossible, conditional) and a list of rules")
